// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-pack-weights: weights of contractions are kept in panels, as the kernels read them, if all who read a weight
// would rather read its panels.

#include "dialect/Contraction.h"
#include "dialect/ResidDialect.h"
#include "dialect/WeightPanels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "passes/Passes.h"
#include "passes/weights/LinearLayers.h"
#include "passes/weights/Prepare.h"

namespace mlir::resid {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "passes/Passes.h.inc"
} // namespace mlir::resid

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
  explicit UseFinder(LinearRefusal &refusal) : refusal(refusal) {}

  LogicalResult visit(const View &view);
  /// -1 before a contraction was found.
  int64_t columns = -1;

private:
  LogicalResult visitContraction(const View &view, OpOperand &use, Contraction contraction);
  /// An op that multiplies rows by a weight, whose dimension `outputAxis` counts columns.
  LogicalResult visitLayer(const View &view, OpOperand &use, OpOperand &weight, int64_t outputAxis, Type arithmetic);
  LogicalResult setColumns(Operation *op, int64_t candidate);

  LinearRefusal &refusal;
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
    return refusal.set(op, "expected all contractions to sum over one dimension of the weight, but they sum over both");
  columns = candidate;
  return success();
}

LogicalResult UseFinder::visitLayer(const View &view, OpOperand &use, OpOperand &weight, int64_t outputAxis,
                                    Type arithmetic) {
  Operation *op = use.getOwner();
  if (&use != &weight)
    return refusal.set(op, "expected contractions to multiply by the weight, but one multiplies the weight");
  if (view.isWidened && arithmetic.isF64())
    return refusal.set(op, "expected arithmetic in f32 after a cast to a wider type, but got f64");
  return setColumns(op, view.places[0] == outputAxis ? 0 : 1);
}

LogicalResult UseFinder::visitContraction(const View &view, OpOperand &use, Contraction contraction) {
  linalg::LinalgOp op = contraction.op;
  bool isA = &use == contraction.a;
  if (!isA && &use != contraction.b)
    return refusal.set(op, "expected contractions to multiply by the weight, but one accumulates onto it");
  // What reads panels widens nothing to f64 on the way (FormContractions).
  if (view.isWidened && contraction.arithmetic.isF64())
    return refusal.set(op, "expected arithmetic in f32 after a cast to a wider type, but got f64");
  if (op.getNumReductionLoops() != 1)
    return refusal.set(op, "expected one contracted loop, but got " + llvm::Twine(op.getNumReductionLoops()));
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
  return refusal.set(
      op, "expected the weight to have the last loop of the product and the contracted one, but it has others");
}

LogicalResult UseFinder::visit(const View &view) {
  for (OpOperand &use : view.tensor.getUses()) {
    Operation *user = use.getOwner();
    auto op = dyn_cast<linalg::LinalgOp>(user);
    std::optional<Contraction> contraction = op ? matchAnyContraction(op) : std::nullopt;
    if (contraction) {
      if (failed(visitContraction(view, use, *contraction)))
        return failure();
      continue;
    }
    if (auto linear = dyn_cast<LinearOp>(user)) {
      if (linear.getGroup())
        return refusal.set(user, "expected layers with weights of floats, but got one of integers");
      if (failed(visitLayer(view, use, linear.getWeightMutable(), linear.getOutputAxis(), linear.getArithmeticType())))
        return failure();
      continue;
    }
    if (auto project = dyn_cast<ProjectOp>(user)) {
      if (failed(visitLayer(view, use, project.getWeightMutable(), /*outputAxis=*/0, project.getArithmeticType())))
        return failure();
      continue;
    }
    std::optional<View> next = passThrough(view, use);
    if (!next)
      return refusal.set(user,
                         "expected contractions as the only readers, but got '" + user->getName().getStringRef() + "'");
    if (failed(visit(*next)))
      return failure();
  }
  return success();
}

/// The dimension of `matrix`, 0 or 1, that counts columns for all its readers: each is a contraction that sums over the
/// other dimension, and has this one as the last of its result. Transposes, broadcasts and casts to a wider type may
/// stand between. Fails where that is not so, or where nothing reads the matrix.
static FailureOr<int64_t> findColumns(Value matrix, LinearRefusal &refusal) {
  UseFinder finder(refusal);
  if (failed(finder.visit({matrix, {0, 1}})))
    return failure();
  if (finder.columns >= 0)
    return finder.columns;
  refusal = {nullptr, "expected a contraction that reads the weight, but got none"};
  return failure();
}

/// Panels of fewer columns would be mostly empty.
static constexpr int64_t kFewestColumns = kPanelColumns / 4;

static PanelLayout getLayout(RankedTensorType matrix, int64_t columns) {
  return getPanelLayout(matrix.getElementType(), columns, getPanelColumns(matrix.getDimSize(columns)));
}

static SmallVector<OpFoldResult> getTiles(OpBuilder &builder, const PanelLayout &layout) {
  return llvm::map_to_vector(layout.innerTiles,
                             [&](int64_t tile) -> OpFoldResult { return builder.getIndexAttr(tile); });
}

static Value emitPack(OpBuilder &builder, Location loc, Value matrix, int64_t columns) {
  auto type = cast<RankedTensorType>(matrix.getType());
  RankedTensorType panels = getPanelType(type, columns);
  PanelLayout layout = getLayout(type, columns);
  std::optional<Value> padding;
  if (panels.getNumElements() != type.getNumElements())
    padding = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type.getElementType()));
  Value empty = tensor::EmptyOp::create(builder, loc, panels.getShape(), panels.getElementType());
  return linalg::PackOp::create(builder, loc, matrix, empty, layout.innerDimensions, getTiles(builder, layout), padding,
                                layout.outerOrder)
      .getResult();
}

/// The matrix that `panels` were made of.
static Value emitUnpack(OpBuilder &builder, Location loc, Value panels, RankedTensorType type, int64_t columns) {
  PanelLayout layout = getLayout(type, columns);
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
  return linalg::UnPackOp::create(builder, loc, panels, empty, layout.innerDimensions, getTiles(builder, layout),
                                  layout.outerOrder)
      .getResult();
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The bytes of a constant's elements, row-major; nothing where they are all the same, or not there.
static ArrayRef<char> getBytes(Attribute elements) {
  if (auto dense = dyn_cast<DenseElementsAttr>(elements))
    return dense.isSplat() ? ArrayRef<char>() : dense.getRawData();
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  return blob ? blob->getData() : ArrayRef<char>();
}

static std::vector<char> packBytes(ArrayRef<char> bytes, RankedTensorType type, int64_t columns) {
  int64_t width = type.getElementTypeBitWidth() / 8, terms = getInterleavedTerms(type.getElementType());
  int64_t count = type.getDimSize(columns), depth = type.getDimSize(1 - columns);
  int64_t wide = getPanelColumns(count), panel = llvm::alignTo(depth, terms) * wide;
  std::vector<char> packed(getPanelType(type, columns).getNumElements() * width);
  for (int64_t n = 0; n != count; ++n)
    for (int64_t k = 0; k != depth; ++k) {
      int64_t from = columns == 0 ? n * depth + k : k * count + n;
      int64_t to = n / wide * panel + (k / terms * wide + n % wide) * terms + k % terms;
      std::copy_n(bytes.data() + from * width, width, packed.data() + to * width);
    }
  return packed;
}

static ElementsAttr packConstant(Attribute elements, RankedTensorType type, int64_t columns) {
  RankedTensorType panels = getPanelType(type, columns);
  std::vector<char> packed = packBytes(getBytes(elements), type, columns);
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  if (!resource)
    return DenseElementsAttr::getFromRawBuffer(panels, packed);
  return DenseResourceElementsAttr::get(panels, (resource.getRawHandle().getKey() + "_panels").str(),
                                        HeapAsmResourceBlob::allocateAndCopyWithAlign(packed, /*align=*/64));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Why a matrix cannot have panels, whoever reads it.
static std::optional<std::string> refuseType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  const char *expected = nullptr;
  if (!tensor || tensor.getRank() != 2 || !tensor.hasStaticShape())
    expected = "two static dimensions";
  else if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(tensor.getElementType()) &&
           !tensor.getElementType().isInteger(8))
    expected = "f16, bf16, f32, f64 or i8";
  if (!expected)
    return std::nullopt;
  std::string reason;
  llvm::raw_string_ostream(reason) << "expected a weight of " << expected << ", but got '" << type << "'";
  return reason;
}

static std::optional<std::string> refuseColumns(RankedTensorType type, int64_t columns) {
  if (type.getDimSize(columns) >= kFewestColumns && type.getDimSize(1 - columns) > 0)
    return std::nullopt;
  return "expected a weight of at least " + std::to_string(kFewestColumns) + " columns, since panels have " +
         std::to_string(getPanelColumns(0)) + " or more, but got " + std::to_string(type.getDimSize(columns));
}

namespace {
struct PackWeights : resid::impl::PackWeightsBase<PackWeights> {
  using PackWeightsBase::PackWeightsBase;

  void runOnOperation() override {
    for (func::FuncOp function : getFunctionsToPrepare(getOperation())) {
      Preparation preparation(function);
      for (unsigned index = 0; index != function.getNumArguments(); ++index)
        if (getWeightName(function, index) || function.getArgAttr(index, kPreparedAttribute))
          packArgument(function, function.getArgument(index), preparation);
      preparation.finish();
      SmallVector<arith::ConstantOp> constants;
      function.walk([&](arith::ConstantOp constant) { constants.push_back(constant); });
      for (arith::ConstantOp constant : constants)
        packConstantOp(constant);
    }
  }

  /// The dimension of columns; nothing where the weight stays as it is, which is said.
  std::optional<int64_t> decide(Value weight, Location loc) {
    LinearRefusal refusal;
    std::optional<std::string> reason = refuseType(weight.getType());
    FailureOr<int64_t> columns = failure();
    if (!reason) {
      columns = findColumns(weight, refusal);
      reason = succeeded(columns) ? refuseColumns(cast<RankedTensorType>(weight.getType()), *columns) : refusal.reason;
    }
    if (!reason)
      return *columns;
    remarkRefusal(loc, *reason, refusal.op);
    return std::nullopt;
  }

  void remarkRefusal(Location loc, StringRef reason, Operation *op) {
    if (!report)
      return;
    InFlightDiagnostic remark = emitRemark(loc) << "not packed: " << reason;
    if (op)
      remark.attachNote(op->getLoc()) << "found here";
  }

  void remarkPacked(Location loc, RankedTensorType type, int64_t columns) {
    if (report)
      emitRemark(loc) << "packed (bit-exact): " << type.getDimSize(columns) << " columns of "
                      << type.getDimSize(1 - columns) << " in panels of " << getPanelColumns(type.getDimSize(columns));
  }

  void packArgument(func::FuncOp function, BlockArgument weight, Preparation &preparation) {
    Location loc = getArgumentLocation(function, weight.getArgNumber());
    std::optional<int64_t> columns = decide(weight, loc);
    if (!columns)
      return;
    if (std::optional<std::string> reason = preparation.refuse({weight}))
      return remarkRefusal(loc, *reason, nullptr);
    auto type = cast<RankedTensorType>(weight.getType());
    SmallVector<OpOperand *> uses =
        llvm::map_to_vector(weight.getUses(), [](OpOperand &use) -> OpOperand * { return &use; });
    Value panels = preparation.convert(
        weight, [&](OpBuilder &builder) { return emitPack(builder, function.getLoc(), weight, *columns); });
    OpBuilder builder(function.getContext());
    builder.setInsertionPointAfterValue(panels);
    Value matrix = emitUnpack(builder, function.getLoc(), panels, type, *columns);
    for (OpOperand *use : uses)
      use->set(matrix);
    remarkPacked(loc, type, *columns);
  }

  void packConstantOp(arith::ConstantOp constant) {
    if (refuseType(constant.getType()) || getBytes(constant.getValue()).empty())
      return;
    auto type = cast<RankedTensorType>(constant.getType());
    LinearRefusal refusal;
    FailureOr<int64_t> columns = findColumns(constant, refusal);
    if (failed(columns) || refuseColumns(type, *columns))
      return;
    OpBuilder builder(constant);
    Value panels = arith::ConstantOp::create(builder, constant.getLoc(),
                                             cast<TypedAttr>(packConstant(constant.getValue(), type, *columns)));
    constant.replaceAllUsesWith(emitUnpack(builder, constant.getLoc(), panels, type, *columns));
    constant.erase();
    remarkPacked(panels.getLoc(), type, *columns);
  }
};
} // namespace
