// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns contractions on tensors into kernels. Not: what a contraction is (dialect/Contraction.h).

#include "codegen/contractions/ContractionLoops.h"
#include "codegen/contractions/Epilogue.h"
#include "codegen/contractions/OperandSource.h"
#include "codegen/contractions/Passes.h"
#include "dialect/Contraction.h"
#include "dialect/WeightPanels.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::resid::contraction {
#define GEN_PASS_DEF_FORMCONTRACTIONS
#include "codegen/contractions/Passes.h.inc"
} // namespace mlir::resid::contraction

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::contraction;

namespace {

/// Where a kernel's accumulators start.
struct InitialValues {
  Value start;
  OperandSource initial;
};

/// Builds the kernel of one contraction.
class KernelFormer {
public:
  KernelFormer(Contraction contraction, bool takesIntegers)
      : contraction(contraction), op(contraction.op), epilogue(Epilogue::find(op->getResult(0))), builder(getLast()),
        loc(fuseLocations()), takesIntegers(takesIntegers) {}

  void form();

private:
  Location fuseLocations();
  linalg::LinalgOp getLast() { return epilogue.getOps().empty() ? op : epilogue.getOps().back(); }
  AffineMap orderLoops(AffineMap map) const;
  OperandSource getFactor(OpOperand *factor);
  InitialValues findInitialValues();
  Value createInit();
  void readPanels(OperandSource &a, OperandSource &b);
  void readIntegers(OperandSource &a, OperandSource &b);
  /// Whether the sizes of the product's loops in this map are known.
  bool knowsColumns(AffineMap map) const;

  Contraction contraction;
  linalg::LinalgOp op;
  Epilogue epilogue;
  OpBuilder builder;
  Location loc;
  std::optional<int64_t> packedColumns;
  bool takesIntegers;
  IntegerSource integers;
  /// Whether sums start with what is in the destination.
  bool readsInit = false;
};

} // namespace

/// Those of all ops of the kernel, for messages and reports.
Location KernelFormer::fuseLocations() {
  SmallVector<Location> locations = {op.getLoc()};
  for (linalg::LinalgOp joined : epilogue.getOps())
    locations.push_back(joined.getLoc());
  return locations.size() == 1 ? locations.front() : FusedLoc::get(op.getContext(), locations);
}

/// The map with the loops in the kernel's order: those of the product's dimensions, then the contracted ones.
AffineMap KernelFormer::orderLoops(AffineMap map) const {
  linalg::LinalgOp source = op;
  AffineMap product = source.getMatchingIndexingMap(source.getDpsInitOperand(0));
  SmallVector<unsigned> order;
  for (AffineExpr dimension : product.getResults())
    order.push_back(cast<AffineDimExpr>(dimension).getPosition());
  source.getReductionDims(order);
  SmallVector<AffineExpr> places(order.size());
  for (auto [place, loop] : llvm::enumerate(order))
    places[loop] = getAffineDimExpr(place, map.getContext());
  return map.replaceDimsAndSymbols(places, {}, order.size(), 0);
}

OperandSource KernelFormer::getFactor(OpOperand *factor) {
  OperandSource source{factor->get(), orderLoops(contraction.getMap(factor))};
  // linalg takes scalars of the program too.
  if (Type type = source.tensor.getType(); !isa<RankedTensorType>(type))
    source.tensor = tensor::FromElementsOp::create(builder, loc, RankedTensorType::get({}, type), source.tensor);
  while (std::optional<OperandSource> before = readThrough(source, contraction.arithmetic))
    source = *before;
  return source;
}

InitialValues KernelFormer::findInitialValues() {
  OperandSource source{contraction.init->get(), orderLoops(contraction.getMap(contraction.init))};
  Type element = getElementTypeOrSelf(source.tensor.getType());
  auto fill = source.tensor.getDefiningOp<linalg::FillOp>();
  if (fill && fill.value().getType() == element)
    return {fill.value(), {}};
  DenseElementsAttr constant;
  if (matchPattern(source.tensor, m_Constant(&constant)) && constant.isSplat())
    return {arith::ConstantOp::create(builder, loc, constant.getSplatValue<TypedAttr>()), {}};
  std::optional<OperandSource> before = readThrough(source, contraction.arithmetic);
  bool isBroadcast = before && before->map.getNumResults() < source.map.getNumResults() &&
                     getElementTypeOrSelf(before->tensor.getType()) == element;
  readsInit = !isBroadcast;
  return {nullptr, isBroadcast ? *before : source};
}

/// What the kernel writes to: the destination that was there, without what filled it or broadcast a bias into it.
Value KernelFormer::createInit() {
  Value init = getLast().getDpsInitOperand(0)->get();
  auto maker = init.getDefiningOp<linalg::LinalgOp>();
  if (maker && (isa<linalg::FillOp>(maker) || (!readsInit && epilogue.getOps().empty())))
    return maker.getDpsInits().front();
  if (!matchPattern(init, m_Constant()) && (epilogue.getOps().empty() || init.getDefiningOp<tensor::EmptyOp>()))
    return init;
  auto type = cast<RankedTensorType>(init.getType());
  return tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, init), type.getElementType());
}

bool KernelFormer::knowsColumns(AffineMap map) const {
  auto product = cast<ShapedType>(contraction.init->get().getType());
  return llvm::all_of(llvm::seq<unsigned>(0, product.getRank()),
                      [&](unsigned loop) { return !map.isFunctionOfDim(loop) || !product.isDynamicDim(loop); });
}

void KernelFormer::readPanels(OperandSource &a, OperandSource &b) {
  unsigned parallel = op.getNumParallelLoops();
  // In panels of other columns than 16, columns that are not there have no place.
  auto find = [&](const OperandSource &factor) {
    linalg::UnPackOp found = findPanels(factor, parallel);
    return found && (countPanelColumns(found) == kPanelColumns || knowsColumns(factor.map)) ? found : nullptr;
  };
  linalg::UnPackOp unpack = find(b);
  if (!unpack && (unpack = find(a)))
    std::swap(a, b);
  if (!unpack)
    return;
  b.tensor = unpack.getSource();
  packedColumns = countPanelColumns(unpack);
}

void KernelFormer::readIntegers(OperandSource &a, OperandSource &b) {
  if (!takesIntegers || packedColumns || op.getNumReductionLoops() != 1)
    return;
  unsigned parallel = op.getNumParallelLoops();
  for (OperandSource *factor : {&b, &a})
    if (std::optional<IntegerSource> found = findIntegers(*factor, parallel)) {
      integers = *found;
      factor->tensor = integers.tensor;
      if (factor == &a)
        std::swap(a, b);
      return;
    }
}

/// Erases what computes a value that nothing reads, and what computes its operands for it alone.
static void eraseUnread(Value value) {
  Operation *op = value ? value.getDefiningOp() : nullptr;
  if (!op || !isOpTriviallyDead(op))
    return;
  llvm::SetVector<Value> operands(op->operand_begin(), op->operand_end());
  op->erase();
  llvm::for_each(operands, eraseUnread);
}

void KernelFormer::form() {
  OperandSource a = getFactor(contraction.a), b = getFactor(contraction.b);
  readPanels(a, b);
  readIntegers(a, b);
  InitialValues values = findInitialValues();
  SmallVector<AffineMap> maps = {a.map, b.map};
  SmallVector<Value> inputs;
  Type product = getElementTypeOrSelf(contraction.init->get().getType());
  SmallVector<Type> elements = {product};
  if (values.initial.tensor)
    maps.push_back(values.initial.map);
  unsigned loops = op.getNumLoops();
  auto withAllLoops = [&](AffineMap map) { return AffineMap::get(loops, 0, map.getResults(), map.getContext()); };
  for (const EpilogueInput &input : epilogue.getInputs()) {
    inputs.push_back(input.tensor);
    maps.push_back(withAllLoops(input.map));
    elements.push_back(getElementTypeOrSelf(input.tensor.getType()));
  }
  maps.push_back(withAllLoops(epilogue.getResultMap()));
  Value init = createInit();
  auto kernel = KernelOp::create(
      builder, loc, init.getType(), a.tensor, b.tensor, values.start, values.initial.tensor, inputs,
      /*row_scale=*/Value(), integers.parameters, init, /*scratch=*/Value(), builder.getAffineMapArrayAttr(maps),
      builder.getI64IntegerAttr(op.getNumParallelLoops()),
      packedColumns ? builder.getI64IntegerAttr(*packedColumns) : IntegerAttr(), /*chain=*/IntegerAttr(),
      integers.group != 0 ? builder.getI64IntegerAttr(integers.group) : IntegerAttr(),
      integers.areNibbles ? builder.getUnitAttr() : UnitAttr());
  Block *body = builder.createBlock(&kernel.getBody(), {}, elements, SmallVector<Location>(elements.size(), loc));
  YieldOp::create(builder, loc, epilogue.emit(builder, body->getArguments()));
  getLast()->getResult(0).replaceAllUsesWith(kernel.getResult());
  for (linalg::LinalgOp last : llvm::reverse(epilogue.getOps()))
    last->erase();
  op->erase();
  eraseUnread(integers.weight);
}

namespace {
struct FormContractions : public contraction::impl::FormContractionsBase<FormContractions> {
  using FormContractionsBase::FormContractionsBase;

  void runOnOperation() override {
    SmallVector<Contraction> contractions;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (!op.hasPureTensorSemantics())
        return;
      if (std::optional<Contraction> contraction = matchAnyContraction(op))
        contractions.push_back(*contraction);
    });
    for (const Contraction &contraction : contractions) {
      linalg::LinalgOp op = contraction.op;
      // Without a product to add, or an element to add it to, what is there stays.
      if (llvm::is_contained(op.getStaticLoopRanges(), 0)) {
        op->getResult(0).replaceAllUsesWith(contraction.init->get());
        op->erase();
        continue;
      }
      KernelFormer(contraction, takesIntegers).form();
    }
  }
};
} // namespace
