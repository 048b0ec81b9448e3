// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions on tensors to functions with destinations, and static sizes where a dynamic one can be nothing else.

#include "codegen/boundary/ArraySizes.h"
#include "codegen/boundary/DimensionClasses.h"
#include "codegen/boundary/Nibbles.h"
#include "codegen/boundary/Passes.h"
#include "codegen/boundary/Signature.h"
#include "dialect/FunctionAttributes.h"
#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::resid::boundary {
#define GEN_PASS_DEF_PREPAREENTRIES
#include "codegen/boundary/Passes.h.inc"
} // namespace mlir::resid::boundary

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::boundary;
using RefinedTypes = llvm::DenseMap<Value, RankedTensorType>;

/// Whether the operation stays valid when its tensors, and those of its regions, get the sizes of their classes: all
/// that it requires of their sizes is in the classes.
static bool takesRefinedTypes(Operation *op) {
  if (isa<scf::YieldOp>(op))
    return takesRefinedTypes(op->getParentOp());
  if (isa<scf::ForOp, scf::ForallOp, scf::IfOp, tensor::DimOp, tensor::ExtractOp>(op) ||
      OpTrait::hasElementwiseMappableTraits(op))
    return true;
  if (isa_and_nonnull<ResidDialect>(op->getDialect()))
    return op->getNumRegions() == 0;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && llvm::all_of(structured.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation(/*allowZeroInResults=*/true);
         });
}

/// The value's type with the sizes of its classes; null where that is the type it has.
static RankedTensorType getRefinedType(Value value, DimensionClasses &classes) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.hasStaticShape())
    return {};
  SmallVector<int64_t> shape(type.getShape());
  for (auto [dimension, size] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(size))
      size = classes.getStaticSize(value, dimension).value_or(ShapedType::kDynamic);
  return shape == type.getShape() ? RankedTensorType() : type.clone(shape);
}

/// Whether the op's own verifier accepts the refined types: that heads divide, or that keys fit into a cache, no class
/// knows. Where it does not, the op stays open, and refuses each call.
static bool verifiesRefined(Operation *op, const RefinedTypes &refined) {
  if (!isa<EqualSizesOpInterface>(op))
    return true;
  SmallVector<std::pair<Value, Type>> kept;
  auto refine = [&](Value value) {
    if (RankedTensorType type = refined.lookup(value)) {
      kept.push_back({value, value.getType()});
      value.setType(type);
    }
  };
  llvm::for_each(op->getOperands(), refine);
  llvm::for_each(op->getResults(), refine);
  ScopedDiagnosticHandler silent(op->getContext(), [](Diagnostic &) { return success(); });
  bool verifies = succeeded(op->getName().verifyInvariants(op));
  // A value that occurs twice was changed twice, and gets back what it had first.
  for (auto [value, type] : llvm::reverse(kept))
    value.setType(type);
  return verifies;
}

static void castOperands(Operation *op, const RefinedTypes &refined) {
  // The terminator of scf.forall holds nothing but slices, of what the loop shares.
  auto slice = dyn_cast<tensor::ParallelInsertSliceOp>(op);
  OpBuilder builder(slice ? op->getParentOp() : op);
  for (OpOperand &operand : op->getOpOperands())
    if (RankedTensorType type = refined.lookup(operand.get()); type && !(slice && &operand == &slice.getDestMutable()))
      operand.set(tensor::CastOp::create(builder, op->getLoc(), operand.get().getType(), operand.get()));
}

/// Gives tensors in the function's body the static sizes that follow from what its operations require
/// (DimensionClasses), so that a dynamic width beside a parameter of static width is one type everywhere. The
/// function's own type stays: its entry checks that callers keep to these sizes. Of a function with one block, without
/// calls.
static void refineSizes(func::FuncOp function) {
  DimensionClasses classes(function);
  SmallVector<std::pair<Value, Operation *>> values; // and the operation that they, or their blocks, belong to
  RefinedTypes refined;
  SmallVector<Operation *> users;
  auto add = [&](Value value, Operation *owner) {
    if (RankedTensorType type = getRefinedType(value, classes)) {
      refined[value] = type;
      values.push_back({value, owner});
    }
  };
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults())
      add(result, op);
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        add(argument, op);
    if (op != function)
      users.push_back(op);
  });
  llvm::DenseSet<Operation *> open;
  for (Operation *user : users)
    if (!takesRefinedTypes(user) || !verifiesRefined(user, refined))
      open.insert(user);
  // Casts are made while the types still are what these operations want.
  for (Operation *user : users)
    if (open.contains(user))
      castOperands(user, refined);
  for (auto [value, owner] : values) {
    RankedTensorType type = refined.lookup(value);
    if (owner != function && !open.contains(owner)) {
      value.setType(type);
      continue;
    }
    OpBuilder builder(function.getContext());
    builder.setInsertionPointAfterValue(value);
    auto cast = tensor::CastOp::create(builder, value.getLoc(), type, value);
    value.replaceAllUsesExcept(cast, cast);
  }
}

/// The names of a header that are no parameters. Types are among them: C has one name for a type or a function.
static SmallVector<std::string> getHeaderNames(const KernelSignature &signature) {
  SmallVector<std::string> names;
  for (StringRef suffix : {"", "_dl", "_info", "_scratch_bytes"})
    names.push_back(signature.symbol + suffix.str());
  if (signature.isForDevice)
    names.push_back(signature.symbol + kPreloadSuffix.str());
  if (!signature.weights.empty())
    names.append({signature.getWeightsType(), signature.getWeightListName()});
  return names;
}

static FunctionType getImplementationType(MLIRContext *context, const KernelSignature &signature) {
  SmallVector<Type> types = {LLVM::LLVMPointerType::get(context)};
  for (const KernelValue &value : llvm::concat<const KernelValue>(signature.arguments, signature.results))
    types.push_back(value.getBufferType());
  types.push_back(MemRefType::get({}, IntegerType::get(context, 32)));
  return FunctionType::get(context, types, {});
}

/// The results in the order in which they are computed. Bufferization may place a value in the destination of another
/// that is computed from it; so the former must have left for its own destination before the latter arrives.
static SmallVector<unsigned> orderResults(Operation *terminator) {
  SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, terminator->getNumOperands()));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    Operation *first = terminator->getOperand(a).getDefiningOp(), *second = terminator->getOperand(b).getDefiningOp();
    if (first == second)
      return a < b;
    return second && (!first || first->isBeforeInBlock(second));
  });
  return order;
}

namespace {

/// What is written, and where.
struct Write {
  Value source, destination;
};

/// Finds where results are computed. A result that only gives the elements of another tensor a type or shape is written
/// as that tensor, so that it can be computed where it belongs. Rows stay rows: strided buffers keep their last
/// dimension.
class ResultWriter {
public:
  /// `buffers`: of the arguments, where the views of destinations are made; `body` still has the function's arguments.
  ResultWriter(func::FuncOp function, const KernelSignature &signature, OpBuilder &builder, ValueRange buffers)
      : signature(signature), builder(builder), buffers(buffers), classes(function) {
    classes.resolve(llvm::map_to_vector(signature.sizes, [&](const SizeParameter &size) {
      return DimensionClasses::Dimension(function.getArgument(size.argument), size.dimension);
    }));
  }

  Write skipReshapes(Write write);

private:
  /// The sizes of a tensor from those of the arguments; none where they do not follow.
  std::optional<SmallVector<OpFoldResult>> getSizes(Location loc, Value tensor);

  const KernelSignature &signature;
  OpBuilder &builder;
  ValueRange buffers;
  DimensionClasses classes;
};

} // namespace

std::optional<SmallVector<OpFoldResult>> ResultWriter::getSizes(Location loc, Value tensor) {
  SmallVector<OpFoldResult> sizes;
  for (auto [dimension, size] : llvm::enumerate(cast<RankedTensorType>(tensor.getType()).getShape())) {
    sizes.push_back(builder.getIndexAttr(size));
    if (!ShapedType::isDynamic(size))
      continue;
    SizeExpr expression = classes.getSize(tensor, dimension);
    if (!expression)
      return std::nullopt;
    sizes.back() = emitIndex(builder, loc, expression, signature, buffers);
  }
  return sizes;
}

Write ResultWriter::skipReshapes(Write write) {
  auto [source, destination] = write;
  Operation *op = source.getDefiningOp();
  auto type = cast<MemRefType>(destination.getType());
  Location loc = source.getLoc();
  auto keepsRows = [&](auto reshape) {
    auto groups = reshape.getReassociationIndices();
    return type.getLayout().isIdentity() || (!groups.empty() && groups.back().size() == 1);
  };
  if (auto cast = dyn_cast_if_present<tensor::CastOp>(op)) {
    auto original = dyn_cast<RankedTensorType>(cast.getSource().getType());
    if (!original)
      return write;
    auto refined = MemRefType::get(original.getShape(), type.getElementType(), type.getLayout());
    return skipReshapes({cast.getSource(), memref::CastOp::create(builder, loc, refined, destination)});
  }
  if (auto expand = dyn_cast_if_present<tensor::ExpandShapeOp>(op); expand && keepsRows(expand))
    return skipReshapes({expand.getSrc(),
                         memref::CollapseShapeOp::create(builder, loc, destination, expand.getReassociationIndices())});
  if (auto collapse = dyn_cast_if_present<tensor::CollapseShapeOp>(op); collapse && keepsRows(collapse))
    if (std::optional<SmallVector<OpFoldResult>> sizes = getSizes(loc, collapse.getSrc()))
      return skipReshapes(
          {collapse.getSrc(), memref::ExpandShapeOp::create(builder, loc, collapse.getSrcType().getShape(), destination,
                                                            collapse.getReassociationIndices(), *sizes)});
  return write;
}

/// Moves the body of `function` into a new private function after it.
static void rewriteFunction(func::FuncOp function, const KernelSignature &signature) {
  OpBuilder builder(function);
  Location loc = function.getLoc();
  auto implementation = func::FuncOp::create(builder, loc, signature.symbol + kImplementationSuffix.str(),
                                             getImplementationType(function.getContext(), signature));
  implementation.setPrivate();
  implementation->setAttr(kSignatureAttribute, signature.toAttribute(function.getContext()));
  Block *entry = implementation.addEntryBlock();
  for (auto [index, value] : llvm::enumerate(llvm::concat<const KernelValue>(signature.arguments, signature.results)))
    if (value.isStrided())
      implementation.setArgAttr(1 + index, kStridedAttribute, builder.getUnitAttr());
  builder.setInsertionPointToStart(entry);

  Operation *terminator = function.getBody().front().getTerminator();
  ValueRange buffers = entry->getArguments().drop_front();
  SmallVector<Write> writes;
  ResultWriter writer(function, signature, builder, buffers);
  for (auto [source, destination] :
       llvm::zip(terminator->getOperands(), buffers.drop_front(function.getNumArguments())))
    writes.push_back(writer.skipReshapes({source, destination}));
  SmallVector<unsigned> order = orderResults(terminator);

  SmallVector<Value> replacements;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    Value argument = entry->getArgument(1 + index);
    replacements.push_back(isa<TensorType>(type) ? bufferization::ToTensorOp::create(builder, loc, type, argument,
                                                                                     /*restrict=*/true)
                                                 : argument);
  }
  Block *body = &function.getBody().front();
  for (auto [argument, replacement] : llvm::zip_equal(body->getArguments(), replacements))
    argument.replaceAllUsesWith(replacement);
  entry->getOperations().splice(entry->end(), body->getOperations());

  builder.setInsertionPoint(terminator);
  for (unsigned index : order) {
    auto [source, destination] = writes[index];
    if (auto argument = dyn_cast<BlockArgument>(source))
      source = replacements[argument.getArgNumber()];
    bufferization::MaterializeInDestinationOp::create(builder, terminator->getLoc(), /*result=*/Type(), source,
                                                      destination, /*restrict=*/true, /*writable=*/true);
  }
  func::ReturnOp::create(builder, terminator->getLoc());
  terminator->erase();
  function.erase();
}

namespace {
struct PrepareEntries : resid::boundary::impl::PrepareEntriesBase<PrepareEntries> {
  using PrepareEntriesBase::PrepareEntriesBase;

  void runOnOperation() override {
    std::vector<std::pair<func::FuncOp, KernelSignature>> functions;
    llvm::StringSet<> exported;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function.isPublic())
        continue;
      if (failed(verifyInterfaceTypes(function)))
        return signalPassFailure();
      SmallVector<Type> programTypes(function.getArgumentTypes());
      unpackNibbles(function);
      FailureOr<KernelSignature> signature = computeSignature(function, programTypes, prefix, weightsStruct);
      if (failed(signature))
        return signalPassFailure();
      signature->isForDevice = isForDevice;
      for (const std::string &name : getHeaderNames(*signature))
        if (!exported.insert(name).second) {
          function.emitError() << "expected names that differ, but '" << name
                               << "' is exported for another function too";
          return signalPassFailure();
        }
      functions.push_back({function, std::move(*signature)});
    }
    for (auto &[function, signature] : functions) {
      refineSizes(function);
      rewriteFunction(function, signature);
    }
  }
};
} // namespace
