// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves linalg ops and equal kernels on buffers into functions that get pointers, sizes and scalars.

#include "codegen/attention/AttentionDialect.h"
#include "codegen/contractions/ContractionDialect.h"
#include "codegen/cpu/Passes.h"
#include "codegen/kernels/ArgumentBuffers.h"
#include "codegen/kernels/CallerContext.h"
#include "codegen/kernels/DisjointBuffers.h"
#include "codegen/kernels/Extent.h"
#include "codegen/kernels/SharedFunctions.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::resid::cpu {
#define GEN_PASS_DEF_OUTLINEOPS
#include "codegen/cpu/Passes.h.inc"
} // namespace mlir::resid::cpu

using namespace mlir;
using namespace mlir::resid;

namespace {

/// A buffer that a function is given: the pointer to where it begins is one of several, and the rest are values of its
/// own.
struct TakenBuffer {
  Value buffer;
  unsigned start;
  /// Indices.
  SmallVector<Value> openSizes, openStrides;
  /// An i64, where all rows are equally far apart.
  Value rowStride;
};

/// What a function is given in place of the values that an op takes from around it.
struct TakenValues : kernels::KernelIndexing {
  /// The caller's context, of kernels; else null.
  Value context;
  /// Where buffers begin, which several shapes of one buffer share.
  SmallVector<Value> pointers;
  std::vector<TakenBuffer> buffers;
  /// Numbers of dropout sites, which differ between layers.
  llvm::SmallPtrSet<Value, 2> sites;
  ArrayAttr facts;

  std::shared_ptr<KernelIndexing> clone() const override { return std::make_shared<TakenValues>(*this); }
  ArrayAttr getFacts() const override { return facts; }
  void forEachValue(function_ref<void(Value &)> visit) override;
  kernels::ConstantUse getConstantUse(Value constant, bool isOuter) const override {
    return !isOuter || sites.contains(constant) ? kernels::ConstantUse::Argument : kernels::ConstantUse::InCode;
  }
  /// The op as a whole.
  kernels::KernelWork countWork(OpBuilder &builder, Location loc) const override {
    Value one = kernels::constantI64(builder, loc, 1);
    return {one, one};
  }
};

/// An op on buffers, with all that it takes from around it.
class OutlinedOp {
public:
  /// Nothing where the op has no loops, or takes what no function can be given.
  static std::optional<OutlinedOp> find(Operation *op);

  /// Kernels call functions already. They are moved where several share all of what calls these.
  bool isKernel() const { return isa<kernels::KernelOpInterface, contraction::RowBlocksOp>(op); }
  /// Emits what computes the values before the op.
  kernels::KernelUse createUse() const;
  /// The function with the op.
  void emit(OpBuilder &builder, kernels::KernelBody &body) const;

private:
  explicit OutlinedOp(Operation *op) : op(op) {}

  bool takeAll();
  bool take(Value value);
  bool isWritten(Value start) const;
  bool overlapsNothing(Value start) const;
  StringRef chooseMark(Value start) const;
  TakenBuffer describe(OpBuilder &builder, Value buffer) const;
  ArrayAttr collectFacts(const TakenValues &taken) const;
  Value rebuild(OpBuilder &builder, const TakenBuffer &taken, Value pointer) const;

  Operation *op;
  Value context;
  SetVector<Value> buffers, starts, scalars;
  llvm::SmallPtrSet<Value, 2> sites;
};

} // namespace

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

//===------------------------------------------- what an op takes -------------------------------------------------===//

/// The constants that are numbers of dropout sites and nothing else. Layers differ in them only.
static llvm::SmallPtrSet<Value, 2> findSites(Operation *op) {
  llvm::SmallPtrSet<Value, 2> sites;
  SmallVector<Value> others;
  op->walk([&](Operation *inner) {
    auto half = dyn_cast<rows::RandomHalfOp>(inner);
    for (OpOperand &operand : inner->getOpOperands())
      if (half && &operand == &half.getSiteMutable())
        sites.insert(operand.get());
      else
        others.push_back(operand.get());
  });
  for (Value other : others)
    sites.erase(other);
  return sites;
}

/// Takes a value that the op uses; false where a function cannot be given it.
bool OutlinedOp::take(Value value) {
  if (auto type = dyn_cast<MemRefType>(value.getType())) {
    buffers.insert(value);
    starts.insert(kernels::skipReshapes(value));
    return type.isStrided();
  }
  scalars.insert(value);
  return value.getType().isIntOrIndexOrFloat();
}

bool OutlinedOp::takeAll() {
  sites = findSites(op);
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  auto isTaken = [&](Value value) { return take(value); };
  return llvm::all_of(op->getOperands(), isTaken) && llvm::all_of(captured, isTaken);
}

/// Whether all that is in the op computes, or reads buffers element by element.
static bool readsAtMost(Operation *op) {
  return !op->walk([&](Operation *inner) {
              bool reads = inner == op || isMemoryEffectFree(inner) || isa<memref::LoadOp>(inner);
              return reads ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

std::optional<OutlinedOp> OutlinedOp::find(Operation *op) {
  OutlinedOp outlined(op);
  auto enclosing = op->getParentOfType<func::FuncOp>();
  if (!enclosing)
    return std::nullopt;
  if (auto nest = dyn_cast<linalg::LinalgOp>(op)) {
    if (!nest.hasPureBufferSemantics() || nest.getNumLoops() == 0 || !readsAtMost(op))
      return std::nullopt;
  } else if (isa<contraction::RowBlocksOp>(op->getParentOp())) {
    return std::nullopt; // they go together
  } else if (outlined.isKernel() && op->getNumResults() == 0) {
    // Without one, the function's first pointer would be taken for it.
    outlined.context = kernels::findContext(enclosing);
    if (!outlined.context)
      return std::nullopt;
  } else {
    return std::nullopt;
  }
  return outlined.takeAll() ? std::optional(outlined) : std::nullopt;
}

bool OutlinedOp::isWritten(Value start) const {
  return llvm::any_of(cast<DestinationStyleOpInterface>(op).getDpsInits(), [&](Value init) {
    return isa<MemRefType>(init.getType()) && kernels::skipReshapes(init) == start;
  });
}

/// Whether nothing else that the function is given, and one of both writes, overlaps what begins here.
bool OutlinedOp::overlapsNothing(Value start) const {
  return llvm::all_of(starts, [&](Value other) {
    return other == start || (!isWritten(start) && !isWritten(other)) || kernels::areDisjoint(start, other);
  });
}

/// The attribute of the pointer that says what is known of the buffers that begin there; empty where that is nothing.
StringRef OutlinedOp::chooseMark(Value start) const {
  if (isKernel())
    return kernels::isOfCaller(start) ? "" : kernels::kTemporaryAttribute;
  return overlapsNothing(start) ? LLVM::LLVMDialect::getNoAliasAttrName() : "";
}

TakenBuffer OutlinedOp::describe(OpBuilder &builder, Value buffer) const {
  Location loc = op->getLoc();
  auto type = cast<MemRefType>(buffer.getType());
  TakenBuffer taken{buffer, unsigned(llvm::find(starts, kernels::skipReshapes(buffer)) - starts.begin()), {}, {}, {}};
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
    if (type.isDynamicDim(dimension))
      taken.openSizes.push_back(kernels::computeSize(builder, loc, buffer, dimension));
  if (type.getLayout().isIdentity())
    return taken;
  taken.rowStride = kernels::findArgumentRowStride(buffer);
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
ArrayAttr OutlinedOp::collectFacts(const TakenValues &taken) const {
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
  return builder.getArrayAttr(facts);
}

kernels::KernelUse OutlinedOp::createUse() const {
  OpBuilder builder(op);
  auto taken = std::make_shared<TakenValues>();
  taken->context = context;
  taken->sites = sites;
  for (Value start : starts)
    taken->pointers.push_back(kernels::computePointer(builder, op->getLoc(), start));
  for (Value buffer : buffers)
    taken->buffers.push_back(describe(builder, buffer));
  taken->facts = collectFacts(*taken);
  return kernels::KernelUse::create(op, taken, scalars.getArrayRef());
}

//===------------------------------------------- the function -----------------------------------------------------===//

/// The buffer in the function, where it begins at the pointer.
Value OutlinedOp::rebuild(OpBuilder &builder, const TakenBuffer &taken, Value pointer) const {
  Location loc = op->getLoc();
  auto type = cast<MemRefType>(taken.buffer.getType());
  if (type.getLayout().isIdentity() || taken.rowStride)
    return kernels::createArgumentBuffer(builder, loc, type, pointer, taken.openSizes, taken.rowStride);
  auto mix = [&](ArrayRef<int64_t> known, ArrayRef<Value> open) {
    return getMixedValues(known, open, builder.getContext());
  };
  MemRefType atStart = getTypeAtStart(type);
  Value element = kernels::createArgumentBuffer(builder, loc, MemRefType::get({}, type.getElementType()), pointer, {});
  return memref::ReinterpretCastOp::create(builder, loc, atStart, element, OpFoldResult(builder.getIndexAttr(0)),
                                           mix(type.getShape(), taken.openSizes),
                                           mix(type.getStridesAndOffset().first, taken.openStrides));
}

void OutlinedOp::emit(OpBuilder &builder, kernels::KernelBody &body) const {
  auto function = cast<func::FuncOp>(body.entry->getParentOp());
  // Where it were inlined, each place would be compiled again.
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  auto &taken = body.as<TakenValues>();
  for (auto [start, pointer] : llvm::zip_equal(starts, taken.pointers))
    if (StringRef mark = chooseMark(start); !mark.empty())
      function.setArgAttr(cast<BlockArgument>(pointer).getArgNumber(), mark, builder.getUnitAttr());
  for (const TakenBuffer &buffer : taken.buffers)
    body.mapping.map(buffer.buffer, rebuild(builder, buffer, taken.pointers[buffer.start]));
  builder.clone(*op, body.mapping)->setDiscardableAttrs(builder.getDictionaryAttr({}));
}

//===------------------------------------------- the pass ---------------------------------------------------------===//

/// Views that only ops needed whose functions make them anew.
static void eraseDeadOps(Operation *root) {
  root->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

namespace {

/// Ops that are equal.
struct OutlinedCode {
  bool takeIn(kernels::KernelUse &use) {
    bool isSame = functions.takeIn(use);
    uses += isSame;
    return isSame;
  }
  void outline() {
    function = functions.outline(first.isKernel() ? "__kernel" : "__loops", {},
                                 [&](OpBuilder &builder, kernels::KernelBody &body) { first.emit(builder, body); });
  }

  OutlinedOp first;
  kernels::SharedFunctions functions;
  unsigned uses = 1;
  func::FuncOp function = {};
};

struct OutlineOps : public cpu::impl::OutlineOpsBase<OutlineOps> {
  void runOnOperation() override {
    SmallVector<OutlinedOp> found;
    getOperation().walk([&](Operation *op) {
      if (std::optional<OutlinedOp> outlined = OutlinedOp::find(op))
        found.push_back(*outlined);
    });
    SymbolTable symbols(getOperation());
    kernels::SharedCodes<OutlinedCode> codes;
    std::vector<std::pair<kernels::KernelUse, OutlinedCode *>> uses;
    for (OutlinedOp &outlined : found) {
      kernels::KernelUse use = outlined.createUse();
      OutlinedCode *code = codes.find(use);
      if (!code)
        code = &codes.add(use, std::make_unique<OutlinedCode>(OutlinedCode{outlined, {use, symbols}}));
      uses.emplace_back(std::move(use), code);
    }
    for (const auto &code : codes.getAll())
      if (!code->first.isKernel() || code->uses > 1)
        code->outline();
    SetVector<func::FuncOp> changed;
    for (auto &[use, code] : uses) {
      changed.insert(use.enclosing);
      if (!code->function)
        continue;
      OpBuilder builder(use.op);
      func::CallOp::create(builder, use.op->getLoc(), code->function, code->functions.getArguments(builder, use));
      use.op->erase();
    }
    for (func::FuncOp function : changed)
      eraseDeadOps(function);
  }
};
} // namespace
