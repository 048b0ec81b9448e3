// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks of arrays; see ArrayChecks.h.

#include "codegen/emit/ArrayChecks.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace mlir::resid::emit;

using Predicate = arith::CmpIPredicate;

void ArrayChecks::emit() {
  checkPointers();
  checkSizes();
  for (auto [index, output] : llvm::enumerate(results)) {
    for (auto [argument, input] : llvm::enumerate(arguments))
      if (input.type->isArray())
        checkOverlap(output, input, signature.mayShareBuffer(index, argument));
    for (const EntryParameter &earlier : results.take_front(index))
      checkOverlap(output, earlier, /*mayBeEqual=*/false);
  }
}

void ArrayChecks::checkPointers() {
  Value fault = code.truth(false);
  for (const EntryParameter &parameter : llvm::concat<const EntryParameter>(arguments, results)) {
    if (!parameter.type->isArray())
      continue;
    Value hasElements =
        arith::XOrIOp::create(entry.builder, entry.loc, code.isEmpty(*parameter.type), code.truth(true));
    fault = code.either(fault, code.both(entry.isNull(parameter.value), hasElements));
  }
  entry.leaveIf(fault, BadPointer);
}

void ArrayChecks::checkSizes() {
  Value fault = code.faults();
  for (const EntryParameter &parameter : llvm::concat<const EntryParameter>(arguments, results))
    if (parameter.stride)
      fault = code.either(fault, code.strideFault(*parameter.type, parameter.stride));
  entry.leaveIf(fault, BadShape);
}

ArrayChecks::Extent ArrayChecks::emitExtent(const EntryParameter &array) {
  Value start = entry.toInteger(array.value), bytes = code.extent(*array.type, array.stride);
  return {start, arith::AddIOp::create(entry.builder, entry.loc, start, bytes)};
}

void ArrayChecks::checkOverlap(const EntryParameter &output, const EntryParameter &other, bool mayBeEqual) {
  Extent a = emitExtent(output), b = emitExtent(other);
  Value overlap = code.both(code.compare(Predicate::ult, a.start, b.end), code.compare(Predicate::ult, b.start, a.end));
  // An empty array overlaps nothing, wherever its pointer is.
  overlap = code.both(overlap, code.compare(Predicate::ne, a.start, a.end));
  overlap = code.both(overlap, code.compare(Predicate::ne, b.start, b.end));
  if (mayBeEqual) {
    // The shapes are equal, so with the same first and last element the strides are, if there is more than one row.
    Value differ = code.compare(Predicate::ne, a.start, b.start);
    if (output.stride || other.stride)
      differ = code.either(differ, code.compare(Predicate::ne, a.end, b.end));
    overlap = code.both(overlap, differ);
  }
  if (!output.stride || !other.stride)
    return entry.leaveIf(overlap, Alias);
  Block *closer = entry.addBlock(), *next = entry.addBlock();
  cf::CondBranchOp::create(entry.builder, entry.loc, overlap, closer, ValueRange{}, next, ValueRange{});
  entry.builder.setInsertionPointToStart(closer);
  cf::CondBranchOp::create(entry.builder, entry.loc, areInterleaved(output, other), next, ValueRange{}, entry.leave,
                           ValueRange{entry.constant32(Alias)});
  entry.builder.setInsertionPointToStart(next);
}

/// With one stride, and d the distance of the first elements within it: the array that begins first ends its row before
/// the other one's begins, and the other one's ends before the next row.
Value ArrayChecks::areInterleaved(const EntryParameter &a, const EntryParameter &b) {
  OpBuilder &builder = entry.builder;
  Location loc = entry.loc;
  Value startOfA = entry.toInteger(a.value), startOfB = entry.toInteger(b.value);
  Value isAFirst = code.compare(Predicate::ult, startOfA, startOfB);
  auto select = [&](Value ifA, Value ifB) -> Value {
    return arith::SelectOp::create(builder, loc, isAFirst, ifA, ifB);
  };
  Value widthOfA = code.rowBytes(*a.type), widthOfB = code.rowBytes(*b.type);
  Value strideOfA = code.strideBytes(*a.type, a.stride), strideOfB = code.strideBytes(*b.type, b.stride);
  Value distance = arith::SubIOp::create(builder, loc, select(startOfB, startOfA), select(startOfA, startOfB));
  // Arrays that overlap have elements, so no stride is 0.
  Value shift = arith::RemUIOp::create(builder, loc, distance, strideOfA);
  Value end = arith::AddIOp::create(builder, loc, shift, select(widthOfB, widthOfA));
  Value apart = code.both(code.compare(Predicate::uge, shift, select(widthOfA, widthOfB)),
                          code.compare(Predicate::ule, end, strideOfA));
  return code.both(apart, code.compare(Predicate::eq, strideOfA, strideOfB));
}
