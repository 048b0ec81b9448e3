// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/kernels/TakenValues.h"

#include "codegen/kernels/ArgumentBuffers.h"
#include "codegen/kernels/DisjointBuffers.h"
#include "codegen/kernels/Extent.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::kernels;

/// The context; the pointers; the open sizes and strides of each buffer.
void TakenValues::forEachValue(function_ref<void(Value &)> visit) {
  if (context)
    visit(context);
  for (Value &pointer : pointers)
    visit(pointer);
  for (TakenBuffer &taken : buffers) {
    for (Value &size : taken.openSizes)
      visit(size);
    if (taken.rowStride)
      visit(taken.rowStride);
    for (Value &stride : taken.openStrides)
      visit(stride);
  }
}

KernelWork TakenValues::countWork(OpBuilder &builder, Location loc) const {
  Value one = constantI64(builder, loc, 1);
  return {one, one};
}

//===------------------------------------------- what an op takes -------------------------------------------------===//

/// Takes a value that the op uses; false where a function cannot be given it.
bool TakingOp::take(Value value) {
  if (auto type = dyn_cast<MemRefType>(value.getType())) {
    buffers.insert(value);
    starts.insert(skipReshapes(value));
    return type.isStrided();
  }
  scalars.insert(value);
  return value.getType().isIntOrIndexOrFloat();
}

bool TakingOp::takeAll(function_ref<bool(Value)> isKnown) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  auto isTaken = [&](Value value) { return isKnown(value) || take(value); };
  return llvm::all_of(op->getOperands(), isTaken) && llvm::all_of(captured, isTaken);
}

bool TakingOp::isWritten(Value start) const {
  return llvm::any_of(cast<DestinationStyleOpInterface>(op).getDpsInits(),
                      [&](Value init) { return isa<MemRefType>(init.getType()) && skipReshapes(init) == start; });
}

/// Where nothing else that the function is given, and one of both writes, overlaps what begins here.
StringRef TakingOp::chooseMark(Value start) const {
  bool isApart = llvm::all_of(starts, [&](Value other) {
    return other == start || (!isWritten(start) && !isWritten(other)) || areDisjoint(start, other);
  });
  return isApart ? LLVM::LLVMDialect::getNoAliasAttrName() : "";
}

TakenBuffer TakingOp::describe(OpBuilder &builder, Value buffer) const {
  Location loc = op->getLoc();
  auto type = cast<MemRefType>(buffer.getType());
  TakenBuffer taken{buffer, unsigned(llvm::find(starts, skipReshapes(buffer)) - starts.begin()), {}, {}, {}};
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
    if (type.isDynamicDim(dimension))
      taken.openSizes.push_back(computeSize(builder, loc, buffer, dimension));
  if (type.getLayout().isIdentity())
    return taken;
  taken.rowStride = findArgumentRowStride(buffer);
  auto [strides, offset] = type.getStridesAndOffset();
  if (taken.rowStride || llvm::none_of(strides, ShapedType::isDynamic))
    return taken;
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
  for (auto [dimension, stride] : llvm::enumerate(strides))
    if (ShapedType::isDynamic(stride))
      taken.openStrides.push_back(metadata.getStrides()[dimension]);
  return taken;
}

/// A buffer's type where it begins at its pointer.
static MemRefType getTypeAtStart(MemRefType type) {
  if (type.getLayout().isIdentity())
    return type;
  auto layout = StridedLayoutAttr::get(type.getContext(), /*offset=*/0, type.getStridesAndOffset().first);
  return MemRefType::get(type.getShape(), type.getElementType(), layout, type.getMemorySpace());
}

/// The op's own attributes, the types of buffers and where they begin, what is known of pointers, and which buffer or
/// scalar each use is.
ArrayAttr TakingOp::collectFacts(const TakenValues &taken) const {
  Builder builder(op->getContext());
  Attribute properties = op->getPropertiesAsAttribute();
  SmallVector<Attribute> facts = {properties ? properties : builder.getUnitAttr(), builder.getBoolAttr(!!context)};
  for (const TakenBuffer &buffer : taken.buffers)
    facts.append({TypeAttr::get(getTypeAtStart(cast<MemRefType>(buffer.buffer.getType()))),
                  builder.getDenseI64ArrayAttr({int64_t(buffer.start), buffer.rowStride != nullptr})});
  for (Value start : starts)
    facts.push_back(builder.getStringAttr(chooseMark(start)));
  SmallVector<int64_t> uses;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      auto *buffer = llvm::find(buffers, operand), *scalar = llvm::find(scalars, operand);
      if (buffer != buffers.end())
        uses.push_back(buffer - buffers.begin());
      else if (scalar != scalars.end())
        uses.push_back(buffers.size() + (scalar - scalars.begin()));
    }
  });
  facts.push_back(builder.getDenseI64ArrayAttr(uses));
  collectMoreFacts(facts);
  return builder.getArrayAttr(facts);
}

KernelUse TakingOp::createUse() const {
  OpBuilder builder(op);
  auto taken = std::make_shared<TakenValues>();
  taken->context = context;
  taken->sites = sites;
  for (Value start : starts)
    taken->pointers.push_back(computePointer(builder, op->getLoc(), start));
  for (Value buffer : buffers)
    taken->buffers.push_back(describe(builder, buffer));
  taken->facts = collectFacts(*taken);
  return KernelUse::create(op, taken, scalars.getArrayRef());
}

//===------------------------------------------- the function -----------------------------------------------------===//

/// The buffer in the function, where it begins at the pointer.
Value TakingOp::rebuild(OpBuilder &builder, const TakenBuffer &taken, Value pointer) const {
  Location loc = op->getLoc();
  auto type = cast<MemRefType>(taken.buffer.getType());
  if (type.getLayout().isIdentity() || taken.rowStride)
    return createArgumentBuffer(builder, loc, type, pointer, taken.openSizes, taken.rowStride);
  auto mix = [&](ArrayRef<int64_t> known, ArrayRef<Value> open) {
    return getMixedValues(known, open, builder.getContext());
  };
  MemRefType atStart = getTypeAtStart(type);
  Value element = createArgumentBuffer(builder, loc, MemRefType::get({}, type.getElementType()), pointer, {});
  return memref::ReinterpretCastOp::create(builder, loc, atStart, element, OpFoldResult(builder.getIndexAttr(0)),
                                           mix(type.getShape(), taken.openSizes),
                                           mix(type.getStridesAndOffset().first, taken.openStrides));
}

void TakingOp::rebuildBuffers(OpBuilder &builder, KernelBody &body) const {
  auto function = cast<func::FuncOp>(body.entry->getParentOp());
  auto &taken = body.as<TakenValues>();
  for (auto [start, pointer] : llvm::zip_equal(starts, taken.pointers))
    if (StringRef mark = chooseMark(start); !mark.empty())
      function.setArgAttr(cast<BlockArgument>(pointer).getArgNumber(), mark, builder.getUnitAttr());
  for (const TakenBuffer &buffer : taken.buffers)
    body.mapping.map(buffer.buffer, rebuild(builder, buffer, taken.pointers[buffer.start]));
}
