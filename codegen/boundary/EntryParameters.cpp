// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/boundary/EntryParameters.h"

using namespace mlir;
using namespace mlir::resid::boundary;

/// The type by which C passes a scalar: 16-bit floats as their bits.
static Type getScalarType(Type type) {
  if (type.isIndex())
    return IntegerType::get(type.getContext(), 64);
  if (type.isF16() || type.isBF16())
    return IntegerType::get(type.getContext(), 16);
  return type;
}

FunctionType mlir::resid::boundary::getEntryType(const KernelSignature &signature, OpBuilder &builder) {
  Type pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  SmallVector<Type> types = {pointerType};
  bool hasStruct = false;
  for (const KernelValue &value : signature.arguments) {
    if (value.isMember() && hasStruct)
      continue;
    hasStruct |= value.isMember();
    types.push_back(value.isArray() ? pointerType : getScalarType(value.type));
    types.append(llvm::count_if(value.shape, [](int64_t code) { return code < 0; }), builder.getI64Type());
    types.append(value.isStrided(), builder.getI64Type());
  }
  for (const KernelValue &value : signature.results) {
    types.push_back(pointerType);
    types.append(value.isStrided(), builder.getI64Type());
  }
  return builder.getFunctionType(types, {builder.getI32Type()});
}

/// Loads the pointers of the struct, each of which stands for one of `code.arguments`.
static void loadMembers(EntryCode &code, Value weights) {
  code.refuseValueIf(code.isNull(weights), packRefusal(RESID_BAD_POINTER, NullWeights),
                     "argument '" + code.signature.weights + "' is NULL, expected a struct " +
                         code.signature.getWeightsType());
  int32_t place = 0;
  for (EntryParameter &argument : code.arguments) {
    if (!argument.type->isMember())
      continue;
    Value address =
        code.create<LLVM::GEPOp>(code.pointerType, code.pointerType, weights, ArrayRef<LLVM::GEPArg>{place++});
    argument.value = code.create<LLVM::LoadOp>(code.pointerType, address);
  }
}

SmallVector<Value> mlir::resid::boundary::collectParameters(EntryCode &code) {
  SmallVector<Value> sizes;
  Value weights;
  auto next = code.entry.getArguments().drop_front().begin();
  for (const KernelValue &value : code.signature.arguments) {
    code.arguments.push_back({Value(), &value});
    if (value.isMember()) {
      if (!weights)
        weights = *next++;
      continue;
    }
    code.arguments.back().value = *next++;
    for (int64_t size : value.shape)
      if (size < 0)
        sizes.push_back(*next++);
    if (value.isStrided())
      code.arguments.back().stride = *next++;
  }
  for (const KernelValue &value : code.signature.results) {
    code.results.push_back({*next++, &value});
    if (value.isStrided())
      code.results.back().stride = *next++;
  }
  if (weights)
    loadMembers(code, weights);
  return sizes;
}
