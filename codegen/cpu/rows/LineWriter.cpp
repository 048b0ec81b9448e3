// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a writer is a line and the addresses of the first byte that waits and of the one that would follow the
// last. All that waits lies in one line of memory, at the same place of the line in the state.

#include "codegen/cpu/rows/LineWriter.h"

#include "codegen/builder/Code.h"
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
  WriterBody(Code &code, Value state, const CPUTarget &target)
      : code(code), state(state), vectorBits(target.vectorBits), masksBytes(target.isX86 && target.maskedBits == 16) {}

  void emitFlush();
  void emitWrite(func::FuncOp flush, Value to, Value from, Value bytes);

private:
  Value offset(Value pointer, Value bytes) { return code.at(pointer, code.getI8Type(), bytes); }
  Value loadPointer(int64_t place) {
    return code.create<LLVM::LoadOp>(state.getType(), offset(state, code.constant(place)));
  }
  void storePointer(Value pointer, int64_t place) {
    code.create<LLVM::StoreOp>(pointer, offset(state, code.constant(place)));
  }
  void move(Type type, Value to, Value from, bool nonTemporal = false);
  void moveLine(Value to, Value from, bool nonTemporal);
  void moveBytes(Value to, Value from, Value count);
  void moveUnderMask(Value to, Value place, Value count);

  Code &code;
  Value state;
  unsigned vectorBits;
  bool masksBytes; // the extension of AVX-512 that masks elements of 16 bits does so with those of 8
};

} // namespace

void WriterBody::move(Type type, Value to, Value from, bool nonTemporal) {
  Value value = code.create<LLVM::LoadOp>(type, from, /*alignment=*/1);
  unsigned alignment = nonTemporal ? vectorBits / 8 : 1;
  code.create<LLVM::StoreOp>(value, to, alignment, /*isVolatile=*/false, nonTemporal);
}

/// 64 bytes, to an aligned address if past the cache.
void WriterBody::moveLine(Value to, Value from, bool nonTemporal) {
  int64_t step = vectorBits / 8;
  for (int64_t first = 0; first < kLineBytes; first += step)
    move(VectorType::get(step, code.getI8Type()), offset(to, code.constant(first)), offset(from, code.constant(first)),
         nonTemporal);
}

/// Fewer than 64 bytes, and no others: by the bits of their number.
void WriterBody::moveBytes(Value to, Value from, Value count) {
  Value done = code.constant(0);
  for (int64_t size = kLineBytes / 2; size > 0; size /= 2) {
    Type type = code.getIntegerType(8 * std::min<int64_t>(size, 8));
    if (size > 8)
      type = VectorType::get(size, code.getI8Type());
    Value bit = code.both(count, size);
    code.choose(code.compare(arith::CmpIPredicate::ne, bit, 0),
                [&] { move(type, offset(to, done), offset(from, done)); });
    done = code.add(done, bit);
  }
}

/// Moves bytes that wait, under a mask within their line: one store, and none across the end of a page.
void WriterBody::moveUnderMask(Value to, Value place, Value count) {
  Value ones = code.subtract(code.shiftLeft(1, count), code.constant(1));
  Value bits = code.shiftLeft(ones, place);
  Value lanes = code.create<LLVM::BitcastOp>(VectorType::get(kLineBytes, code.getI1Type()), bits);
  auto type = VectorType::get(kLineBytes, code.getI8Type());
  Value line = code.create<LLVM::LoadOp>(type, state, /*alignment=*/kLineBytes);
  code.create<LLVM::MaskedStoreOp>(line, offset(to, code.subtract(0, place)), lanes, kLineBytes);
}

void WriterBody::emitFlush() {
  Value begin = loadPointer(kBeginOffset), end = loadPointer(kEndOffset), address = code.toInteger(begin);
  Value count = code.subtract(code.toInteger(end), address), place = code.both(address, kLineBytes - 1);
  code.choose(
      code.isEqual(count, kLineBytes), [&] { moveLine(begin, state, /*nonTemporal=*/true); },
      [&] { masksBytes ? moveUnderMask(begin, place, count) : moveBytes(begin, offset(state, place), count); });
  storePointer(end, kBeginOffset);
}

void WriterBody::emitWrite(func::FuncOp flush, Value to, Value from, Value bytes) {
  auto emitFlushCall = [&] { code.create<func::CallOp>(flush, state); };
  Value address = code.toInteger(to);
  code.choose(code.compare(arith::CmpIPredicate::ne, code.toInteger(loadPointer(kEndOffset)), address), [&] {
    emitFlushCall();
    storePointer(to, kBeginOffset);
    storePointer(to, kEndOffset);
  });
  // The rest of the line that is waiting, or of the one that `to` lies in.
  Value gap = code.both(code.subtract(0, address), kLineBytes - 1);
  Value head = code.create<arith::MinUIOp>(gap, bytes);
  code.choose(code.compare(arith::CmpIPredicate::ne, gap, 0), [&] {
    moveLine(offset(state, code.both(address, kLineBytes - 1)), from, /*nonTemporal=*/false);
    storePointer(offset(to, head), kEndOffset);
    code.choose(code.isEqual(head, gap), emitFlushCall);
  });
  Value rest = code.subtract(bytes, head), fullEnd = code.add(head, code.both(rest, -kLineBytes));
  code.rolledLoop(head, fullEnd, kLineBytes,
                  [&](Value first) { moveLine(offset(to, first), offset(from, first), /*nonTemporal=*/true); });
  code.choose(code.compare(arith::CmpIPredicate::ne, rest, 0), [&] {
    moveLine(state, offset(from, fullEnd), /*nonTemporal=*/false);
    storePointer(offset(to, fullEnd), kBeginOffset);
    storePointer(offset(to, bytes), kEndOffset);
  });
}

/// The private function of that name; `build` makes its body at the first call.
static func::FuncOp getFunction(ModuleOp module, Location loc, StringRef name, TypeRange arguments,
                                function_ref<void(Code &, ValueRange)> build) {
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto function = func::FuncOp::create(builder, loc, name, builder.getFunctionType(arguments, {}));
  function.setPrivate();
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline", "no-builtins", kVectorLoopsAttribute}));
  Code code(OpBuilder::atBlockBegin(function.addEntryBlock()), loc);
  build(code, function.getArguments());
  code.create<func::ReturnOp>();
  return function;
}

static func::FuncOp getFlush(ModuleOp module, Location loc, const CPUTarget &target) {
  Type pointer = LLVM::LLVMPointerType::get(module.getContext());
  return getFunction(module, loc, kFlushName, pointer,
                     [&](Code &code, ValueRange arguments) { WriterBody(code, arguments[0], target).emitFlush(); });
}

static func::FuncOp getWrite(ModuleOp module, Location loc, const CPUTarget &target) {
  func::FuncOp flush = getFlush(module, loc, target);
  Type pointer = LLVM::LLVMPointerType::get(module.getContext()), number = IntegerType::get(module.getContext(), 64);
  return getFunction(
      module, loc, kWriteName, {pointer, pointer, pointer, number}, [&](Code &code, ValueRange arguments) {
        WriterBody(code, arguments[0], target).emitWrite(flush, arguments[1], arguments[2], arguments[3]);
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
