// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a writer is a line and the addresses of the first byte that waits and of the one that would follow the
// last. All that waits lies in one line of memory, at the same place of the line in the state.

#include "codegen/cpu/rows/LineWriter.h"

#include "codegen/cpu/rows/LaneLoops.h"
#include "codegen/rows/RowAddressing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

static constexpr llvm::StringLiteral kWriteName = "resid.write_lines", kFlushName = "resid.flush_line";
static constexpr int64_t kBeginOffset = 2 * kLineBytes, kEndOffset = kBeginOffset + 8;
static_assert(kEndOffset + 8 == kLineWriterBytes);

namespace {

/// Emits the bodies of the two functions, whose first argument is the state.
class WriterBody {
public:
  WriterBody(OpBuilder &builder, Location loc, Value state, const CPUTarget &target)
      : builder(builder), loc(loc), state(state), vectorBits(target.vectorBits),
        masksBytes(target.isX86 && target.maskedBits == 16) {}

  void emitFlush();
  void emitWrite(func::FuncOp flush, Value to, Value from, Value bytes);

private:
  Value constant(int64_t value) { return constantI64(builder, loc, value); }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
  Value subtract(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
  Value mask(Value a, int64_t bits) { return arith::AndIOp::create(builder, loc, a, constant(bits)); }
  Value isEqual(Value a, Value b) { return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a, b); }
  Value isOther(Value a, Value b) { return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, a, b); }
  Value toInteger(Value pointer) { return LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), pointer); }
  Value offset(Value pointer, Value bytes) {
    return LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(), pointer, ValueRange(bytes));
  }
  Value loadPointer(int64_t place) {
    return LLVM::LoadOp::create(builder, loc, state.getType(), offset(state, constant(place)));
  }
  void storePointer(Value pointer, int64_t place) {
    LLVM::StoreOp::create(builder, loc, pointer, offset(state, constant(place)));
  }
  void emitIf(Value condition, function_ref<void()> then, function_ref<void()> otherwise = {});
  void move(Type type, Value to, Value from, bool nonTemporal = false);
  void moveLine(Value to, Value from, bool nonTemporal);
  void moveBytes(Value to, Value from, Value count);
  void moveUnderMask(Value to, Value place, Value count);

  OpBuilder &builder;
  Location loc;
  Value state;
  unsigned vectorBits;
  bool masksBytes; // the extension of AVX-512 that masks elements of 16 bits does so with those of 8
};

} // namespace

void WriterBody::emitIf(Value condition, function_ref<void()> then, function_ref<void()> otherwise) {
  auto choice = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/bool(otherwise));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  then();
  if (!otherwise)
    return;
  builder.setInsertionPointToStart(choice.elseBlock());
  otherwise();
}

void WriterBody::move(Type type, Value to, Value from, bool nonTemporal) {
  Value value = LLVM::LoadOp::create(builder, loc, type, from, /*alignment=*/1);
  unsigned alignment = nonTemporal ? vectorBits / 8 : 1;
  LLVM::StoreOp::create(builder, loc, value, to, alignment, /*isVolatile=*/false, nonTemporal);
}

/// 64 bytes, to an aligned address if past the cache.
void WriterBody::moveLine(Value to, Value from, bool nonTemporal) {
  int64_t step = vectorBits / 8;
  for (int64_t first = 0; first < kLineBytes; first += step)
    move(VectorType::get(step, builder.getI8Type()), offset(to, constant(first)), offset(from, constant(first)),
         nonTemporal);
}

/// Fewer than 64 bytes, and no others: by the bits of their number.
void WriterBody::moveBytes(Value to, Value from, Value count) {
  Value done = constant(0);
  for (int64_t size = kLineBytes / 2; size > 0; size /= 2) {
    Type type = builder.getIntegerType(8 * std::min<int64_t>(size, 8));
    if (size > 8)
      type = VectorType::get(size, builder.getI8Type());
    Value bit = mask(count, size);
    emitIf(isOther(bit, constant(0)), [&] { move(type, offset(to, done), offset(from, done)); });
    done = add(done, bit);
  }
}

/// Moves bytes that wait, under a mask within their line: one store, and none across the end of a page.
void WriterBody::moveUnderMask(Value to, Value place, Value count) {
  Value ones = subtract(arith::ShLIOp::create(builder, loc, constant(1), count), constant(1));
  Value bits = arith::ShLIOp::create(builder, loc, ones, place);
  Value lanes = LLVM::BitcastOp::create(builder, loc, VectorType::get(kLineBytes, builder.getI1Type()), bits);
  auto type = VectorType::get(kLineBytes, builder.getI8Type());
  Value line = LLVM::LoadOp::create(builder, loc, type, state, /*alignment=*/kLineBytes);
  LLVM::MaskedStoreOp::create(builder, loc, line, offset(to, subtract(constant(0), place)), lanes, kLineBytes);
}

void WriterBody::emitFlush() {
  Value begin = loadPointer(kBeginOffset), end = loadPointer(kEndOffset), address = toInteger(begin);
  Value count = subtract(toInteger(end), address), place = mask(address, kLineBytes - 1);
  emitIf(
      isEqual(count, constant(kLineBytes)), [&] { moveLine(begin, state, /*nonTemporal=*/true); },
      [&] { masksBytes ? moveUnderMask(begin, place, count) : moveBytes(begin, offset(state, place), count); });
  storePointer(end, kBeginOffset);
}

void WriterBody::emitWrite(func::FuncOp flush, Value to, Value from, Value bytes) {
  auto emitFlushCall = [&] { func::CallOp::create(builder, loc, flush, state); };
  Value zero = constant(0), address = toInteger(to);
  emitIf(isOther(toInteger(loadPointer(kEndOffset)), address), [&] {
    emitFlushCall();
    storePointer(to, kBeginOffset);
    storePointer(to, kEndOffset);
  });
  // The rest of the line that is waiting, or of the one that `to` lies in.
  Value gap = mask(subtract(zero, address), kLineBytes - 1);
  Value head = arith::MinUIOp::create(builder, loc, gap, bytes);
  emitIf(isOther(gap, zero), [&] {
    moveLine(offset(state, mask(address, kLineBytes - 1)), from, /*nonTemporal=*/false);
    storePointer(offset(to, head), kEndOffset);
    emitIf(isEqual(head, gap), emitFlushCall);
  });
  Value rest = subtract(bytes, head), fullEnd = add(head, mask(rest, -kLineBytes));
  LaneLoops(builder, loc, 1).emitLoop(head, fullEnd, kLineBytes, [&](Value first) {
    moveLine(offset(to, first), offset(from, first), /*nonTemporal=*/true);
  });
  emitIf(isOther(rest, zero), [&] {
    moveLine(state, offset(from, fullEnd), /*nonTemporal=*/false);
    storePointer(offset(to, fullEnd), kBeginOffset);
    storePointer(offset(to, bytes), kEndOffset);
  });
}

/// The private function of that name; `build` makes its body at the first call.
static func::FuncOp getFunction(ModuleOp module, Location loc, StringRef name, TypeRange arguments,
                                function_ref<void(OpBuilder &, ValueRange)> build) {
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto function = func::FuncOp::create(builder, loc, name, builder.getFunctionType(arguments, {}));
  function.setPrivate();
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline", "no-builtins", kVectorLoopsAttribute}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  build(builder, function.getArguments());
  func::ReturnOp::create(builder, loc);
  return function;
}

static func::FuncOp getFlush(ModuleOp module, Location loc, const CPUTarget &target) {
  Type pointer = LLVM::LLVMPointerType::get(module.getContext());
  return getFunction(module, loc, kFlushName, pointer, [&](OpBuilder &builder, ValueRange arguments) {
    WriterBody(builder, loc, arguments[0], target).emitFlush();
  });
}

static func::FuncOp getWrite(ModuleOp module, Location loc, const CPUTarget &target) {
  func::FuncOp flush = getFlush(module, loc, target);
  Type pointer = LLVM::LLVMPointerType::get(module.getContext()), number = IntegerType::get(module.getContext(), 64);
  return getFunction(
      module, loc, kWriteName, {pointer, pointer, pointer, number}, [&](OpBuilder &builder, ValueRange arguments) {
        WriterBody(builder, loc, arguments[0], target).emitWrite(flush, arguments[1], arguments[2], arguments[3]);
      });
}

LineWriter LineWriter::create(OpBuilder &builder, Location loc, Block *entry, ModuleOp module,
                              const CPUTarget &target) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(entry);
  LineWriter writer;
  writer.module = module;
  writer.target = target;
  auto pointerType = LLVM::LLVMPointerType::get(builder.getContext());
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), kLineWriterBytes);
  writer.state = LLVM::AllocaOp::create(builder, loc, pointerType, type, constantI64(builder, loc, 1), kLineBytes);
  // Nothing waits, and no row follows the state itself.
  for (int64_t place : {kBeginOffset, kEndOffset}) {
    Value address = LLVM::GEPOp::create(builder, loc, pointerType, builder.getI8Type(), writer.state,
                                        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(place)});
    LLVM::StoreOp::create(builder, loc, writer.state, address);
  }
  return writer;
}

void LineWriter::emitWrite(OpBuilder &builder, Location loc, Value to, Value from, Value bytes) const {
  func::CallOp::create(builder, loc, getWrite(module, loc, target), ValueRange{state, to, from, bytes});
}

void LineWriter::emitFlush(OpBuilder &builder, Location loc) const {
  func::CallOp::create(builder, loc, getFlush(module, loc, target), state);
}
