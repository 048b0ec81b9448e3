// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Union-find over the dimensions of tensors.

#include "codegen/boundary/DimensionClasses.h"

#include "dialect/AddParts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::resid::boundary;

static int64_t rankOf(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor ? tensor.getRank() : -1;
}

DimensionClasses::DimensionClasses(func::FuncOp function) : context(function.getContext()) {
  function.walk([&](Operation *op) {
    current = op;
    visit(op);
  });
}

bool DimensionClasses::areEqual(Value a, int64_t dimensionOfA, Value b, int64_t dimensionOfB) {
  return find(nodeOf({a, dimensionOfA})) == find(nodeOf({b, dimensionOfB}));
}

std::optional<int64_t> DimensionClasses::getStaticSize(Value value, int64_t dimension) {
  int64_t size = sizes[find(nodeOf({value, dimension}))];
  return size < 0 ? std::nullopt : std::optional(size);
}

unsigned DimensionClasses::find(unsigned node) {
  while (parents[node] != node)
    node = parents[node] = parents[parents[node]];
  return node;
}

unsigned DimensionClasses::nodeOf(Dimension dimension) {
  auto [entry, isNew] = nodes.try_emplace(dimension, parents.size());
  if (isNew) {
    auto tensor = cast<RankedTensorType>(dimension.first.getType());
    parents.push_back(entry->second);
    sizes.push_back(tensor.isDynamicDim(dimension.second) ? -1 : tensor.getDimSize(dimension.second));
  }
  return entry->second;
}

/// The dimension whose size the value is, where it is a tensor.dim.
static std::optional<std::pair<Value, int64_t>> getAskedDimension(Value size) {
  auto dim = size.getDefiningOp<tensor::DimOp>();
  std::optional<int64_t> index = dim ? dim.getConstantIndex() : std::nullopt;
  if (!index || *index < 0 || *index >= rankOf(dim.getSource()))
    return std::nullopt;
  return std::make_pair(Value(dim.getSource()), *index);
}

void DimensionClasses::unite(Dimension a, Dimension b) {
  unsigned rootOfA = find(nodeOf(a)), rootOfB = find(nodeOf(b));
  if (rootOfA == rootOfB)
    return;
  parents[rootOfB] = rootOfA;
  setSize(rootOfA, sizes[rootOfB]);
}

void DimensionClasses::setSize(unsigned node, int64_t size) {
  int64_t &known = sizes[find(node)];
  if (known >= 0 && size >= 0 && known != size)
    equalities.push_back({SizeExpr::constant(context, known), SizeExpr::constant(context, size), current});
  known = std::max(known, size);
}

void DimensionClasses::addFact(Dimension dimension, SizeExpr size, bool isImplied) {
  if (size)
    facts.push_back({nodeOf(dimension), size, current, isImplied});
}

void DimensionClasses::uniteShapes(Value a, Value b) {
  if (rankOf(a) == rankOf(b))
    uniteAligned(a, b, 0);
}

void DimensionClasses::uniteAligned(Value value, Value reference, int64_t offset, bool broadcastsOnes) {
  for (int64_t dimension = 0, rank = rankOf(value); dimension < rank; ++dimension)
    if (!broadcastsOnes || cast<RankedTensorType>(value.getType()).getDimSize(dimension) != 1)
      unite({value, dimension}, {reference, dimension + offset});
}

void DimensionClasses::uniteWithSize(Dimension dimension, OpFoldResult size) {
  std::optional<int64_t> constant = getConstantIntValue(size);
  if (constant && *constant >= 0)
    return setSize(nodeOf(dimension), *constant);
  if (std::optional<Dimension> other = constant ? std::nullopt : getAskedDimension(cast<Value>(size)))
    return unite(dimension, *other);
  addFact(dimension, toExpression(size));
}

//===------------------------------------------- what each operation says -----------------------------------------===//

/// The operands of the dialect's ops are aligned with the stream's last axes, statistics with its first: those that are
/// not normalised. The groups of a norm are a dimension of their own.
void DimensionClasses::visitResidOp(Operation *op) {
  Value stream = op->getOperand(0);
  int64_t rank = rankOf(stream);
  AddParts parts;
  if (auto add = dyn_cast<AddOp>(op))
    parts = getAddParts(add);
  else if (auto addNorm = dyn_cast<AddNormOp>(op))
    parts = getAddParts(addNorm);
  auto isFactor = [&](Value operand) {
    return llvm::any_of(addFactors, [&](const AddFactor &factor) { return parts.*factor.value == operand; });
  };
  for (Value operand : op->getOperands().drop_front())
    if (rankOf(operand) >= 0 && rankOf(operand) <= rank)
      uniteAligned(operand, stream, rank - rankOf(operand), /*broadcastsOnes=*/isFactor(operand));
  std::optional<NormParts> norm = getNormParts(op);
  ValueRange statistics = norm ? ValueRange(op->getResults().drop_front()) : ValueRange();
  if (auto addNorm = dyn_cast<AddNormOp>(op)) {
    norm = addNorm.getNormParts();
    statistics = addNorm.getStatistics();
  }
  for (Value result : op->getResults().drop_back(statistics.size()))
    if (rankOf(result) >= 0 && rankOf(result) <= rank)
      uniteAligned(result, stream, 0);
  for (Value statistic : statistics)
    for (int64_t dimension = 0; dimension < rank - norm->rank; ++dimension)
      unite({statistic, dimension}, {stream, dimension});
}

void DimensionClasses::visitDynamicSizes(Value tensor, ValueRange sizes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
    if (!type.isDynamicDim(dimension))
      continue;
    uniteWithSize({tensor, dimension}, sizes.front());
    sizes = sizes.drop_front();
  }
}

/// What enters a loop or a branch, what is carried along and what leaves it have one shape each.
void DimensionClasses::visitLoop(Operation *op) {
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [init, carried, yielded] :
         llvm::zip_equal(loop.getInits(), loop.getBeforeArguments(), loop.getYieldedValues())) {
      uniteShapes(init, carried);
      uniteShapes(yielded, init);
    }
    for (auto [passed, argument, result] :
         llvm::zip_equal(loop.getConditionOp().getArgs(), loop.getAfterArguments(), loop.getResults())) {
      uniteShapes(passed, argument);
      uniteShapes(result, passed);
    }
    return;
  }
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    auto yielded = loop.getYieldedValues();
    auto results = loop.getLoopResults();
    for (auto [index, init] : llvm::enumerate(loop.getInits())) {
      uniteShapes(init, loop.getRegionIterArgs()[index]);
      if (index < yielded.size())
        uniteShapes(yielded[index], init);
      if (results && index < results->size())
        uniteShapes((*results)[index], init);
    }
    return;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op))
    for (Region *region : branch.getRegions())
      if (!region->empty())
        for (auto [result, value] :
             llvm::zip_equal(branch.getResults(), region->front().getTerminator()->getOperands()))
          uniteShapes(result, value);
}

void DimensionClasses::visitReshape(Value expanded, Value collapsed, ArrayRef<SmallVector<int64_t, 2>> groups) {
  auto type = cast<RankedTensorType>(expanded.getType());
  for (auto [index, group] : llvm::enumerate(groups)) {
    SizeExpr product = SizeExpr::constant(context, 1);
    int64_t known = 1;
    SmallVector<int64_t> open;
    for (int64_t dimension : group) {
      product = product * toExpression(Dimension{expanded, dimension});
      if (type.isDynamicDim(dimension))
        open.push_back(dimension);
      else
        known *= type.getDimSize(dimension);
    }
    Dimension whole{collapsed, int64_t(index)};
    addFact(whole, product);
    // One open size follows from the others, should nothing else say it.
    if (open.size() == 1 && known > 1)
      addFact({expanded, open.front()}, floorDivide(toExpression(whole), SizeExpr::constant(context, known)),
              /*isImplied=*/true);
    // Only one dimension of a group differs from 1: it is the collapsed one.
    auto wide = llvm::make_filter_range(group, [&](int64_t dimension) { return type.getDimSize(dimension) != 1; });
    if (llvm::hasSingleElement(wide))
      unite({expanded, *wide.begin()}, {collapsed, int64_t(index)});
  }
}

void DimensionClasses::visit(Operation *op) {
  if (auto sizes = dyn_cast<EqualSizesOpInterface>(op)) {
    sizes.forEachEqualSize([&](Value a, int64_t dimensionOfA, Value b, int64_t dimensionOfB) {
      unite({a, dimensionOfA}, {b, dimensionOfB});
    });
    return;
  }
  if (isa_and_nonnull<ResidDialect>(op->getDialect())) {
    if (op->getNumOperands() > 0 && rankOf(op->getOperand(0)) >= 0)
      visitResidOp(op);
    return;
  }
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    llvm::DenseMap<unsigned, Dimension> loops;
    for (OpOperand &operand : op->getOpOperands()) {
      if (rankOf(operand.get()) < 0)
        continue;
      AffineMap map = structured.getMatchingIndexingMap(&operand);
      for (auto [dimension, expression] : llvm::enumerate(map.getResults()))
        if (auto loop = dyn_cast<AffineDimExpr>(expression)) {
          Dimension current{operand.get(), int64_t(dimension)};
          unite(loops.try_emplace(loop.getPosition(), current).first->second, current);
        }
    }
  }
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    for (OpResult result : op->getResults())
      if (rankOf(result) >= 0)
        uniteShapes(result, destination.getTiedOpOperand(result)->get());
  if (OpTrait::hasElementwiseMappableTraits(op)) {
    Value reference;
    for (Value value : llvm::concat<Value>(llvm::to_vector(op->getOperands()), llvm::to_vector(op->getResults())))
      if (rankOf(value) >= 0)
        uniteShapes(value, reference ? reference : reference = value);
  }
  if (isa<LoopLikeOpInterface, scf::IfOp>(op))
    visitLoop(op);
  if (isa_and_nonnull<tensor::TensorDialect>(op->getDialect()))
    visitShapeOp(op);
  if (Value divisor = getDivisor(op); divisor && isa<func::FuncOp>(op->getParentOp()))
    visitDivision(op, divisor);
}

/// What a size is computed by may go away with the quotient, which some processors trap for all the same.
void DimensionClasses::visitDivision(Operation *op, Value divisor) {
  if (SizeExpr size =
          divisor.getType().isIndex() || divisor.getType().isInteger(64) ? toExpression(divisor) : SizeExpr();
      size && !size.getConstant())
    divisors.push_back({size, op});
}

void DimensionClasses::visitConcat(Operation *op) {
  auto concat = cast<tensor::ConcatOp>(op);
  SizeExpr sum = SizeExpr::constant(context, 0);
  for (Value input : concat.getInputs())
    for (int64_t dimension = 0; dimension < rankOf(input); ++dimension) {
      if (dimension == int64_t(concat.getDim()))
        sum = sum + toExpression(Dimension{input, dimension});
      else
        unite({concat.getResult(), dimension}, {input, dimension});
    }
  addFact({concat.getResult(), int64_t(concat.getDim())}, sum);
}

void DimensionClasses::visitShapeOp(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<tensor::CastOp>([&](auto cast) {
        if (rankOf(cast.getSource()) >= 0 && rankOf(cast.getResult()) >= 0)
          uniteShapes(cast.getSource(), cast.getResult());
      })
      .Case<tensor::EmptyOp>([&](auto empty) { visitDynamicSizes(empty, empty.getDynamicSizes()); })
      .Case<tensor::GenerateOp>([&](auto generate) { visitDynamicSizes(generate, generate.getDynamicExtents()); })
      .Case<tensor::SplatOp>([&](auto splat) { visitDynamicSizes(splat, splat.getDynamicSizes()); })
      .Case<tensor::InsertSliceOp>([&](auto insert) { uniteShapes(insert.getResult(), insert.getDest()); })
      .Case<tensor::ExtractSliceOp>([&](auto extract) {
        llvm::SmallBitVector dropped = extract.getDroppedDims();
        int64_t next = 0;
        for (auto [dimension, size] : llvm::enumerate(extract.getMixedSizes()))
          if (!dropped.test(dimension))
            uniteWithSize({extract.getResult(), next++}, size);
      })
      .Case<tensor::PadOp>([&](auto pad) {
        for (auto [dimension, low, high] : llvm::enumerate(pad.getMixedLowPad(), pad.getMixedHighPad())) {
          SizeExpr before = toExpression(low), after = toExpression(high);
          if (before && after)
            addFact({pad.getResult(), int64_t(dimension)},
                    before + toExpression(Dimension{pad.getSource(), int64_t(dimension)}) + after);
        }
      })
      .Case<tensor::ConcatOp>([&](auto concat) { visitConcat(concat); })
      .Case<tensor::CollapseShapeOp>([&](auto collapse) {
        visitReshape(collapse.getSrc(), collapse.getResult(), collapse.getReassociationIndices());
      })
      .Case<tensor::ExpandShapeOp>([&](auto expand) {
        visitReshape(expand.getResult(), expand.getSrc(), expand.getReassociationIndices());
        for (auto [dimension, size] : llvm::enumerate(expand.getMixedOutputShape()))
          uniteWithSize({expand.getResult(), int64_t(dimension)}, size);
      });
}

//===------------------------------------------- sizes as expressions ---------------------------------------------===//

/// Longer chains of index arithmetic are no size that a call could be held to.
static constexpr unsigned kMaximumDepth = 32;

SizeExpr DimensionClasses::toExpression(Dimension dimension) { return SizeExpr::size(context, nodeOf(dimension)); }

SizeExpr DimensionClasses::toExpression(OpFoldResult size, unsigned depth) {
  if (auto constant = dyn_cast<Attribute>(size))
    return SizeExpr::constant(context, cast<IntegerAttr>(constant).getInt());
  auto value = cast<Value>(size);
  if (std::optional<Dimension> asked = getAskedDimension(value))
    return toExpression(*asked);
  auto known = indexExpressions.find(value);
  if (known != indexExpressions.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  SizeExpr expression;
  if (op && depth < kMaximumDepth) // Where the expression has no value, the call is refused.
    expression = toSizeExpression(op, [&](Value operand) { return toExpression(OpFoldResult(operand), depth + 1); });
  return indexExpressions[value] = expression;
}

SizeExpr DimensionClasses::substitute(SizeExpr overNodes) {
  return overNodes.replaceSizes([&](unsigned node) { return resolved.lookup(find(node)); });
}

void DimensionClasses::resolve(ArrayRef<Dimension> parameters) {
  for (auto [index, parameter] : llvm::enumerate(parameters))
    resolved.try_emplace(find(nodeOf(parameter)), SizeExpr::size(context, index));
  for (auto [node, parent] : llvm::enumerate(parents))
    if (node == parent && sizes[node] >= 0)
      resolved[node] = SizeExpr::constant(context, sizes[node]);
  // A fact may need what another one says, in any order.
  SmallVector<Fact> pending = facts;
  for (bool hasChanged = true; std::exchange(hasChanged, false);)
    llvm::erase_if(pending, [&](const Fact &fact) {
      SizeExpr size = substitute(fact.size);
      if (!size)
        return false;
      auto [known, isNew] = resolved.try_emplace(find(fact.node), size);
      if (!isNew && !fact.isImplied && known->second != size)
        equalities.push_back({known->second, size, fact.op});
      return hasChanged = true;
    });
  for (auto [divisor, op] : divisors)
    if (SizeExpr size = substitute(divisor))
      equalities.push_back({isEqual(size, SizeExpr::constant(context, 0)), SizeExpr::constant(context, 0), op});
}

SizeExpr DimensionClasses::getSize(Value value, int64_t dimension) {
  if (std::optional<int64_t> size = getStaticSize(value, dimension))
    return SizeExpr::constant(context, *size);
  return resolved.lookup(find(nodeOf({value, dimension})));
}
