// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves linalg ops and equal kernels on buffers into functions that get pointers, sizes and scalars.

#include "codegen/attention/AttentionDialect.h"
#include "codegen/contractions/ContractionDialect.h"
#include "codegen/cpu/Passes.h"
#include "codegen/kernels/ArgumentBuffers.h"
#include "codegen/kernels/CallerContext.h"
#include "codegen/kernels/DisjointBuffers.h"
#include "codegen/kernels/EqualFunctions.h"
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

/// How a function is given where the elements of a buffer lie, beside the pointer to the first.
struct PassedLayout {
  explicit PassedLayout(Value buffer);

  bool isStrided = false, isAvailable = true;
  /// An i64, where all rows are equally far apart.
  Value rowStride;
  /// The dimensions whose strides are open, where that is not so.
  SmallVector<unsigned> openStrides;
};

/// An op on buffers, with all that it takes from around it.
class OutlinedOp {
public:
  /// Nothing where the op has no loops, or takes what no function can be given.
  static std::optional<OutlinedOp> find(Operation *op);

  /// Kernels call functions already. They are moved where several share all of what calls these.
  bool isKernel() const { return !isa<linalg::LinalgOp>(op); }
  func::FuncOp getEnclosing() const { return op->getParentOfType<func::FuncOp>(); }
  OwningOpRef<func::FuncOp> buildFunction() const;
  /// Calls a function that does the same, in place of the op.
  void replaceByCall(func::FuncOp function);

private:
  explicit OutlinedOp(Operation *op) : op(op) {}

  bool takeAll();
  bool take(Value value);
  bool isWritten(Value start) const;
  bool overlapsNothing(Value start) const;
  SmallVector<Value> getArguments(OpBuilder &builder) const;
  SmallVector<Type> getArgumentTypes() const;
  void markPointers(func::FuncOp function, unsigned first) const;
  Value rebuild(OpBuilder &builder, Value buffer, Value pointer, Block::args_iterator &next) const;

  Operation *op;
  /// The caller's context, of kernels.
  Value context;
  /// The buffers, and where they begin, which several shapes of one buffer share.
  SetVector<Value> buffers, starts;
  SetVector<Value> scalars, constants;
  /// Constants that differ between layers.
  llvm::SmallPtrSet<Value, 2> sites;
};

} // namespace

PassedLayout::PassedLayout(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  isStrided = !type.getLayout().isIdentity();
  isAvailable = succeeded(type.getStridesAndOffset(strides, offset));
  if (!isStrided || !isAvailable)
    return;
  rowStride = kernels::findArgumentRowStride(buffer);
  for (auto [dimension, stride] : llvm::enumerate(strides))
    if (!rowStride && ShapedType::isDynamic(stride))
      openStrides.push_back(dimension);
}

/// As an argument of a function: LLVM has holes in what it does with floats of 16 bits there.
static Type getPassedType(Type type) {
  return type.isF16() || type.isBF16() ? IntegerType::get(type.getContext(), 16) : type;
}

static Value castTo(OpBuilder &builder, Location loc, Type type, Value scalar) {
  return type == scalar.getType() ? scalar : Value(arith::BitcastOp::create(builder, loc, type, scalar));
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
  if (isa<MemRefType>(value.getType())) {
    buffers.insert(value);
    starts.insert(kernels::skipReshapes(value));
    return PassedLayout(value).isAvailable;
  }
  bool isConstant = matchPattern(value, m_Constant()) && !sites.contains(value);
  (isConstant ? constants : scalars).insert(value);
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
  if (!outlined.getEnclosing())
    return std::nullopt;
  if (auto nest = dyn_cast<linalg::LinalgOp>(op)) {
    if (!nest.hasPureBufferSemantics() || nest.getNumLoops() == 0 || !readsAtMost(op))
      return std::nullopt;
  } else if (isa<contraction::RowBlocksOp>(op->getParentOp())) {
    return std::nullopt; // they go together
  } else if (isa<attention::BackwardOp, attention::KernelOp, contraction::KernelOp, contraction::RowBlocksOp,
                 rows::KernelOp>(op) &&
             op->getNumResults() == 0) {
    // Without one, the function's first pointer would be taken for it.
    outlined.context = kernels::findContext(outlined.getEnclosing());
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

//===------------------------------------------- the function -----------------------------------------------------===//

/// The context; the pointers; the open sizes and strides of each buffer; the scalars.
SmallVector<Value> OutlinedOp::getArguments(OpBuilder &builder) const {
  Location loc = op->getLoc();
  SmallVector<Value> arguments;
  if (context)
    arguments.push_back(context);
  for (Value start : starts)
    arguments.push_back(kernels::computePointer(builder, loc, start));
  for (Value buffer : buffers) {
    auto type = cast<MemRefType>(buffer.getType());
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
      if (type.isDynamicDim(dimension))
        arguments.push_back(kernels::computeSize(builder, loc, buffer, dimension));
    PassedLayout layout(buffer);
    if (layout.rowStride)
      arguments.push_back(layout.rowStride);
    if (layout.openStrides.empty())
      continue;
    auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
    for (unsigned dimension : layout.openStrides)
      arguments.push_back(metadata.getStrides()[dimension]);
  }
  for (Value scalar : scalars)
    arguments.push_back(castTo(builder, loc, getPassedType(scalar.getType()), scalar));
  return arguments;
}

SmallVector<Type> OutlinedOp::getArgumentTypes() const {
  MLIRContext *mlir = op->getContext();
  Type index = IndexType::get(mlir);
  SmallVector<Type> types(starts.size() + (context ? 1 : 0), LLVM::LLVMPointerType::get(mlir));
  for (Value buffer : buffers) {
    PassedLayout layout(buffer);
    types.append(cast<MemRefType>(buffer.getType()).getNumDynamicDims(), index);
    if (layout.rowStride)
      types.push_back(layout.rowStride.getType());
    types.append(layout.openStrides.size(), index);
  }
  for (Value scalar : scalars)
    types.push_back(getPassedType(scalar.getType()));
  return types;
}

/// Says on the arguments from `first` on what is known of the buffers that begin there.
void OutlinedOp::markPointers(func::FuncOp function, unsigned first) const {
  auto mark = UnitAttr::get(op->getContext());
  for (auto [index, start] : llvm::enumerate(starts)) {
    if (!isKernel() && overlapsNothing(start))
      function.setArgAttr(first + index, LLVM::LLVMDialect::getNoAliasAttrName(), mark);
    if (isKernel() && !kernels::isOfCaller(start))
      function.setArgAttr(first + index, kernels::kTemporaryAttribute, mark);
  }
}

/// The buffer in the function, where it begins at the pointer. `next` are the arguments that are left.
Value OutlinedOp::rebuild(OpBuilder &builder, Value buffer, Value pointer, Block::args_iterator &next) const {
  Location loc = op->getLoc();
  auto type = cast<MemRefType>(buffer.getType());
  PassedLayout layout(buffer);
  SmallVector<Value> openSizes;
  SmallVector<OpFoldResult> sizes, strides;
  for (int64_t size : type.getShape()) {
    bool isOpen = ShapedType::isDynamic(size);
    if (isOpen)
      openSizes.push_back(*next++);
    sizes.push_back(isOpen ? OpFoldResult(openSizes.back()) : builder.getIndexAttr(size));
  }
  if (!layout.isStrided || layout.rowStride)
    return kernels::createArgumentBuffer(builder, loc, type, pointer, openSizes,
                                         layout.rowStride ? Value(*next++) : Value());
  auto [staticStrides, offset] = type.getStridesAndOffset();
  for (int64_t stride : staticStrides)
    strides.push_back(ShapedType::isDynamic(stride) ? OpFoldResult(*next++) : builder.getIndexAttr(stride));
  auto atStart = StridedLayoutAttr::get(builder.getContext(), /*offset=*/0, staticStrides);
  auto there = MemRefType::get(type.getShape(), type.getElementType(), atStart, type.getMemorySpace());
  Value element = kernels::createArgumentBuffer(builder, loc, MemRefType::get({}, type.getElementType()), pointer, {});
  return memref::ReinterpretCastOp::create(builder, loc, there, element, OpFoldResult(builder.getIndexAttr(0)), sizes,
                                           strides);
}

OwningOpRef<func::FuncOp> OutlinedOp::buildFunction() const {
  Location loc = op->getLoc();
  OpBuilder builder(op->getContext());
  StringRef base = getEnclosing().getName();
  base.consume_back(".impl");
  OwningOpRef<func::FuncOp> function = func::FuncOp::create(loc, (base + (isKernel() ? "__kernel" : "__loops")).str(),
                                                            builder.getFunctionType(getArgumentTypes(), {}));
  function->setPrivate();
  // Where it were inlined, each place would be compiled again.
  (*function)->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  Block *entry = function->addEntryBlock();
  builder.setInsertionPointToStart(entry);
  unsigned first = context ? 1 : 0;
  markPointers(*function, first);
  llvm::DenseMap<Value, Value> pointers;
  for (auto [index, start] : llvm::enumerate(starts))
    pointers[start] = entry->getArgument(first + index);
  IRMapping mapping;
  Block::args_iterator next = entry->args_begin() + first + starts.size();
  for (Value buffer : buffers)
    mapping.map(buffer, rebuild(builder, buffer, pointers.lookup(kernels::skipReshapes(buffer)), next));
  for (Value scalar : scalars)
    mapping.map(scalar, castTo(builder, loc, scalar.getType(), *next++));
  for (Value constant : constants)
    mapping.map(constant, builder.clone(*constant.getDefiningOp())->getResult(0));
  builder.clone(*op, mapping)->setDiscardableAttrs(builder.getDictionaryAttr({}));
  func::ReturnOp::create(builder, loc);
  return function;
}

void OutlinedOp::replaceByCall(func::FuncOp function) {
  OpBuilder builder(op);
  SmallVector<Value> arguments = getArguments(builder);
  func::CallOp::create(builder, op->getLoc(), function, arguments);
  op->erase();
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
struct OutlineOps : public cpu::impl::OutlineOpsBase<OutlineOps> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    kernels::EqualFunctions functions(symbols);
    std::vector<std::pair<OutlinedOp, func::FuncOp>> found;
    llvm::DenseMap<Operation *, unsigned> uses;
    getOperation().walk([&](Operation *op) {
      if (std::optional<OutlinedOp> outlined = OutlinedOp::find(op)) {
        func::FuncOp function = functions.add(outlined->buildFunction());
        found.emplace_back(*outlined, function);
        ++uses[function];
      }
    });
    SetVector<func::FuncOp> changed;
    for (auto &[outlined, function] : found) {
      if (outlined.isKernel() && uses.lookup(function) == 1)
        continue;
      changed.insert(outlined.getEnclosing());
      functions.insert(function, outlined.getEnclosing());
      outlined.replaceByCall(function);
    }
    for (func::FuncOp function : changed)
      eraseDeadOps(function);
  }
};
} // namespace
