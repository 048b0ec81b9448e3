// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CPUID leaves 4 (Intel) and 0x8000001D (AMD): one sub-leaf per cache, from the first level on, both of one form.

#include "codegen/cpu/choice/CacheSize.h"

#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/cpu/choice/ProcessorQuery.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

// With a dot, which no function of a program has in its name.
static constexpr llvm::StringLiteral kFunctionName = "resid.last_cache_bytes", kStateName = "resid.last_cache_state";
static constexpr int64_t kUnknownBytes = int64_t(32) << 20;
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
  Value chooseLeaf();
  Value emitLargest();
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

/// The largest cache that keeps data; a sub-leaf of type 0 describes none, and so do those after it.
Value CacheQuery::emitLargest() {
  Value leaf = chooseLeaf();
  Value isCacheLeaf = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, leaf, constant(0x80000000));
  Value known = arith::SelectOp::create(builder, loc, isCacheLeaf, constant64(kMostCaches), constant64(0));
  auto body = [&](OpBuilder &, Location, Value index, ValueRange carried) {
    Value subleaf = arith::TruncIOp::create(builder, loc, builder.getI32Type(), index);
    Value words = emitCPUID(builder, loc, leaf, subleaf);
    Value layout = emitRegister(builder, loc, words, EBX), sets = emitRegister(builder, loc, words, ECX);
    Value type = field(emitRegister(builder, loc, words, EAX), 0, 5);
    Value bytes = arith::MulIOp::create(builder, loc, factor(layout, 22, 10), factor(layout, 12, 10));
    bytes = arith::MulIOp::create(builder, loc, bytes, factor(layout, 0, 12));
    bytes = arith::MulIOp::create(builder, loc, bytes, factor(sets, 0, 32));
    // 1: data, 3: both; 0: no cache, 2: instructions.
    Value isData = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, field(type, 0, 1), constant(0));
    Value counted = arith::SelectOp::create(builder, loc, isData, bytes, constant64(0));
    scf::YieldOp::create(builder, loc, arith::MaxUIOp::create(builder, loc, carried.front(), counted).getResult());
  };
  auto loop = scf::ForOp::create(builder, loc, constant64(0), known, constant64(1), ValueRange(constant64(0)), body);
  Value isUnknown = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, loop.getResult(0), constant64(0));
  return arith::SelectOp::create(builder, loc, isUnknown, constant64(kUnknownBytes), loop.getResult(0));
}

/// The function that asks, and keeps the answer in the global. Threads may race to store it: all store the same.
static void buildFunction(func::FuncOp function, LLVM::GlobalOp global) {
  OpBuilder builder = OpBuilder::atBlockBegin(function.addEntryBlock());
  Location loc = function.getLoc();
  Value bytes = CacheQuery{builder, loc}.emitLargest();
  Value address = LLVM::AddressOfOp::create(builder, loc, global);
  LLVM::StoreOp::create(builder, loc, bytes, address, /*alignment=*/8, false, false, false,
                        LLVM::AtomicOrdering::monotonic);
  func::ReturnOp::create(builder, loc, bytes);
}

/// The global is 0 before the processor was asked.
static func::FuncOp createFunction(ModuleOp module, Location loc) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto global = LLVM::GlobalOp::create(builder, loc, builder.getI64Type(), /*isConstant=*/false,
                                       LLVM::Linkage::Internal, kStateName, builder.getI64IntegerAttr(0),
                                       /*alignment=*/8);
  FunctionType type = builder.getFunctionType({}, {builder.getI64Type()});
  auto function = func::FuncOp::create(builder, loc, kFunctionName, type);
  function.setPrivate();
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline", "cold", cpu::kOnceAttribute}));
  buildFunction(function, global);
  return function;
}

Value cpu::emitLastCacheBytes(OpBuilder &builder, Location loc, ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>(kFunctionName);
  if (!function)
    function = createFunction(module, loc);
  Type i64 = builder.getI64Type();
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  Value address = LLVM::AddressOfOp::create(builder, loc, pointerType, kStateName);
  Value stored = LLVM::LoadOp::create(builder, loc, i64, address, /*alignment=*/8, false, false, false, false,
                                      LLVM::AtomicOrdering::monotonic);
  Value isNew =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, stored, CacheQuery{builder, loc}.constant64(0));
  auto choice = scf::IfOp::create(builder, loc, i64, isNew, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, loc, func::CallOp::create(builder, loc, function).getResults());
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, stored);
  return choice.getResult(0);
}
