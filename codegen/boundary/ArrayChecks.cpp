// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/boundary/ArrayChecks.h"

#include "codegen/boundary/ArrayTable.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace mlir::resid::boundary;

using Predicate = arith::CmpIPredicate;

/// Overlaps of up to this many pairs are looked for one by one, in straight code, which is the fastest way for few; of
/// more in a table (shared/Arrays.c), whose code does not grow with their number.
static constexpr size_t kMostPairs = 1024;
/// Words of the stack that checks may take in all.
static constexpr int64_t kMostStackWords = 7680;

/// The codes of the sizes that are known at run time only, each once.
static SmallVector<int64_t> getOpenSizes(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> open = llvm::filter_to_vector(shape, [](int64_t code) { return code < 0; });
  llvm::sort(open);
  open.erase(llvm::unique(open), open.end());
  return open;
}

void ArrayChecks::emit() {
  if (isTabled() && entry.words) {
    entry.storeAddresses();
    entry.hasAddresses = true;
  }
  checkPointers();
  checkSizes();
  checkOverlaps();
}

/// That a pointer is null is rare; only then is it asked whether the array has elements.
void ArrayChecks::checkPointers() {
  if (entry.hasAddresses)
    return checkAddresses();
  std::map<SmallVector<int64_t>, Value> nullBySizes;
  for (const EntryParameter &parameter : llvm::concat<const EntryParameter>(arguments, results)) {
    if (!parameter.type->isArray() || llvm::is_contained(parameter.type->shape, 0))
      continue;
    Value &null = nullBySizes[getOpenSizes(parameter.type->shape)];
    Value isNull = entry.isNull(parameter.value);
    null = null ? entry.either(null, isNull) : isNull;
  }
  Value anyNull = entry.truth(false);
  for (Value null : llvm::make_second_range(nullBySizes))
    anyNull = entry.either(anyNull, null);
  Block *closer = entry.addBlock(), *next = entry.addBlock();
  entry.create<cf::CondBranchOp>(anyNull, closer, ValueRange{}, next, ValueRange{});
  entry.setInsertionPointToStart(closer);
  Value fault = entry.truth(false);
  for (const auto &[sizes, null] : nullBySizes) {
    Value hasElements = entry.exclusiveOr(code.isEmpty(sizes), entry.truth(true));
    fault = entry.either(fault, entry.both(null, hasElements));
  }
  entry.create<cf::CondBranchOp>(fault, entry.refuse, ValueRange{entry.constant32(RESID_BAD_POINTER)}, next,
                                 ValueRange{});
  entry.setInsertionPointToStart(next);
}

void ArrayChecks::checkAddresses() {
  ArrayTable table(entry, getArrays(entry));
  Block *closer = entry.addBlock(), *next = entry.addBlock();
  entry.create<cf::CondBranchOp>(table.anyNull(entry.words), closer, ValueRange{}, next, ValueRange{});
  entry.setInsertionPointToStart(closer);
  Value extents = entry.allocateWords(table.getExtentWords());
  table.storeExtents(code, extents, /*isUnchecked=*/true);
  Value found = entry.compare(Predicate::sge, table.findNull(entry.words, extents), entry.constant(0));
  entry.create<cf::CondBranchOp>(found, entry.refuse, ValueRange{entry.constant32(RESID_BAD_POINTER)}, next,
                                 ValueRange{});
  entry.setInsertionPointToStart(next);
}

void ArrayChecks::checkSizes() {
  Value fault = code.faults();
  for (const EntryParameter &parameter : llvm::concat<const EntryParameter>(arguments, results))
    if (parameter.stride)
      fault = entry.either(fault, code.strideFault(*parameter.type, parameter.stride));
  entry.refuseIf(fault, RESID_BAD_SHAPE);
}

SmallVector<ArrayChecks::Range> ArrayChecks::emitRanges(ArrayRef<EntryParameter> arrays) {
  SmallVector<Range> ranges;
  for (const EntryParameter &array : arrays) {
    Range range{&array, code.getSharedShape(*array.type), {}, {}, {}};
    if (array.type->isArray()) {
      range.start = entry.toInteger(array.value);
      range.bytes = code.extent(*array.type, array.stride);
      range.lastByte = entry.subtract(range.bytes, entry.constant(1));
    }
    ranges.push_back(range);
  }
  return ranges;
}

ArrayChecks::PairsBySizes ArrayChecks::collectPairs(ArrayRef<Range> inputs, ArrayRef<Range> outputs) {
  PairsBySizes pairs;
  auto add = [&](const Range &output, const Range &other, bool mayBeEqual) {
    SmallVector<int64_t> both(output.shape);
    llvm::append_range(both, other.shape);
    if (!llvm::is_contained(both, 0))
      pairs[getOpenSizes(both)].push_back({&output, &other, mayBeEqual});
  };
  for (auto [result, output] : llvm::enumerate(outputs)) {
    for (auto [argument, input] : llvm::enumerate(inputs))
      if (input.array->type->isArray())
        add(output, input, signature.mayShareBuffer(result, argument));
    for (const Range &earlier : outputs.take_front(result))
      add(output, earlier, /*mayBeEqual=*/false);
  }
  return pairs;
}

bool ArrayChecks::isTabled() const {
  size_t inputs = llvm::count_if(arguments, [](const EntryParameter &input) { return input.type->isArray(); });
  return results.size() * inputs + results.size() * (results.size() - 1) / 2 > kMostPairs;
}

/// More arrays than the stack has room for are taken in groups, two of which make a table, each with each other one.
void ArrayChecks::checkTables() {
  SmallVector<const EntryParameter *> arrays = getArrays(entry);
  ArrayTable whole(entry, arrays);
  int64_t count = arrays.size(), room = kMostStackWords - ParameterWords(signature).count();
  if (entry.words && whole.getStackWords() <= room) {
    Value stack = entry.allocateWords(whole.getStackWords());
    return entry.branchIf(whole.anyClash(code, entry.words, stack), entry.refuseOverlap);
  }
  if (!entry.words)
    room = kMostStackWords;
  // Of two groups: an address, an end and 32 bits for each array, and as many words of extents as the one with most
  // takes.
  int64_t perGroup =
      std::min<int64_t>((room - 1) / (5 + 2 * whole.getMostExtentWords()), llvm::divideCeil(count, int64_t(2)));
  Value starts = entry.allocateWords(2 * perGroup), stack = entry.allocateWords(room - 2 * perGroup);
  for (int64_t first = 0; first < count; first += perGroup)
    for (int64_t second = first + perGroup; second < count; second += perGroup) {
      SmallVector<const EntryParameter *> two(ArrayRef(arrays).slice(first, perGroup));
      llvm::append_range(two, ArrayRef(arrays).drop_front(second).take_front(perGroup));
      ArrayTable table(entry, two);
      if (table.getOutputs() == 0)
        continue;
      table.storeAddresses(starts);
      entry.branchIf(table.anyClash(code, starts, stack), entry.refuseOverlap);
    }
}

/// An empty array overlaps nothing, wherever its pointer is.
void ArrayChecks::checkOverlaps() {
  if (isTabled())
    return checkTables();
  SmallVector<Range> inputs = emitRanges(arguments), outputs = emitRanges(results);
  for (const auto &[sizes, pairs] : collectPairs(inputs, outputs)) {
    Block *check = entry.addBlock(), *next = entry.addBlock();
    entry.create<cf::CondBranchOp>(code.isEmpty(sizes), next, ValueRange{}, check, ValueRange{});
    entry.setInsertionPointToStart(check);
    Value overlap = entry.truth(false);
    for (const Pair &pair : pairs)
      if (!pair.areStrided())
        overlap = entry.either(overlap, doOverlap(pair));
    entry.branchIf(overlap, entry.refuseOverlap);
    for (const Pair &pair : pairs)
      if (pair.areStrided())
        checkStrided(pair);
    entry.create<cf::BranchOp>(next);
    entry.setInsertionPointToStart(next);
  }
}

/// With a and b the bytes of the two and d the distance from the first to the second, they share a byte where
/// -b < d < a; with b - 1 added to all, which leaves no number below 0, one unsigned comparison says so.
Value ArrayChecks::doOverlap(const Pair &pair) {
  const Range &a = *pair.output, &b = *pair.other;
  Value distance = entry.subtract(b.start, a.start);
  if (pair.mayBeEqual) {
    // The shapes are equal, so with the same first and last element the strides are, if there is more than one row.
    Value isSame = entry.compare(Predicate::eq, distance, entry.constant(0));
    if (a.array->stride || b.array->stride)
      isSame = entry.both(isSame, entry.compare(Predicate::eq, a.bytes, b.bytes));
    distance = entry.select(isSame, a.bytes, distance);
  }
  return entry.compare(Predicate::ult, entry.add(distance, b.lastByte), entry.add(a.bytes, b.lastByte));
}

void ArrayChecks::checkStrided(const Pair &pair) {
  Block *closer = entry.addBlock(), *next = entry.addBlock();
  entry.create<cf::CondBranchOp>(doOverlap(pair), closer, ValueRange{}, next, ValueRange{});
  entry.setInsertionPointToStart(closer);
  entry.create<cf::CondBranchOp>(areInterleaved(*pair.output, *pair.other), next, ValueRange{}, entry.refuseOverlap,
                                 ValueRange{});
  entry.setInsertionPointToStart(next);
}

/// With one stride, and d the distance of the first elements within it: the array that begins first ends its row before
/// the other one's begins, and the other one's ends before the next row.
Value ArrayChecks::areInterleaved(const Range &a, const Range &b) {
  Value isAFirst = entry.compare(Predicate::ult, a.start, b.start);
  auto select = [&](Value ifA, Value ifB) -> Value { return entry.select(isAFirst, ifA, ifB); };
  Value widthOfA = code.rowBytes(*a.array->type), widthOfB = code.rowBytes(*b.array->type);
  Value strideOfA = code.strideBytes(*a.array->type, a.array->stride);
  Value strideOfB = code.strideBytes(*b.array->type, b.array->stride);
  Value distance = entry.subtract(select(b.start, a.start), select(a.start, b.start));
  // Arrays that overlap have elements, so no stride is 0.
  Value shift = entry.remainder(distance, strideOfA);
  Value end = entry.add(shift, select(widthOfB, widthOfA));
  Value apart = entry.both(entry.compare(Predicate::uge, shift, select(widthOfA, widthOfB)),
                           entry.compare(Predicate::ule, end, strideOfA));
  return entry.both(apart, entry.compare(Predicate::eq, strideOfA, strideOfB));
}
