// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Describe.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::resid;
using boundary::KernelSignature, boundary::KernelValue, boundary::SizeParameter;

static llvm::json::Object describeValue(const KernelValue &value) {
  std::string type;
  llvm::raw_string_ostream stream(type);
  value.type.print(stream);
  return llvm::json::Object{{"name", value.name}, {"type", type}};
}

/// A code of KernelValue::shape.
static llvm::json::Value describeSize(const KernelSignature &signature, int64_t code) {
  if (code >= 0)
    return code;
  if (boundary::SizeExpr derived = signature.getDerivedSize(code))
    return signature.printSize(derived);
  return signature.sizes[size_t(-1 - code)].name;
}

static llvm::json::Object describe(const KernelSignature &signature) {
  llvm::json::Array arguments, results, sizes;
  for (const KernelValue &value : signature.arguments)
    arguments.push_back(describeValue(value));
  for (const KernelValue &value : signature.results) {
    llvm::json::Object result = describeValue(value);
    llvm::json::Array shape;
    for (int64_t code : value.shape)
      shape.push_back(describeSize(signature, code));
    result["sizes"] = std::move(shape);
    results.push_back(std::move(result));
  }
  for (const SizeParameter &size : signature.sizes) {
    llvm::json::Object one{{"name", size.name}, {"argument", size.argument}, {"dimension", size.dimension}};
    if (size.fixed >= 0)
      one["fixed"] = size.fixed;
    else
      one["same_as"] = signature.sizes[size.sameAs].name;
    sizes.push_back(std::move(one));
  }
  return llvm::json::Object{{"symbol", signature.symbol},
                            {"type", signature.typeText},
                            {"arguments", std::move(arguments)},
                            {"results", std::move(results)},
                            {"sizes", std::move(sizes)}};
}

std::string python::describeFunctions(ArrayRef<KernelSignature> signatures) {
  llvm::json::Array functions;
  for (const KernelSignature &signature : signatures)
    functions.push_back(describe(signature));
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(functions));
  return text;
}
