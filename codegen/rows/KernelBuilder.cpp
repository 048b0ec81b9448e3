// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/rows/KernelBuilder.h"

#include "codegen/rows/ColumnSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::rows;

KernelBuilder::KernelBuilder(const RowProgram &program, OpBuilder &builder, Location location)
    : program(program), outer(builder, location), rowBuilder(builder, location) {}

//===------------------------------------------- the kernel and its operands --------------------------------------===//

/// The size of a dimension, read where the tensor's shape was made where that is simple.
static Value createSize(Code &builder, Value tensor, int64_t dim) {
  if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>())
    if (empty.getType().isDynamicDim(dim))
      return empty.getDynamicSize(dim);
  if (auto kernel = tensor.getDefiningOp<KernelOp>())
    return createSize(builder, kernel.getInits()[cast<OpResult>(tensor).getResultNumber()], dim);
  return tensor::DimOp::create(builder, tensor, dim);
}

/// The sizes of the space: constants, or dimensions of inputs, of inits from outside, or those of what is generated.
FailureOr<SmallVector<Value>> KernelBuilder::getSizes(Code &builder) {
  SmallVector<Access> sources(program.getInputs());
  program.visitShapes([&](const Access &access) { sources.push_back(access); });
  SmallVector<Value> sizes;
  for (auto [position, size] : llvm::enumerate(program.getSpace().shape)) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(arith::ConstantIndexOp::create(builder, size));
      continue;
    }
    AffineExpr wanted = getAffineDimExpr(position, builder.getContext());
    auto source = llvm::find_if(
        sources, [&](const Access &access) { return llvm::is_contained(access.map.getResults(), wanted); });
    if (source == sources.end())
      return emitError(builder.getLoc()) << "expected a tensor that says the size of dimension " << position
                                         << " of a row kernel, but found none";
    if (auto halves = source->tensor.getDefiningOp<RandomHalvesOp>()) {
      auto type = cast<RankedTensorType>(halves.getType());
      sizes.push_back(halves.getDims()[type.getDynamicDimIndex(position)]);
      continue;
    }
    if (auto numbers = source->tensor.getDefiningOp<ColumnNumbersOp>()) {
      sizes.push_back(numbers.getSize());
      continue;
    }
    int64_t dim = llvm::find(source->map.getResults(), wanted) - source->map.getResults().begin();
    sizes.push_back(createSize(builder, source->tensor, dim));
  }
  return sizes;
}

/// The number of columns as a float of each type that statistics have.
static DenseMap<Type, Value> createWidths(Code &builder, ValueRange columns, const RowProgram &program) {
  DenseMap<Type, Value> widths;
  for (StatisticsOpInterface statistics : program.getStatistics()) {
    Value &width = widths[getElementTypeOrSelf(statistics->getResult(0).getType())];
    if (width)
      continue;
    Value count = columns.front();
    for (Value size : columns.drop_front())
      count = builder.multiply(count, size);
    Value integer = arith::IndexCastOp::create(builder, builder.getI64Type(), count);
    width = arith::SIToFPOp::create(builder, getElementTypeOrSelf(statistics->getResult(0).getType()), integer);
  }
  return widths;
}

/// What the output is written to. A sum is added to the old elements.
Value KernelBuilder::createInit(const RowOutput &output, ArrayRef<Value> sizes) {
  auto result = cast<OpResult>(output.value);
  if (output.isAccumulated)
    return cast<linalg::GenericOp>(result.getOwner()).getOutputs()[result.getResultNumber()];
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<Value> dynamic;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (ShapedType::isDynamic(size))
      dynamic.push_back(sizes[dim]);
  return tensor::EmptyOp::create(outer, type, dynamic);
}

FailureOr<KernelOp> KernelBuilder::createKernel() {
  FailureOr<SmallVector<Value>> sizes = getSizes(outer);
  if (failed(sizes))
    return failure();
  ValueRange rows = ValueRange(*sizes).take_front(program.getSpace().getNumRows());
  ValueRange columns = ValueRange(*sizes).drop_front(rows.size());
  widths = createWidths(outer, columns, program);
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps;
  SmallVector<Type> argumentTypes{outer.getIndexType()};
  for (const Access &input : program.getInputs()) {
    inputs.push_back(input.tensor);
    maps.push_back(input.map);
    argumentTypes.push_back(RowType::get(outer.getContext(), getElementTypeOrSelf(input.tensor.getType())));
  }
  for (const RowOutput &output : program.getOutputs()) {
    auto type = cast<RankedTensorType>(output.value.getType());
    inits.push_back(createInit(output, *sizes));
    maps.push_back(output.map);
    argumentTypes.push_back(RowType::get(outer.getContext(), type.getElementType()));
  }
  auto kernelOp = KernelOp::create(outer, TypeRange(ValueRange(inits)), rows, columns, inputs, inits,
                                   outer.getAffineMapArrayAttr(maps));
  SmallVector<Location> locations(argumentTypes.size(), outer.getLoc());
  outer.createBlock(&kernelOp.getBody(), {}, argumentTypes, locations);
  outer.setInsertionPointAfter(kernelOp);
  return kernelOp;
}

FailureOr<KernelOp> KernelBuilder::build() {
  FailureOr<KernelOp> created = createKernel();
  if (failed(created))
    return failure();
  kernel = *created;
  rowBuilder.setInsertionPointToEnd(&kernel.getBody().front());
  for (Type type : program.getLocalRows())
    localRows.push_back(LocalRowOp::create(rowBuilder, RowType::get(rowBuilder.getContext(), type)));
  for (auto [position, statistics] : llvm::enumerate(program.getStatistics())) {
    Value width = widths.lookup(getElementTypeOrSelf(statistics->getResult(0).getType()));
    StatisticsPhases phases(*this, position, width);
    SmallVector<Value> results = StatisticsOpInterface(statistics).expand(rowBuilder, phases);
    for (auto [result, value] : llvm::zip_equal(statistics->getResults(), results))
      statisticsResults[result] = value;
  }
  addLastPhase();
  storeRowOutputs();
  YieldOp::create(rowBuilder);
  return kernel;
}

//===------------------------------------------- phases -----------------------------------------------------------===//

ValueRange KernelBuilder::addPhase(Code &builder, unsigned phase, ArrayRef<ReductionKind> kinds, Type type,
                                   PhaseBody body) {
  SmallVector<Attribute> attributes;
  for (ReductionKind kind : kinds)
    attributes.push_back(ReductionKindAttr::get(builder.getContext(), kind));
  SmallVector<Type> types(kinds.size(), type);
  auto phaseOp = PhaseOp::create(builder, types, builder.getArrayAttr(attributes));
  Code columnBuilder(OpBuilder(builder.getContext()), builder.getLoc());
  Block *block = columnBuilder.createBlock(&phaseOp.getBody(), {}, builder.getIndexType(), builder.getLoc());
  Code before(OpBuilder(phaseOp), builder.getLoc());
  // What is computed under a condition is not known after it.
  Memo columnMemo, savedMemo = rowMemo;
  Place place{&before, &columnBuilder, block->getArgument(0), phase, &columnMemo};
  SmallVector<Value> reduced;
  if (phase < program.getLastPhase()) {
    StatisticsOpInterface statistics = program.getStatistics()[getStatisticsOf(phase)];
    AffineMap identity = program.getSpace().getIdentity(builder.getContext());
    SmallVector<Value> elements;
    for (Value operand : statistics.getRowOperands())
      elements.push_back(getElement({operand, identity}, place));
    reduced = body(columnBuilder, elements);
  }
  storeColumns(place);
  YieldOp::create(columnBuilder, reduced);
  if (phaseOp->getBlock() != &kernel.getBody().front())
    rowMemo = std::move(savedMemo);
  return phaseOp.getReduced();
}

/// Stores what the plan puts into this phase; all elements are computed, so all loads done, before the first store.
void KernelBuilder::storeColumns(Place &place) {
  if (getPass(place.phase) == RowPass::Further)
    return;
  AffineMap identity = program.getSpace().getIdentity(outer.getContext());
  SmallVector<RowStore> stores = program.getStores(place.phase);
  SmallVector<Value> elements;
  for (const RowStore &store : stores)
    elements.push_back(getElement({store.value, identity}, place));
  for (auto [store, element] : llvm::zip_equal(stores, elements)) {
    bool isTerm = store.row.kind == RowPlace::Output && program.getOutputs()[store.row.position].isAccumulated;
    if (isTerm)
      AccumulateOp::create(*place.column, element, getRow(store.row), place.columnIndex);
    else
      StoreOp::create(*place.column, element, getRow(store.row), place.columnIndex);
  }
}

Value KernelBuilder::getRow(RowPlace row) {
  if (row.kind == RowPlace::Local)
    return localRows[row.position];
  return kernel.getRowArgument(program.getInputs().size() + row.position);
}

void KernelBuilder::addLastPhase() {
  if (program.getStores(program.getLastPhase()).empty())
    return;
  addPhase(rowBuilder, program.getLastPhase(), {}, Type(), [](Code &, ValueRange) { return SmallVector<Value>(); });
}

void KernelBuilder::storeRowOutputs() {
  Place place{&rowBuilder, nullptr, Value(), program.getLastPhase(), nullptr};
  unsigned firstInit = program.getInputs().size();
  SmallVector<std::pair<Value, unsigned>> stores;
  for (auto [position, output] : llvm::enumerate(program.getOutputs()))
    if (!output.alongColumns)
      stores.push_back({getElement({output.value, output.map}, place), firstInit + position});
  for (auto [element, operand] : stores)
    StoreOp::create(rowBuilder, element, kernel.getRowArgument(operand), Value());
}

//===------------------------------------------- elements ---------------------------------------------------------===//

bool KernelBuilder::isColumnScalar(Value value, const Place &place) const {
  return place.column && value.getParentBlock() == place.column->getInsertionBlock();
}

Value *KernelBuilder::find(Value value, AffineMap map, Place &place) {
  auto inRow = rowMemo.find({value, map});
  if (inRow != rowMemo.end())
    return &inRow->second;
  if (!place.columnMemo)
    return nullptr;
  auto inColumn = place.columnMemo->find({value, map});
  return inColumn == place.columnMemo->end() ? nullptr : &inColumn->second;
}

Value KernelBuilder::getElement(const Access &access, Place &place) {
  if (Value *known = find(access.tensor, access.map, place))
    return *known;
  Value element = computeElement(access, place);
  Memo &memo = isColumnScalar(element, place) ? *place.columnMemo : rowMemo;
  memo[{access.tensor, access.map}] = element;
  return element;
}

Value KernelBuilder::computeElement(const Access &access, Place &place) {
  if (std::optional<RowPlace> row = program.getRowOf(access, place.phase))
    return LoadOp::create(*place.column, getElementTypeOrSelf(access.tensor.getType()), getRow(*row),
                          place.columnIndex);
  Operation *producer = access.tensor.getDefiningOp();
  if (Value known = statisticsResults.lookup(access.tensor))
    return known;
  if (auto halves = dyn_cast_if_present<RandomHalvesOp>(producer))
    return createRandomHalf(halves, place);
  if (isa_and_present<ColumnNumbersOp>(producer))
    return arith::IndexCastOp::create(*place.column, place.column->getI32Type(), place.columnIndex);
  if (!program.isMember(producer) && !isInlined(access))
    return loadInput(llvm::find(program.getInputs(), access) - program.getInputs().begin(), place);
  if (auto fill = dyn_cast<linalg::FillOp>(producer))
    return fill.getInputs().front();
  SplatElementsAttr splat;
  if (matchPattern(access.tensor, m_Constant(&splat)))
    return arith::ConstantOp::create(*place.row, cast<TypedAttr>(splat.getSplatValue<Attribute>()));
  auto generic = cast<linalg::GenericOp>(producer);
  unsigned result = cast<OpResult>(access.tensor).getResultNumber();
  // An element of a sum's is the row's term.
  if (isColumnSum(generic))
    return evaluate(getTerm(generic, result), generic, access.map, place);
  // The init's map is the identity, so the element's position is the loops'.
  return evaluate(generic.getBody()->getTerminator()->getOperand(result), generic, access.map, place);
}

/// A scalar of an elementwise op's body. What does not depend on the column is computed once per row.
Value KernelBuilder::evaluate(Value scalar, Operation *op, AffineMap domain, Place &place) {
  auto generic = cast<linalg::GenericOp>(op);
  if (scalar.getParentBlock() != generic.getBody())
    return scalar;
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    OpOperand &operand = generic->getOpOperand(argument.getArgNumber());
    return getElement({operand.get(), generic.getMatchingIndexingMap(&operand).compose(domain)}, place);
  }
  if (Value *known = find(scalar, domain, place))
    return *known;
  Operation *inner = scalar.getDefiningOp();
  IRMapping mapping;
  bool perColumn = place.column && !isSpeculatable(inner);
  for (Value operand : inner->getOperands()) {
    Value element = evaluate(operand, generic, domain, place);
    mapping.map(operand, element);
    perColumn |= isColumnScalar(element, place);
  }
  Operation *clone = (perColumn ? place.column : place.row)->clone(*inner, mapping);
  for (auto [from, to] : llvm::zip_equal(inner->getResults(), clone->getResults()))
    (perColumn ? *place.columnMemo : rowMemo)[{from, domain}] = to;
  return clone->getResult(cast<OpResult>(scalar).getResultNumber());
}

/// The row's word in the counters of a site. Sites without an extent share it where their origins agree.
Value KernelBuilder::createRandomRow(RandomHalvesOp halves, Place &place) {
  Value local = halves.getExtentLocal(), global = halves.getExtentGlobal();
  Value key = local ? Value(halves.getResult()) : Value(halves.getOriginRow());
  Value &row = rowMemo[{key, AffineMap()}];
  if (row)
    return row;
  Code &builder = *place.row;
  Value index = arith::IndexCastOp::create(builder, builder.getI64Type(), kernel.getBody().getArgument(0));
  if (local) {
    Value group = builder.divide(index, local);
    index = builder.add(builder.multiply(group, global), builder.remainder(index, local));
  }
  return row = builder.add(index, halves.getOriginRow());
}

Value KernelBuilder::createRandomHalf(RandomHalvesOp halves, Place &place) {
  return RandomHalfOp::create(*place.column, place.column->getI32Type(), place.columnIndex, halves.getSeed(),
                              halves.getStep(), createRandomRow(halves, place), halves.getSite(),
                              halves.getOriginCall());
}

Value KernelBuilder::loadInput(unsigned input, Place &place) {
  BlockArgument row = kernel.getRowArgument(input);
  Type type = cast<RowType>(row.getType()).getElementType();
  if (kernel.isAlongColumns(input))
    return LoadOp::create(*place.column, type, row, place.columnIndex);
  return LoadOp::create(*place.row, type, row, Value());
}
