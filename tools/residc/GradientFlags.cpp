// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/residc/GradientFlags.h"

#include "dialect/Spelling.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::resid;

/// Such as `; the program has 'attend', 'layer'; did you mean 'layer'?`
static std::string describeFunctions(ModuleOp program, StringRef written) {
  SmallVector<StringRef> names;
  for (auto function : program.getOps<func::FuncOp>())
    if (!function.isExternal())
      names.push_back(function.getName());
  std::string text = names.empty() ? "; the program has none" : "; the program has '" + llvm::join(names, "', '") + "'";
  StringRef nearest = findNearest(written, {names, {}, {}});
  return nearest.empty() ? text : text + "; did you mean '" + nearest.str() + "'?";
}

/// The pass refuses other arguments too. There they are mistakes of its caller, and here they are one of the flag.
static std::optional<std::string> findArgumentMistake(func::FuncOp function, ArrayRef<int64_t> wrt) {
  std::string expected = "--wrt: expected arguments of '" + function.getName().str() + "'";
  int64_t count = function.getNumArguments();
  for (int64_t index : wrt) {
    if (index >= count)
      return expected + (count ? ", from 0 to " + std::to_string(count - 1) : ", which has none") + ", but got " +
             std::to_string(index);
    Type type = function.getArgumentTypes()[index];
    if (isa<RankedTensorType>(type) && isa<FloatType>(getElementTypeOrSelf(type)))
      continue;
    std::string text = expected + " that are tensors of floats, but got " + std::to_string(index) + " of type ";
    llvm::raw_string_ostream(text) << type;
    return text;
  }
  return std::nullopt;
}

std::optional<std::string> tools::findGradientMistake(ModuleOp program, const ResidcOptions &options) {
  const GradOptions &gradients = options.gradients;
  if (gradients.function.empty())
    return std::nullopt;
  if (options.emit.source == EmitSource::Drawing)
    return "expected no --grad with --emit=svg, but got '" + gradients.function + "'";
  if (auto function = program.lookupSymbol<func::FuncOp>(gradients.function))
    return findArgumentMistake(function, gradients.wrt);
  return "--grad: expected a function of the program but got '" + gradients.function + "'" +
         describeFunctions(program, gradients.function);
}
