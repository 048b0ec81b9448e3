// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structured linalg ops by their definition: indexing maps, iterators and body. Every named op comes with the three.
// Not: contractions.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "reference/Bounds.h"
#include "reference/Interpreter.h"

namespace mlir::resid::reference {

namespace {

/// Whether an expression is a sum of dimensions times constants, so that offsets can be stepped along.
bool isLinear(AffineExpr expression) {
  bool linear = true;
  expression.walk([&](AffineExpr part) {
    AffineExprKind kind = part.getKind();
    linear &= kind != AffineExprKind::Mod && kind != AffineExprKind::FloorDiv && kind != AffineExprKind::CeilDiv;
  });
  return linear;
}

/// How one operand is walked through.
struct OperandWalk {
  Array array;
  AffineMap map;
  SmallVector<int64_t> strides;
  /// The offset's step per loop, and the offset at the loops' origin. Empty steps: the map is applied at each point.
  SmallVector<int64_t> steps;
  int64_t origin = 0, offset = 0;

  int64_t offsetAt(ArrayRef<int64_t> point) const {
    int64_t result = 0;
    for (auto [index, stride] : llvm::zip_equal(map.compose(point), strides))
      result += index * stride;
    return result;
  }
};

/// Maps that are no plain dimension (a convolution's d0 + d1) must stay inside of their operand.
LogicalResult checkInside(linalg::LinalgOp op, ArrayRef<OperandWalk> walks, ArrayRef<int64_t> sizes) {
  if (llvm::is_contained(sizes, 0))
    return success();
  SmallVector<int64_t> last = llvm::map_to_vector(sizes, [](int64_t size) { return size - 1; });
  for (const OperandWalk &walk : walks)
    for (auto [index, size] : llvm::zip_equal(walk.map.compose(last), walk.array.getShape()))
      if (index < 0 || index >= size)
        return op->emitOpError() << "expected indices of an operand below " << size << " but got " << index;
  return success();
}

void prepare(OperandWalk &walk, int64_t loops) {
  walk.strides = walk.array.getStrides();
  SmallVector<int64_t> point(loops, 0);
  walk.origin = walk.offset = walk.offsetAt(point);
  if (!llvm::all_of(walk.map.getResults(), isLinear))
    return;
  for (int64_t loop = 0; loop != loops; ++loop) {
    point[loop] = 1;
    walk.steps.push_back(walk.offsetAt(point) - walk.origin);
    point[loop] = 0;
  }
}

/// Steps the innermost loop, and those around it as they run over.
void advance(MutableArrayRef<OperandWalk> walks, ArrayRef<int64_t> sizes, MutableArrayRef<int64_t> point) {
  for (int64_t d = static_cast<int64_t>(point.size()) - 1; d >= 0; --d) {
    bool over = ++point[d] == sizes[d];
    for (OperandWalk &walk : walks)
      if (!walk.steps.empty())
        walk.offset += over ? -walk.steps[d] * (sizes[d] - 1) : walk.steps[d];
    if (!over)
      break;
    point[d] = 0;
  }
  for (OperandWalk &walk : walks)
    if (walk.steps.empty() && !point.empty())
      walk.offset = walk.offsetAt(point);
}

/// Where operands' elements go to and yielded values come from.
struct Port {
  size_t walk;
  unsigned reg;
};

/// Runs the program at each point, and `consume` after it.
void runLoops(const ScalarProgram &program, Machine &machine, MutableArrayRef<OperandWalk> walks,
              ArrayRef<int64_t> sizes, ArrayRef<Port> loads, llvm::function_ref<void()> consume) {
  SmallVector<int64_t> point(sizes.size(), 0);
  machine.loopIndices = point;
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  for (int64_t i = 0; i != count; ++i) {
    for (Port port : loads) {
      const OperandWalk &walk = walks[port.walk];
      if (walk.array.isFloat())
        machine.registers[port.reg].number = walk.array.floats()[walk.offset];
      else
        machine.registers[port.reg].integer = walk.array.integers()[walk.offset];
    }
    program.run(machine);
    consume();
    advance(walks, sizes, point);
  }
}

void store(Port port, const Machine &machine, MutableArrayRef<OperandWalk> walks) {
  OperandWalk &walk = walks[port.walk];
  if (walk.array.isFloat())
    walk.array.mutableFloats()[walk.offset] = machine.registers[port.reg].number;
  else
    walk.array.mutableIntegers()[walk.offset] = machine.registers[port.reg].integer;
}

/// Whether the loops that are no dimension of the result come first in what an operand's map gives, and the others all,
/// in the result's order, or not at all.
bool readsResultLast(AffineMap map, AffineMap result) {
  size_t next = 0;
  for (AffineExpr expression : map.getResults()) {
    auto found = llvm::find(result.getResults(), expression);
    if (found == result.getResults().end() ? next != 0 : size_t(found - result.getResults().begin()) != next++)
      return false;
    if (!isa<AffineDimExpr>(expression) && expression != getAffineConstantExpr(0, map.getContext()))
      return false;
  }
  return next == 0 || next == result.getNumResults();
}

/// The terms that a float sum over leading dimensions adds to each of its results; none where the op is another one.
SmallVector<Value> findTerms(linalg::LinalgOp op) {
  AffineMap result = op.getIndexingMapsArray().back();
  if (op.getNumReductionLoops() == 0 || op.getNumParallelLoops() == 0 || !result.isProjectedPermutation() ||
      result.getNumResults() != op.getNumParallelLoops())
    return {};
  for (auto [operand, map] : llvm::zip_equal(op->getOpOperands(), op.getIndexingMapsArray()))
    if (op.isDpsInit(&operand) ? map != result : !readsResultLast(map, result))
      return {};
  SmallVector<Value> terms;
  for (auto [yielded, old] : llvm::zip_equal(op.getBlock()->getTerminator()->getOperands(), op.getRegionOutputArgs())) {
    auto sum = yielded.getDefiningOp<arith::AddFOp>();
    if (!sum || !(old.getType().isF32() || old.getType().isF64()) || !old.hasOneUse() || !sum->hasOneUse() ||
        !llvm::is_contained(sum->getOperands(), old))
      return {};
    terms.push_back(sum.getLhs() == old ? sum.getRhs() : sum.getLhs());
  }
  return terms;
}

/// The sums of one result, and of its terms' magnitudes.
struct ColumnSums {
  unsigned term;
  std::vector<CompensatedSum> sums;
  std::vector<double> magnitudes;
};

} // namespace

FailureOr<SmallVector<int64_t>> Interpreter::getLoopSizes(linalg::LinalgOp op) const {
  SmallVector<int64_t> sizes(op.getNumLoops(), -1);
  for (auto [operand, map] : llvm::zip_equal(op->getOperands(), op.getIndexingMapsArray())) {
    for (auto [expression, found] : llvm::zip_equal(map.getResults(), get(operand).getShape())) {
      auto dim = dyn_cast<AffineDimExpr>(expression);
      if (!dim)
        continue;
      int64_t &size = sizes[dim.getPosition()];
      if (size != -1 && size != found)
        return op->emitOpError() << "expected operands to agree on the size of loop " << dim.getPosition()
                                 << " but got " << size << " and " << found;
      size = found;
    }
  }
  assert(!llvm::is_contained(sizes, -1) && "linalg verifies that the maps of an op say the sizes of its loops");
  return sizes;
}

/// A result of a sum down the rows: rounded once.
void Interpreter::finishColumnSum(Array &array, ArrayRef<CompensatedSum> sums, ArrayRef<double> magnitudes,
                                  bool isExact) {
  Accuracy accuracy{Accuracy::Bounded, {}};
  FloatKind kind = array.floatKind();
  for (auto [value, sum, magnitude] : llvm::zip_equal(array.mutableFloats(), sums, magnitudes)) {
    CompensatedSum total = sum;
    total.add(value);
    accuracy.bounds.push_back(bounds::columnSum(kind, magnitude + std::fabs(value)));
    value = round(kind, total.value());
  }
  bool isBounded = isExact && options.trackAccuracy && isExactMode();
  array.setAccuracy(isBounded ? std::make_shared<const Accuracy>(std::move(accuracy)) : getToleranceAccuracy());
}

Interpreter::Results Interpreter::evaluateLinalg(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return LogicalResult(unsupported(op));
  if (std::optional<Contraction> contraction = matchContraction(op))
    return evaluateContraction(*contraction);
  FailureOr<ScalarProgram> program = compileBody(*op.getBlock());
  if (failed(program))
    return failure();
  std::vector<OperandWalk> walks;
  SmallVector<Port> loads, stores;
  for (auto [operand, map] : llvm::zip_equal(op->getOpOperands(), op.getIndexingMapsArray())) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument && !argument.use_empty())
      loads.push_back({walks.size(), argument.getArgNumber()});
    walks.push_back({get(operand.get()), map, {}, {}, 0, 0});
    prepare(walks.back(), op.getNumLoops());
  }
  size_t firstResult = op.getNumDpsInputs();
  for (auto [i, reg] : llvm::enumerate(program->yielded()))
    stores.push_back({firstResult + i, reg});
  FailureOr<SmallVector<int64_t>> sizes = getLoopSizes(op);
  if (failed(sizes) || failed(checkInside(op, walks, *sizes)))
    return failure();
  Machine machine = program->start();
  SmallVector<ColumnSums> sums;
  for (auto [i, term] : llvm::enumerate(findTerms(op))) {
    size_t size = walks[firstResult + i].array.size();
    sums.push_back({program->registerOf(term), std::vector<CompensatedSum>(size), std::vector<double>(size)});
  }
  runLoops(*program, machine, walks, *sizes, loads, [&] {
    for (auto [i, port] : llvm::enumerate(stores)) {
      if (sums.empty()) {
        store(port, machine, walks);
        continue;
      }
      double term = machine.registers[sums[i].term].number;
      sums[i].sums[walks[port.walk].offset].add(term);
      sums[i].magnitudes[walks[port.walk].offset] += std::fabs(term);
    }
  });
  if (machine.fault)
    return op->emitOpError() << "meets " << machine.fault;
  SmallVector<Array> results;
  if (!sums.empty()) {
    bool hasRows = !llvm::is_contained(*sizes, 0);
    for (auto [i, term] : llvm::enumerate(findTerms(op))) {
      Array &array = results.emplace_back(walks[firstResult + i].array);
      if (hasRows)
        finishColumnSum(array, sums[i].sums, sums[i].magnitudes,
                        !program->isTainted() && program->unitsOf(term) == 0.0);
    }
    return results;
  }
  for (auto [walk, units] :
       llvm::zip_equal(MutableArrayRef<OperandWalk>(walks).drop_front(firstResult), program->yieldedUnits())) {
    // The order in which a reduction adds is nobody's promise outside of the norms.
    bool isKnown = units && !program->isTainted() && op.getNumReductionLoops() == 0;
    bool isBounded = options.trackAccuracy && isExactMode() && walk.array.isFloat();
    walk.array.setAccuracy(isKnown && *units == 0.0 ? nullptr
                           : isKnown && isBounded   ? getAccuracyInUnits(walk.array, *units)
                                                    : getToleranceAccuracy());
    results.push_back(walk.array);
  }
  return results;
}

Interpreter::Results Interpreter::evaluate(linalg::SoftmaxOp op) {
  const Array &input = get(op.getInput());
  Array result = Array::zeros(op.getOutput().getType(), input.getShape());
  int64_t axis = op.getDimension(), length = input.getShape()[axis], stride = input.getStrides()[axis];
  FloatKind kind = input.floatKind();
  double *out = result.mutableFloats().data();
  for (int64_t i = 0, e = input.size(); i != e; ++i) {
    if ((i / stride) % length != 0)
      continue;
    double largest = input.floats()[i], sum = 0.0;
    for (int64_t k = 1; k != length; ++k)
      largest = std::max(largest, input.floats()[i + k * stride]);
    for (int64_t k = 0; k != length; ++k)
      sum += out[i + k * stride] = std::exp(input.floats()[i + k * stride] - largest);
    for (int64_t k = 0; k != length; ++k)
      out[i + k * stride] = round(kind, out[i + k * stride] / sum);
  }
  result.setAccuracy(getToleranceAccuracy());
  return SmallVector<Array>{result};
}

} // namespace mlir::resid::reference
