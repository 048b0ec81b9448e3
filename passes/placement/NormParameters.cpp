// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/placement/NormParameters.h"

#include "dialect/FunctionAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::resid;

/// Whether the result is a part of the first operand, or the same elements in another form.
static bool isPartOfOperand(Operation *op) {
  return isa_and_nonnull<tensor::ExtractSliceOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp,
                         arith::ExtFOp, arith::TruncFOp>(op);
}

std::string resid::getParameterName(Value parameter) {
  while (isPartOfOperand(parameter.getDefiningOp()))
    parameter = parameter.getDefiningOp()->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(parameter);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
  if (!function)
    return "";
  unsigned number = argument.getArgNumber();
  if (auto name = function.getArgAttrOfType<StringAttr>(number, kArgumentNameAttribute))
    return name.str();
  return "arg" + std::to_string(number);
}

//===----------------------------------------------------------------------===//
// New parameters
//===----------------------------------------------------------------------===//

/// A new argument changes the signature, and callers do not know of it.
LogicalResult resid::refuseCallers(func::FuncOp function) {
  auto module = function->getParentOfType<ModuleOp>();
  std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(function, module);
  if (!uses || uses->empty())
    return success();
  InFlightDiagnostic error = function.emitError() << "not converted: expected no caller of '" << function.getSymName()
                                                  << "', which gets new arguments, but got one; inline the calls first";
  error.attachNote(uses->begin()->getUser()->getLoc()) << "it is called here";
  return error;
}

/// `name`, or with the first number after it that makes names no argument has: itself, followed by each of `endings`.
static std::string makeUnique(func::FuncOp function, StringRef name, ArrayRef<std::string> endings) {
  llvm::StringSet<> taken;
  for (unsigned i = 0, end = function.getNumArguments(); i < end; ++i)
    if (auto given = function.getArgAttrOfType<StringAttr>(i, kArgumentNameAttribute))
      taken.insert(given);
  auto isTaken = [&](const std::string &candidate) {
    return llvm::any_of(endings, [&](const std::string &ending) { return taken.contains(candidate + ending); });
  };
  std::string unique = name.str();
  for (unsigned number = 2; isTaken(unique); ++number)
    unique = name.str() + "_" + std::to_string(number);
  return unique;
}

Value resid::addArgument(func::FuncOp function, Type type, const Twine &name) {
  Builder builder(function.getContext());
  unsigned number = function.getNumArguments();
  StringAttr unique = builder.getStringAttr(makeUnique(function, name.str(), std::string()));
  DictionaryAttr attributes = builder.getDictionaryAttr(builder.getNamedAttr(kArgumentNameAttribute, unique));
  [[maybe_unused]] LogicalResult added = function.insertArgument(number, type, attributes, function.getLoc());
  assert(succeeded(added) && "a function takes any argument");
  return function.getArgument(number);
}

/// The loop furthest out around `op`, or null.
static Operation *getOutermostLoop(Operation *op) {
  Operation *loop = nullptr;
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    if (isa<LoopLikeOpInterface>(parent))
      loop = parent;
  return loop;
}

/// The ops that lead from a value outside of the loops around `place` to `parameter`, last one first. Reports a
/// parameter that depends on the iteration in another way than as a slice.
static FailureOr<SmallVector<Operation *>> findSlices(Value parameter, Operation *place) {
  SmallVector<Operation *> slices;
  Operation *loop = getOutermostLoop(place);
  auto isInside = [&](Value value) { return loop && loop->isAncestor(value.getParentBlock()->getParentOp()); };
  auto isVisible = [&](Value value) { return value.getParentRegion()->isAncestor(place->getParentRegion()); };
  for (Value value = parameter; isInside(value); value = slices.back()->getOperand(0)) {
    Operation *slice = value.getDefiningOp();
    if (!isPartOfOperand(slice) || !llvm::all_of(slice->getOperands().drop_front(), isVisible))
      return emitError(parameter.getLoc())
             << "not converted: expected the norm's parameters in the loop to be slices of stacked ones, like which "
                "new "
                "ones can be made, but got "
             << (slice ? slice->getName().getStringRef() : "a value that the loop carries");
    slices.push_back(slice);
  }
  return slices;
}

/// Whether every iteration takes the same part of this dimension.
static bool isFixed(tensor::ExtractSliceOp slice, unsigned dimension) {
  return !slice.isDynamicOffset(dimension) && !slice.isDynamicSize(dimension) && !slice.isDynamicStride(dimension);
}

/// What of the slice's source is read in any iteration, as a tensor of its own.
static RankedTensorType getPartOfAllIterations(tensor::ExtractSliceOp slice) {
  SmallVector<int64_t> shape(slice.getSourceType().getShape());
  for (unsigned dimension = 0; dimension < shape.size(); ++dimension)
    if (isFixed(slice, dimension))
      shape[dimension] = slice.getStaticSize(dimension);
  return slice.getSourceType().clone(shape);
}

/// The slice, if it is one, of a source that is that tensor now.
static void readPartOfAllIterations(Operation *op) {
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  if (!slice)
    return;
  SmallVector<int64_t> offsets(slice.getStaticOffsets()), strides(slice.getStaticStrides());
  for (unsigned dimension = 0; dimension < offsets.size(); ++dimension)
    if (isFixed(slice, dimension))
      offsets[dimension] = 0, strides[dimension] = 1;
  slice.setStaticOffsets(offsets);
  slice.setStaticStrides(strides);
}

FailureOr<NormParts> resid::addNormLike(func::FuncOp function, const NormParts &norm, Operation *place,
                                        StringRef name) {
  if (norm.getParameters().empty())
    return norm;
  if (failed(refuseCallers(function)))
    return failure();
  SmallVector<std::string> endings =
      llvm::map_to_vector(normParameters, [](const NormParameter &parameter) { return "_" + parameter.name.str(); });
  std::string unique = makeUnique(function, name, endings);
  NormParts added = norm;
  OpBuilder builder(place);
  for (auto [parameter, ending] : llvm::zip_equal(normParameters, endings)) {
    Value &value = added.*parameter.value;
    if (!value)
      continue;
    FailureOr<SmallVector<Operation *>> slices = findSlices(value, place);
    if (failed(slices))
      return failure();
    Operation *first = slices->empty() ? nullptr : slices->back();
    Type type = first ? first->getOperand(0).getType() : value.getType();
    if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(first))
      type = getPartOfAllIterations(slice);
    value = addArgument(function, type, unique + ending);
    for (Operation *slice : llvm::reverse(*slices)) {
      Operation *copy = builder.clone(*slice);
      copy->setOperand(0, value);
      if (slice == first)
        readPartOfAllIterations(copy);
      value = copy->getResult(0);
    }
  }
  return added;
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

LogicalResult resid::defineParametersBefore(const NormParts &norm, Operation *place, Operation *user) {
  assert(place->getBlock() == user->getBlock() && "definitions move within a block");
  SmallVector<Value> late;
  for (Value parameter : norm.getParameters())
    if (Operation *definition = parameter.getDefiningOp();
        definition && definition->getBlock() == place->getBlock() && !definition->isBeforeInBlock(place))
      late.push_back(parameter);
  IRRewriter rewriter(place->getContext());
  if (late.empty() || succeeded(moveValueDefinitions(rewriter, late, place)))
    return success();
  InFlightDiagnostic error = user->emitError() << "not converted: expected parameters of the norm that can be defined "
                                                  "before the sub-layer that it moves to, but got "
                                               << late.front().getDefiningOp()->getName();
  error.attachNote(place->getLoc()) << "the norm would move here";
  return error;
}
