// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes pointers and strides of a kernel's operands.

#include "codegen/rows/RowAddressing.h"

#include "codegen/kernels/ArgumentBuffers.h"
#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/ColumnMoves.h"
#include "dialect/FunctionAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::rows;
using kernels::castToI64;
using kernels::constantI64;

bool KernelAddresses::needsRowIndices() const {
  return rowDims.size() > 1 &&
         llvm::any_of(operands, [](const OperandAddress &operand) { return !operand.strides.empty(); });
}

void KernelAddresses::forEachValue(function_ref<void(Value &)> visit) {
  for (OperandAddress &operand : operands) {
    visit(operand.pointer);
    if (operand.linearStride)
      visit(operand.linearStride);
    for (auto &[dimension, stride] : operand.strides)
      visit(stride);
  }
  if (needsRowIndices())
    for (Value &dim : rowDims)
      visit(dim);
  visit(width);
  if (!scratch)
    return;
  visit(rows);
  visit(scratch);
}

static Value product(OpBuilder &builder, Location loc, ValueRange factors) {
  Value result = constantI64(builder, loc, 1);
  for (Value factor : factors)
    result = builder.createOrFold<arith::MulIOp>(loc, result, factor);
  return result;
}

/// What the map of one operand says: the kernel's dimension after each of its own, none for a broadcast 1.
static SmallVector<std::optional<unsigned>> getKernelDimensions(AffineMap map) {
  SmallVector<std::optional<unsigned>> dimensions;
  map = undoMove(map);
  for (AffineExpr result : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    dimensions.push_back(dim ? std::optional<unsigned>(dim.getPosition()) : std::nullopt);
  }
  return dimensions;
}

/// Whether the last `count` dimensions are one contiguous run of elements, whatever the sizes at run time.
static bool areTrailingDimensionsContiguous(MemRefType type, unsigned count) {
  if (count == 0 || type.getLayout().isIdentity())
    return true;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  int64_t expected = 1;
  for (unsigned i = 0; i < count; ++i) {
    unsigned dim = type.getRank() - 1 - i;
    if (ShapedType::isDynamic(expected) || strides[dim] != expected)
      return false;
    expected = type.isDynamicDim(dim) ? ShapedType::kDynamic : expected * type.getDimSize(dim);
  }
  return true;
}

/// Whether the rows of a buffer with open strides, all dimensions but the last flattened, lie evenly apart.
static bool areRowsEvenlyApart(Value buffer) {
  while (auto cast = buffer.getDefiningOp<memref::CastOp>())
    buffer = cast.getSource();
  if (cast<MemRefType>(buffer.getType()).getRank() == 2)
    return true;
  if (kernels::findArgumentRowStride(buffer))
    return true;
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
  return function && function.getArgAttr(argument.getArgNumber(), kStridedAttribute);
}

/// Kernels are made from ops of the user's, at their places: the message speaks of arrays.
static LogicalResult reportStrides(rows::KernelOp kernel, MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  InFlightDiagnostic error = kernel.emitError("expected arrays whose last dimension is contiguous in memory, but got ");
  if (failed(type.getStridesAndOffset(strides, offset)))
    return error << "another layout";
  error << "one with the strides [";
  llvm::interleaveComma(strides, error,
                        [&](int64_t stride) { ShapedType::isDynamic(stride) ? error << '?' : error << stride; });
  return error << ']';
}

static FailureOr<OperandAddress> computeOperandAddress(OpBuilder &builder, rows::KernelOp kernel, Value buffer,
                                                       AffineMap map, const KernelAddresses &shape) {
  Location loc = kernel.getLoc();
  auto type = dyn_cast<MemRefType>(buffer.getType());
  if (!type)
    return kernel.emitOpError("expected operands in memory, but got ") << buffer.getType();
  unsigned rowRank = shape.rowDims.size();
  SmallVector<std::optional<unsigned>> dimensions = getKernelDimensions(map);
  unsigned columnRank = llvm::count_if(dimensions, [&](auto dim) { return dim && *dim >= rowRank; });
  if (!areTrailingDimensionsContiguous(type, columnRank))
    return reportStrides(kernel, type);

  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
  OperandAddress address;
  address.pointer = kernels::computePointer(builder, loc, buffer);
  address.elementType = kernels::getMemoryType(type.getElementType());
  SmallVector<unsigned> rowDimensions;
  for (unsigned i = 0; i < dimensions.size(); ++i) {
    if (!dimensions[i] || *dimensions[i] >= rowRank)
      continue;
    rowDimensions.push_back(*dimensions[i]);
    address.strides.push_back({*dimensions[i], castToI64(builder, loc, metadata.getStrides()[i])});
  }
  bool coversRows = llvm::equal(rowDimensions, llvm::seq<unsigned>(0, rowRank));
  if (rowRank == 0 || !coversRows)
    return address;
  if (type.getLayout().isIdentity())
    address.linearStride = columnRank == 0 ? constantI64(builder, loc, 1)
                           : hasMove(map)  ? constantI64(builder, loc, type.getShape().back())
                                           : shape.width;
  else if (columnRank == 1 && areRowsEvenlyApart(buffer))
    address.linearStride = address.strides.back().second;
  if (address.linearStride)
    address.strides.clear();
  return address;
}

/// Gives the number of each dropout site a constant of its own, so that it can become an argument alone.
static void separateSites(rows::KernelOp kernel) {
  OpBuilder builder(kernel);
  DenseMap<Value, Value> separate;
  kernel.walk([&](rows::RandomHalfOp half) {
    if (!matchPattern(half.getSite(), m_Constant()))
      return;
    Value &own = separate[half.getSite()];
    if (!own)
      own = builder.clone(*half.getSite().getDefiningOp())->getResult(0);
    half.getSiteMutable().assign(own);
  });
}

/// Whether a constant is the number of a dropout site and nothing else.
kernels::ConstantUse KernelAddresses::getConstantUse(Value constant, bool isOuter) const {
  bool isSite = llvm::all_of(constant.getUses(), [](OpOperand &use) {
    auto half = dyn_cast<rows::RandomHalfOp>(use.getOwner());
    return half && &half.getSiteMutable() == &use;
  });
  return isSite ? kernels::ConstantUse::InCodeIfEqual : kernels::ConstantUse::InCode;
}

/// Leaves no rows to go through where rows have no columns and nothing is written once per row.
static void dropEmptyRows(OpBuilder &builder, rows::KernelOp kernel, KernelAddresses &addresses) {
  unsigned operands = addresses.operands.size();
  for (unsigned init = kernel.getInputs().size(); init < operands; ++init)
    if (!kernel.isAlongColumns(init))
      return;
  if (matchPattern(addresses.width, m_NonZero()))
    return;
  Location loc = kernel.getLoc();
  Value none = constantI64(builder, loc, 0);
  Value isEmpty = builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, addresses.width, none);
  addresses.rows = builder.createOrFold<arith::SelectOp>(loc, isEmpty, none, addresses.rows);
}

static ArrayAttr collectFacts(rows::KernelOp kernel, const KernelAddresses &addresses) {
  Builder builder(kernel.getContext());
  SmallVector<Attribute> facts = {kernel->getAttrDictionary()};
  for (Type type : kernel->getOperandTypes())
    facts.push_back(TypeAttr::get(type));
  for (const OperandAddress &operand : addresses.operands) {
    SmallVector<int64_t> layout = {operand.linearStride ? 1 : 0};
    for (auto [dimension, stride] : operand.strides)
      layout.push_back(dimension);
    facts.push_back(builder.getDenseI64ArrayAttr(layout));
  }
  return builder.getArrayAttr(facts);
}

FailureOr<std::shared_ptr<kernels::KernelIndexing>> rows::KernelOp::computeIndexing(OpBuilder &builder) {
  rows::KernelOp kernel = *this;
  Location loc = getLoc();
  auto indexing = std::make_shared<KernelAddresses>();
  KernelAddresses &addresses = *indexing;
  SmallVector<Value> columnDims;
  for (Value dim : kernel.getRowDims())
    addresses.rowDims.push_back(castToI64(builder, loc, dim));
  for (Value dim : kernel.getColumnDims())
    columnDims.push_back(castToI64(builder, loc, dim));
  addresses.rows = product(builder, loc, addresses.rowDims);
  addresses.width = product(builder, loc, columnDims);

  SmallVector<Value> buffers(kernel.getInputs());
  llvm::append_range(buffers, kernel.getInits());
  for (auto [buffer, map] : llvm::zip_equal(buffers, kernel.getIndexingMaps().getAsValueRange<AffineMapAttr>())) {
    FailureOr<OperandAddress> address = computeOperandAddress(builder, kernel, buffer, map, addresses);
    if (failed(address))
      return failure();
    addresses.operands.push_back(*address);
  }
  if (Value scratch = kernel.getScratch())
    addresses.scratch = kernels::computePointer(builder, loc, scratch);
  else if (kernel.hasAccumulated())
    return kernel.emitOpError("expected memory for sums down the rows, but got none");
  dropEmptyRows(builder, kernel, addresses);
  separateSites(kernel);
  addresses.facts = collectFacts(kernel, addresses);
  return std::shared_ptr<kernels::KernelIndexing>(indexing);
}
