// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the verifiers of MLIR let pass although no program can mean it; see Parse.h. Does not own what only a target or
// a pass cannot do.

#include "tools/common/Parse.h"

#include "dialect/FunctionAttributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid;

/// How many bytes the values of `type` take in a resource: whole bytes for each element. Nothing where elements are
/// neither numbers nor indices.
static std::optional<uint64_t> getResourceSize(ShapedType type) {
  Type element = type.getElementType();
  if (!type.hasStaticShape() || !element.isIntOrIndexOrFloat())
    return std::nullopt;
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return llvm::divideCeil(bits, 8) * static_cast<uint64_t>(type.getNumElements());
}

static LogicalResult checkResource(Operation *op, DenseResourceElementsAttr resource) {
  StringRef name = resource.getRawHandle().getKey();
  const AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob)
    return op->emitError() << "expected the values of the resource '" << name << "' in the file, but got none";
  std::optional<uint64_t> size = getResourceSize(resource.getType());
  if (!size || blob->getData().size() == *size)
    return success();
  return op->emitError() << "expected " << *size << " bytes in the resource '" << name << "', the values of "
                         << resource.getType() << ", but got " << blob->getData().size();
}

static LogicalResult checkResources(Operation *op) {
  AttrTypeWalker walker;
  walker.addWalk([&](DenseResourceElementsAttr resource) {
    return failed(checkResource(op, resource)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walker.walk<WalkOrder::PreOrder>(op->getAttrDictionary()).wasInterrupted());
}

/// The sizes that the op is given are those of its result.
static LogicalResult checkSizes(tensor::ExpandShapeOp op) {
  ArrayRef<int64_t> given = op.getStaticOutputShape(), shape = op.getResultType().getShape();
  if (given.size() != shape.size())
    return op.emitOpError("expected ") << shape.size() << " sizes in output_shape, but got " << given.size();
  size_t dynamic = llvm::count_if(given, ShapedType::isDynamic);
  if (dynamic != op.getOutputShape().size())
    return op.emitOpError("expected ") << dynamic << " operands for output_shape, but got "
                                       << op.getOutputShape().size();
  for (auto [index, size] : llvm::enumerate(shape)) {
    if (ShapedType::isDynamic(size) || size == given[index])
      continue;
    InFlightDiagnostic message = op.emitOpError("expected size ")
                                 << index << " of output_shape to be " << size << ", that of the result, but got ";
    if (ShapedType::isDynamic(given[index]))
      return message << "an operand";
    return message << given[index];
  }
  return success();
}

/// Names that are alike would be told apart in C by underscores that nobody wrote.
static LogicalResult checkArgumentNames(func::FuncOp function) {
  llvm::StringMap<unsigned> known;
  for (unsigned index = 0; index != function.getNumArguments(); ++index) {
    auto name = function.getArgAttrOfType<StringAttr>(index, kArgumentNameAttribute);
    if (!name || name.empty())
      continue;
    auto [first, isNew] = known.try_emplace(name.getValue(), index);
    if (!isNew)
      return emitError(getArgumentLocation(function, index))
             << "expected arguments with names that differ, but arguments " << first->second << " and " << index
             << " are both called '" << name.getValue() << "'";
  }
  return success();
}

LogicalResult tools::checkModule(ModuleOp module) {
  auto check = [&](Operation *op) -> LogicalResult {
    if (isa<ModuleOp>(op) && op != module)
      return op->emitError("expected functions in the module, but got another module");
    if (auto function = dyn_cast<func::FuncOp>(op); function && failed(checkArgumentNames(function)))
      return failure();
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
      if (failed(checkSizes(expand)))
        return failure();
    return checkResources(op);
  };
  WalkResult result = module.walk<WalkOrder::PreOrder>(
      [&](Operation *op) { return failed(check(op)) ? WalkResult::interrupt() : WalkResult::advance(); });
  return failure(result.wasInterrupted());
}
