// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-pack-weights: weights of contractions are kept in panels, as the kernels read them.

#include "dialect/WeightPanels.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "passes/Passes.h"
#include "passes/weights/PanelUses.h"
#include "passes/weights/Prepare.h"

namespace mlir::resid {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "passes/Passes.h.inc"
} // namespace mlir::resid

using namespace mlir;
using namespace mlir::resid;

/// Panels of fewer columns would be mostly empty.
static constexpr int64_t kFewestColumns = kPanelColumns / 2;

static SmallVector<OpFoldResult> getTiles(OpBuilder &builder, const PanelLayout &layout) {
  return llvm::map_to_vector(layout.innerTiles,
                             [&](int64_t tile) -> OpFoldResult { return builder.getIndexAttr(tile); });
}

static Value emitPack(OpBuilder &builder, Location loc, Value matrix, int64_t columns) {
  auto type = cast<RankedTensorType>(matrix.getType());
  RankedTensorType panels = getPanelType(type, columns);
  PanelLayout layout = getPanelLayout(type.getElementType(), columns);
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
  PanelLayout layout = getPanelLayout(type.getElementType(), columns);
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
  int64_t panel = llvm::alignTo(depth, terms) * kPanelColumns;
  std::vector<char> packed(getPanelType(type, columns).getNumElements() * width);
  for (int64_t n = 0; n != count; ++n)
    for (int64_t k = 0; k != depth; ++k) {
      int64_t from = columns == 0 ? n * depth + k : k * count + n;
      int64_t to = n / kPanelColumns * panel + (k / terms * kPanelColumns + n % kPanelColumns) * terms + k % terms;
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
  else if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(tensor.getElementType()))
    expected = "f16, bf16, f32 or f64";
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
         std::to_string(kPanelColumns) + ", but got " + std::to_string(type.getDimSize(columns));
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
    PanelRefusal refusal;
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
                      << type.getDimSize(1 - columns) << " in panels of " << kPanelColumns;
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
    PanelRefusal refusal;
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
