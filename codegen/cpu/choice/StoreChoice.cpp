// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conditions on sizes and addresses. Sizes of caches are asked of an x86 processor when code runs: CPUID leaves 4
// (Intel) and 0x8000001D (AMD) have one sub-leaf per cache, from the first level on, both of one form.

#include "codegen/cpu/choice/StoreChoice.h"

#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/cpu/choice/ProcessorQuery.h"
#include "codegen/kernels/CallerContext.h"
#include "codegen/kernels/DisjointBuffers.h"
#include "codegen/kernels/ElementMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

namespace {

/// Bytes (i64).
struct CacheBytes {
  /// Of the second level, which a core has for itself; 1 MiB where the processor does not say.
  Value second;
  /// Of the last level, as the processor reports it: a virtual machine may have a part of it only. 32 MiB where the
  /// processor does not say.
  Value last;
};

} // namespace

// With a dot, which no function of a program has in its name.
static constexpr llvm::StringLiteral kFunctionName = "resid.ask_caches";
static constexpr llvm::StringLiteral kSecondName = "resid.second_cache_bytes", kLastName = "resid.last_cache_bytes";
static constexpr int64_t kUnknownSecond = int64_t(1) << 20, kUnknownLast = int64_t(32) << 20;
/// No processor has more caches on the way to memory, instruction caches included.
static constexpr int64_t kMostCaches = 8;

namespace {

struct CacheQuery {
  OpBuilder &builder;
  Location loc;

  Value constant(int64_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value cpuid(Value leaf, Value subleaf, CPUIDRegister which) {
    return emitRegister(builder, loc, emitCPUID(builder, loc, leaf, subleaf), which);
  }
  /// Bits [low, low + count) of a register.
  Value field(Value word, unsigned low, unsigned count) {
    Value shifted = arith::ShRUIOp::create(builder, loc, word, constant(low));
    return arith::AndIOp::create(builder, loc, shifted, constant((int64_t(1) << count) - 1));
  }
  /// A field that counts from 1, as i64.
  Value factor(Value word, unsigned low, unsigned count) {
    Value wide = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), field(word, low, count));
    return arith::AddIOp::create(builder, loc, wide, constant64(1));
  }
  Value constant64(int64_t value) { return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value)); }
  Value orElse(Value bytes, int64_t unknown) {
    Value isUnknown = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, bytes, constant64(0));
    return arith::SelectOp::create(builder, loc, isUnknown, constant64(unknown), bytes);
  }
  Value chooseLeaf();
  CacheBytes emitSizes();
};

} // namespace

/// The leaf of caches that the processor has: AMD's where its sub-leaves are announced (bit 22 of 0x80000001), else
/// Intel's, else one that describes no cache.
Value CacheQuery::chooseLeaf() {
  Value none = constant(0), extended = constant(0x80000000);
  auto isAtLeast = [&](Value last, int64_t leaf) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, last, constant(leaf));
  };
  Value hasIntel = isAtLeast(cpuid(none, none, EAX), 4);
  Value hasAMD = isAtLeast(cpuid(extended, none, EAX), 0x8000001D);
  Value announced = field(cpuid(constant(0x80000001), none, ECX), 22, 1);
  Value isAnnounced = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, announced, none);
  hasAMD = arith::AndIOp::create(builder, loc, hasAMD, isAnnounced);
  Value intel = arith::SelectOp::create(builder, loc, hasIntel, constant(4), extended);
  return arith::SelectOp::create(builder, loc, hasAMD, constant(0x8000001D), intel);
}

/// The caches that keep data; a sub-leaf of type 0 describes none, and so do those after it.
CacheBytes CacheQuery::emitSizes() {
  Value leaf = chooseLeaf();
  Value isCacheLeaf = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, leaf, constant(0x80000000));
  Value known = arith::SelectOp::create(builder, loc, isCacheLeaf, constant64(kMostCaches), constant64(0));
  auto body = [&](OpBuilder &, Location, Value index, ValueRange carried) {
    Value subleaf = arith::TruncIOp::create(builder, loc, builder.getI32Type(), index);
    Value words = emitCPUID(builder, loc, leaf, subleaf), kind = emitRegister(builder, loc, words, EAX);
    Value layout = emitRegister(builder, loc, words, EBX), sets = emitRegister(builder, loc, words, ECX);
    Value bytes = arith::MulIOp::create(builder, loc, factor(layout, 22, 10), factor(layout, 12, 10));
    bytes = arith::MulIOp::create(builder, loc, bytes, factor(layout, 0, 12));
    bytes = arith::MulIOp::create(builder, loc, bytes, factor(sets, 0, 32));
    // Type 1: data, 3: both; 0: no cache, 2: instructions.
    Value isData = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, field(kind, 0, 1), constant(0));
    Value counted = arith::SelectOp::create(builder, loc, isData, bytes, constant64(0));
    Value isSecond = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, field(kind, 5, 3), constant(2));
    Value ofSecond = arith::SelectOp::create(builder, loc, isSecond, counted, constant64(0));
    scf::YieldOp::create(builder, loc,
                         ValueRange{arith::MaxUIOp::create(builder, loc, carried[0], ofSecond),
                                    arith::MaxUIOp::create(builder, loc, carried[1], counted)});
  };
  SmallVector<Value> none = {constant64(0), constant64(0)};
  auto loop = scf::ForOp::create(builder, loc, constant64(0), known, constant64(1), none, body);
  return {orElse(loop.getResult(0), kUnknownSecond), orElse(loop.getResult(1), kUnknownLast)};
}

static Value loadState(OpBuilder &builder, Location loc, StringRef name) {
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  Value address = LLVM::AddressOfOp::create(builder, loc, pointerType, name);
  return LLVM::LoadOp::create(builder, loc, builder.getI64Type(), address, /*alignment=*/8, false, false, false, false,
                              LLVM::AtomicOrdering::acquire);
}

static void storeState(OpBuilder &builder, Location loc, StringRef name, Value bytes) {
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  Value address = LLVM::AddressOfOp::create(builder, loc, pointerType, name);
  LLVM::StoreOp::create(builder, loc, bytes, address, /*alignment=*/8, false, false, false,
                        LLVM::AtomicOrdering::release);
}

/// The function that asks, and keeps the answers in globals. Threads may race to store them: all store the same. The
/// last level is stored last, since who finds it there reads the other one too.
static func::FuncOp createFunction(ModuleOp module, Location loc) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  // A global is 0 before the processor was asked.
  for (StringRef name : {kSecondName, kLastName})
    LLVM::GlobalOp::create(builder, loc, builder.getI64Type(), /*isConstant=*/false, LLVM::Linkage::Internal, name,
                           builder.getI64IntegerAttr(0), /*alignment=*/8);
  auto function = func::FuncOp::create(builder, loc, kFunctionName, builder.getFunctionType({}, {}));
  function.setPrivate();
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline", "cold", cpu::kOnceAttribute}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  CacheBytes bytes = CacheQuery{builder, loc}.emitSizes();
  storeState(builder, loc, kSecondName, bytes.second);
  storeState(builder, loc, kLastName, bytes.last);
  func::ReturnOp::create(builder, loc);
  return function;
}

/// The function that asks is added to the module once; it asks once per loaded object.
static CacheBytes emitCacheBytes(OpBuilder &builder, Location loc, ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>(kFunctionName);
  if (!function)
    function = createFunction(module, loc);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
  Value isNew = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, loadState(builder, loc, kLastName), zero);
  scf::IfOp::create(builder, loc, isNew, [&](OpBuilder &inner, Location place) {
    func::CallOp::create(inner, place, function);
    scf::YieldOp::create(inner, place);
  });
  return {loadState(builder, loc, kSecondName), loadState(builder, loc, kLastName)};
}

namespace {

struct ChoiceBuilder {
  OpBuilder &builder;
  Location loc;
  const KernelAddresses &addresses;

  Value constant(int64_t value) { return constantI64(builder, loc, value); }
  Value both(Value a, Value b) { return arith::AndIOp::create(builder, loc, a, b); }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  Value toInteger(Value pointer) { return LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), pointer); }
  Value fits(int64_t columns) { return compare(arith::CmpIPredicate::sle, addresses.width, constant(columns)); }
  Value isAtLeast(int64_t columns) { return compare(arith::CmpIPredicate::sge, addresses.width, constant(columns)); }
  Value toBytes(const OperandAddress &operand, Value elements) {
    return arith::MulIOp::create(builder, loc, elements, constant(kernels::getElementBytes(operand.elementType)));
  }

  /// Whether every row of the operand begins at a cache line.
  Value isAligned(const OperandAddress &operand) {
    Value bits = toInteger(operand.pointer);
    SmallVector<Value> strides = llvm::map_to_vector(operand.strides, [](const auto &entry) { return entry.second; });
    if (operand.linearStride)
      strides.push_back(operand.linearStride);
    for (Value stride : strides)
      bits = arith::OrIOp::create(builder, loc, bits, toBytes(operand, stride));
    Value rest = arith::AndIOp::create(builder, loc, bits, constant(kLineBytes - 1));
    return compare(arith::CmpIPredicate::eq, rest, constant(0));
  }

  bool hasNarrowElements(const StreamedRows &rows) const {
    return llvm::any_of(rows.getOperands(), [&](unsigned operand) {
      return kernels::getElementBytes(addresses.operands[operand].elementType) < 4;
    });
  }

  /// Copying rows in whole lines costs time per row; rows in batches wait for memory less, so there it pays later.
  int64_t getLeastUnalignedColumns(const StreamedRows &rows, bool isBatched, const ScheduleTable &table) const {
    if (!isBatched)
      return table.unalignedColumns;
    return hasNarrowElements(rows) ? table.batchedUnalignedNarrowColumns : table.batchedUnalignedColumns;
  }

  Value computeWrittenBytes(const StreamedRows &rows) {
    Value bytes = constant(0);
    for (unsigned operand : rows.getOperands())
      bytes = arith::AddIOp::create(builder, loc, bytes, toBytes(addresses.operands[operand], addresses.width));
    return arith::MulIOp::create(builder, loc, bytes, addresses.rows);
  }

  /// Whether so much is written that little of it would be in the caches when it is read. The size of the last level
  /// only lowers the limit: a virtual machine may report one that it shares with many others.
  Value isLarge(ModuleOp module, const StreamedRows &rows, const ScheduleTable &table) {
    CacheBytes cache = emitCacheBytes(builder, loc, module);
    Value share = arith::DivUIOp::create(builder, loc, cache.last, constant(table.cacheShare));
    Value limit = arith::MinUIOp::create(builder, loc, share, constant(table.cacheBytes));
    limit = arith::MaxUIOp::create(builder, loc, limit, cache.second);
    return compare(arith::CmpIPredicate::ugt, computeWrittenBytes(rows), limit);
  }

  /// What the caller says, else `otherwise`.
  Value followHints(Value context, Value otherwise) {
    Value known = arith::ConstantIntOp::create(builder, loc, RESID_HINT_READ_SOON | RESID_HINT_STREAM, 32);
    Value always = arith::ConstantIntOp::create(builder, loc, 1, 1);
    Value given = loadMemberIf(builder, loc, always, builder.getI32Type(), context, Hints);
    Value hints = arith::AndIOp::create(builder, loc, given, known);
    auto isHint = [&](int32_t hint) {
      return compare(arith::CmpIPredicate::eq, hints, arith::ConstantIntOp::create(builder, loc, hint, 32));
    };
    Value isNotSoon = arith::XOrIOp::create(builder, loc, isHint(RESID_HINT_READ_SOON), always);
    return arith::OrIOp::create(builder, loc, isHint(RESID_HINT_STREAM), both(otherwise, isNotSoon));
  }
};

} // namespace

Value cpu::emitAlignment(OpBuilder &builder, Location loc, const KernelAddresses &addresses,
                         ArrayRef<unsigned> operands) {
  ChoiceBuilder choice{builder, loc, addresses};
  Value aligned = arith::ConstantIntOp::create(builder, loc, 1, 1);
  for (unsigned operand : operands)
    aligned = choice.both(aligned, choice.isAligned(addresses.operands[operand]));
  return aligned;
}

Value cpu::emitStoreChoice(OpBuilder &builder, ModuleOp module, rows::KernelOp kernel, const KernelAddresses &addresses,
                           const StreamedRows &rows, const Schedule &schedule, const KernelPlan &plan, bool isReadSoon,
                           Value context) {
  ChoiceBuilder choice{builder, kernel.getLoc(), addresses};
  Value useStream = arith::ConstantIntOp::create(builder, choice.loc, 1, 1);
  if (schedule.stores == StoreKind::Auto) {
    useStream = isReadSoon ? arith::ConstantIntOp::create(builder, choice.loc, 0, 1)
                           : choice.isLarge(module, rows, schedule.table);
    SmallVector<Value> buffers(kernel.getInputs());
    llvm::append_range(buffers, kernel.getInits());
    // Temporaries are read by this function itself.
    auto isWrittenForCaller = [&](unsigned operand) { return isOfCaller(buffers[operand]); };
    if (context && llvm::all_of(rows.getOperands(), isWrittenForCaller))
      useStream = choice.followHints(context, useStream);
  }
  Value aligned = emitAlignment(builder, choice.loc, addresses, rows.getOperands());
  Value haveRoom = choice.fits(rows.getStagedCapacity());
  if (schedule.stores == StoreKind::Auto)
    haveRoom = choice.both(
        haveRoom, choice.isAtLeast(choice.getLeastUnalignedColumns(rows, plan.isBatchedPastCache, schedule.table)));
  Value keptHaveRoom = rows.getKept().empty() ? aligned : choice.both(aligned, choice.fits(rows.getCapacity()));
  useStream = choice.both(useStream, arith::OrIOp::create(builder, choice.loc, haveRoom, keptHaveRoom));
  if (schedule.stores != StoreKind::Auto)
    return useStream;
  // The version for this is not batched then, and narrow types gain more by that.
  if (plan.isBatched && plan.isPipelined() && choice.hasNarrowElements(rows))
    useStream = choice.both(useStream, choice.isAtLeast(schedule.table.batchedUnalignedNarrowColumns));
  // In place, the line that a plain store needs was just read.
  for (unsigned operand : rows.getOperands())
    for (unsigned input = 0; input < kernel.getInputs().size(); ++input)
      if (kernel.isAlongColumns(input)) {
        Value apart = choice.compare(arith::CmpIPredicate::ne, choice.toInteger(addresses.operands[operand].pointer),
                                     choice.toInteger(addresses.operands[input].pointer));
        useStream = choice.both(useStream, apart);
      }
  return useStream;
}
