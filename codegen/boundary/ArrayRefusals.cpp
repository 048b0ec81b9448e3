// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/boundary/ArrayRefusals.h"

#include "codegen/boundary/ArrayTable.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace mlir::resid::boundary;

using Predicate = arith::CmpIPredicate;

namespace {

class RefusalBuilder : EntryCode {
public:
  using EntryCode::EntryCode;

  void build();

private:
  void readWords();
  void refuseNull();
  void refuseSizes();
  void refuseSize(unsigned index);
  void refuseEqualities(ArraySizes &code);
  void refuseDerived(ArraySizes &code);
  void refuseBytes(ArraySizes &code, const EntryParameter &array);
  void refuseStride(ArraySizes &code, const EntryParameter &array);
  void refuseClash();
  /// Refuses with this text where `condition` is true.
  void refuseWhere(Value condition, const RefusalText &text, ArrayRef<Value> values);
  /// Goes to a block of its own where `condition` is true, which `fill` fills and ends.
  void inBranch(Value condition, llvm::function_ref<void()> fill);
  void refuse(const RefusalText &text, ArrayRef<Value> values = {}) {
    create<func::ReturnOp>(emitRefusal(status, text, values));
  }
  std::string describe(const EntryParameter &array) const;
  /// The address of the text that describes the array of this number.
  Value emitName(Value number);
  Value isLess(Value a, Value b) { return compare(Predicate::slt, a, b); }
  Value differ(Value a, Value b) { return compare(Predicate::ne, a, b); }

  Value status, words;
  SmallVector<Value> sizes;
};

} // namespace

void RefusalBuilder::inBranch(Value condition, llvm::function_ref<void()> fill) {
  Block *branch = addBlock();
  branchIf(condition, branch);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch);
  fill();
}

void RefusalBuilder::refuseWhere(Value condition, const RefusalText &text, ArrayRef<Value> values) {
  inBranch(condition, [&] { refuse(text, values); });
}

std::string RefusalBuilder::describe(const EntryParameter &array) const {
  bool isArgument = &array >= arguments.begin() && &array < arguments.end();
  return isArgument ? signature.describeArgument(*array.type) : "output '" + array.type->name + "'";
}

Value RefusalBuilder::emitName(Value number) {
  std::string names;
  for (const EntryParameter *array : getArrays(*this))
    names += describe(*array) + '\0';
  return callShared("resid.arrays_name", {addText(names), number}, pointerType);
}

/// Of the addresses nothing is needed but where they stand.
void RefusalBuilder::readWords() {
  unsigned index = ParameterWords(signature).addresses;
  for (const KernelValue &value : signature.arguments)
    arguments.push_back({Value(), &value});
  for (const KernelValue &value : signature.results)
    results.push_back({Value(), &value});
  for (size_t size = 0; size < signature.sizes.size(); ++size)
    sizes.push_back(loadWord(words, index++));
  for (EntryParameter &parameter : llvm::concat<EntryParameter>(arguments, results))
    if (parameter.type->isStrided())
      parameter.stride = loadWord(words, index++);
}

void RefusalBuilder::refuseNull() {
  ArraySizes code(*this, signature, sizes);
  ArrayTable table(*this, getArrays(*this));
  Value extents = allocateWords(table.getExtentWords());
  table.storeExtents(code, extents, /*isUnchecked=*/true);
  Value number = table.findNull(words, extents);
  refuse(RefusalText().string(0).add(" is NULL, expected an array, because it has elements"), {emitName(number)});
}

void RefusalBuilder::refuseSize(unsigned index) {
  const SizeParameter &size = signature.sizes[index];
  RefusalText text(signature.describeArgument(signature.arguments[size.argument]));
  text.add(": dimension " + std::to_string(size.dimension) + " is ").number(0).add(", expected ");
  if (size.fixed >= 0)
    return refuseWhere(differ(sizes[index], constant(size.fixed)), text.add(std::to_string(size.fixed)),
                       {sizes[index]});
  if (size.sameAs == index)
    return refuseWhere(isLess(sizes[index], constant(0)), text.add("0 or more"), {sizes[index]});
  const SizeParameter &other = signature.sizes[size.sameAs];
  bool isSameDimension = other.dimension == size.dimension;
  text.number(1).add(isSameDimension ? " (that of '" : " (dimension " + std::to_string(other.dimension) + " of '");
  text.add(signature.arguments[other.argument].name + "')");
  refuseWhere(differ(sizes[index], sizes[size.sameAs]), text, {sizes[index], sizes[size.sameAs]});
}

void RefusalBuilder::refuseEqualities(ArraySizes &code) {
  for (auto [a, b] : signature.equalities) {
    auto [size, condition] = signature.describeEquality(a, b);
    Value fault = truth(false);
    Value wrong = differ(code.evaluate(a, fault), code.evaluate(b, fault)), found = code.evaluate(size, fault);
    RefusalText text(signature.printSize(size));
    refuseWhere(wrong, text.add(" is ").number(0).add(", expected it to be " + condition), {found});
  }
}

void RefusalBuilder::refuseDerived(ArraySizes &code) {
  for (SizeExpr size : signature.derivedSizes) {
    std::string name = signature.printSize(size);
    Value fault = truth(false), value = code.evaluate(size, fault);
    refuseWhere(fault, name + " has no value, expected divisors other than 0 and numbers up to 2^47", {});
    refuseWhere(isLess(value, constant(0)), RefusalText(name + " is ").number(0).add(", expected 0 or more"), {value});
  }
}

void RefusalBuilder::refuseBytes(ArraySizes &code, const EntryParameter &array) {
  const KernelValue &type = *array.type;
  if (llvm::all_of(type.shape, [](int64_t size) { return size >= 0; }))
    return;
  RefusalText text(describe(array) + ": ");
  SmallVector<Value> values;
  for (auto [dimension, size] : llvm::enumerate(type.shape)) {
    text.add(dimension ? " x " : "");
    if (size >= 0) {
      text.add(std::to_string(size));
      continue;
    }
    text.number(values.size());
    values.push_back(code.dimension(size));
  }
  text.add(" elements of " + std::to_string(type.getElementBytes()) + " bytes, expected at most 2^47 bytes in all");
  refuseWhere(code.bytesFault(type), text, values);
}

void RefusalBuilder::refuseStride(ArraySizes &code, const EntryParameter &array) {
  RefusalText text(describe(array) + ": row stride is ");
  text.number(0).add(", expected ");
  Value width = code.dimension(array.type->shape.back());
  refuseWhere(isLess(array.stride, width), RefusalText(text).add("at least ").number(1).add(" (the width)"),
              {array.stride, width});
  refuseWhere(code.strideFault(*array.type, array.stride), text.add("rows that span at most 2^47 bytes"),
              {array.stride});
}

/// First what disagrees, since that is what the sizes of one array cannot say.
void RefusalBuilder::refuseSizes() {
  for (unsigned index = 0; index < sizes.size(); ++index)
    refuseSize(index);
  ArraySizes code(*this, signature, sizes);
  refuseEqualities(code);
  refuseDerived(code);
  for (const EntryParameter *array : getArrays(*this))
    refuseBytes(code, *array);
  for (const EntryParameter *array : getArrays(*this))
    if (array->stride)
      refuseStride(code, *array);
  refuse("a size is out of range");
}

void RefusalBuilder::refuseClash() {
  ArraySizes code(*this, signature, sizes);
  ArrayTable table(*this, getArrays(*this));
  Value pair = table.findClash(code, words, allocateWords(table.getStackWords()));
  Value output = shiftRight(pair, 32);
  Value other = both(pair, 0xffffffff);
  RefusalText text = RefusalText().string(0).add(" overlaps ").string(1);
  SmallVector<Value> names = {emitName(output), emitName(other)};
  refuseWhere(table.mayShare(output, other), RefusalText(text).add(" in part, expected the same array or another"),
              names);
  refuse(text.add(", expected arrays of their own"), names);
}

void RefusalBuilder::build() {
  Type i32 = getI32Type();
  beginRefusalFunction(getRefusalFunction(kRefuseArraysSuffix, {pointerType, i32, pointerType}));
  status = entry.getArgument(1);
  words = entry.getArgument(2);
  readWords();
  auto isStatus = [&](resid_status wanted) -> Value { return isEqual(status, int32_t(wanted)); };
  inBranch(isStatus(RESID_BAD_POINTER), [&] { refuseNull(); });
  inBranch(isStatus(RESID_ALIAS), [&] { refuseClash(); });
  refuseSizes();
}

void mlir::resid::boundary::buildArrayRefusals(Operation *place, const KernelSignature &signature) {
  RefusalBuilder(place, signature).build();
}
