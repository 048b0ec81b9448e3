// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/weights/PanelUses.h"

#include "dialect/Contraction.h"
#include "dialect/ResidDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

/// What became of a matrix: a tensor with its elements, and where the matrix' two dimensions are in it.
struct View {
  Value tensor;
  std::array<int64_t, 2> places;
  bool isWidened = false;
};

class UseFinder {
public:
  explicit UseFinder(PanelRefusal &refusal) : refusal(refusal) {}

  LogicalResult visit(const View &view);
  /// -1 before a contraction was found.
  int64_t columns = -1;

private:
  LogicalResult refuse(Operation *op, const llvm::Twine &reason) {
    refusal = {op, reason.str()};
    return failure();
  }
  LogicalResult visitContraction(const View &view, OpOperand &use, Contraction contraction);
  LogicalResult visitLinear(const View &view, OpOperand &use, LinearOp op);
  LogicalResult setColumns(Operation *op, int64_t candidate);

  PanelRefusal &refusal;
};

} // namespace

/// The same elements after an op that only moves or widens them; nothing of other ops.
static std::optional<View> passThrough(const View &view, OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<arith::ExtFOp>(user))
    return View{user->getResult(0), view.places, /*isWidened=*/true};
  auto op = dyn_cast<linalg::LinalgOp>(user);
  if (!op || !op.hasPureTensorSemantics() || op.getNumParallelLoops() != op.getNumLoops() ||
      op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 || !op.hasOnlyProjectedPermutations() ||
      &use != op.getDpsInputOperand(0))
    return std::nullopt;
  Value yielded = op.getBlock()->getTerminator()->getOperand(0);
  auto widening = yielded.getDefiningOp<arith::ExtFOp>();
  AffineMap input = op.getMatchingIndexingMap(&use), result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if ((widening ? widening.getIn() : yielded) != op.getBlock()->getArgument(0) || !result.isPermutation())
    return std::nullopt;
  View next{op->getResult(0), {}, view.isWidened || widening};
  for (auto [place, before] : llvm::zip_equal(next.places, view.places))
    place = *result.getResultPosition(input.getResult(before));
  return next;
}

LogicalResult UseFinder::setColumns(Operation *op, int64_t candidate) {
  if (columns >= 0 && columns != candidate)
    return refuse(op, "expected all contractions to sum over one dimension of the weight, but they sum over both");
  columns = candidate;
  return success();
}

LogicalResult UseFinder::visitLinear(const View &view, OpOperand &use, LinearOp op) {
  if (&use != &op.getWeightMutable())
    return refuse(op, "expected contractions to multiply by the weight, but one multiplies the weight");
  if (view.isWidened && op.getArithmeticType().isF64())
    return refuse(op, "expected arithmetic in f32 after a cast to a wider type, but got f64");
  return setColumns(op, view.places[0] == op.getOutputAxis() ? 0 : 1);
}

LogicalResult UseFinder::visitContraction(const View &view, OpOperand &use, Contraction contraction) {
  linalg::LinalgOp op = contraction.op;
  bool isA = &use == contraction.a;
  if (!isA && &use != contraction.b)
    return refuse(op, "expected contractions to multiply by the weight, but one accumulates onto it");
  // What reads panels widens nothing to f64 on the way (FormContractions).
  if (view.isWidened && contraction.arithmetic.isF64())
    return refuse(op, "expected arithmetic in f32 after a cast to a wider type, but got f64");
  if (op.getNumReductionLoops() != 1)
    return refuse(op, "expected one contracted loop, but got " + llvm::Twine(op.getNumReductionLoops()));
  AffineMap map = contraction.getMap(&use), product = contraction.getMap(contraction.init);
  AffineMap other = contraction.getMap(isA ? contraction.b : contraction.a);
  auto getLoop = [&](int64_t dimension) {
    return cast<AffineDimExpr>(map.getResult(view.places[dimension])).getPosition();
  };
  SmallVector<unsigned> contracted;
  op.getReductionDims(contracted);
  unsigned last = cast<AffineDimExpr>(product.getResults().back()).getPosition();
  for (int64_t candidate : {0, 1}) {
    bool isLast = getLoop(candidate) == last && getLoop(1 - candidate) == contracted.front();
    if (!isLast || other.isFunctionOfDim(last))
      continue;
    return setColumns(op, candidate);
  }
  return refuse(op,
                "expected the weight to have the last loop of the product and the contracted one, but it has others");
}

LogicalResult UseFinder::visit(const View &view) {
  for (OpOperand &use : view.tensor.getUses()) {
    Operation *user = use.getOwner();
    auto op = dyn_cast<linalg::LinalgOp>(user);
    std::optional<Contraction> contraction = op ? matchContraction(op) : std::nullopt;
    if (contraction) {
      if (failed(visitContraction(view, use, *contraction)))
        return failure();
      continue;
    }
    if (auto linear = dyn_cast<LinearOp>(user)) {
      if (failed(visitLinear(view, use, linear)))
        return failure();
      continue;
    }
    std::optional<View> next = passThrough(view, use);
    if (!next)
      return refuse(user,
                    "expected contractions as the only readers, but got '" + user->getName().getStringRef() + "'");
    if (failed(visit(*next)))
      return failure();
  }
  return success();
}

FailureOr<int64_t> resid::findColumns(Value matrix, PanelRefusal &refusal) {
  UseFinder finder(refusal);
  if (failed(finder.visit({matrix, {0, 1}})))
    return failure();
  if (finder.columns >= 0)
    return finder.columns;
  refusal = {nullptr, "expected a contraction that reads the weight, but got none"};
  return failure();
}
