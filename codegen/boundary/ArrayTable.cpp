// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables of arrays, and calls of the functions that read them.

#include "codegen/boundary/ArrayTable.h"

using namespace mlir;
using namespace mlir::resid::boundary;

/// The words of a Fact in shared/Arrays.c.
static constexpr int64_t kFactWords = 3;

SmallVector<const EntryParameter *> mlir::resid::boundary::getArrays(const EntryCode &code) {
  SmallVector<const EntryParameter *> arrays;
  for (const EntryParameter &parameter : llvm::concat<const EntryParameter>(code.arguments, code.results))
    if (parameter.type->isArray())
      arrays.push_back(&parameter);
  return arrays;
}

ArrayTable::ArrayTable(EntryCode &code, SmallVector<const EntryParameter *> given)
    : code(code), arrays(std::move(given)) {
  llvm::DenseMap<const EntryParameter *, int64_t> numbers;
  for (auto [number, array] : llvm::enumerate(arrays)) {
    numbers[array] = number;
    firstOutput += array >= code.arguments.begin() && array < code.arguments.end();
    addFact(*array);
  }
  int64_t nobody = words.size();
  words.push_back(-1);
  llvm::DenseMap<int64_t, SmallVector<int64_t>> shared;
  for (auto [result, argument] : code.signature.inPlace)
    if (numbers.contains(&code.results[result]) && numbers.contains(&code.arguments[argument]))
      shared[numbers[&code.results[result]]].push_back(numbers[&code.arguments[argument]]);
  for (int64_t number = 0; number < int64_t(arrays.size()); ++number) {
    ArrayRef<int64_t> arguments = shared[number];
    words[kFactWords * number + 2] = arguments.empty() ? nobody : words.size();
    if (!arguments.empty()) {
      llvm::append_range(words, arguments);
      words.push_back(-1);
    }
  }
}

void ArrayTable::addFact(const EntryParameter &array) {
  ArrayRef<int64_t> shape = array.type->shape;
  bool isOpen = llvm::any_of(shape, [](int64_t code) { return code < 0; });
  int64_t extent = array.type->getElementBytes();
  for (int64_t size : shape)
    extent *= size;
  if (isOpen || array.stride) {
    slots.push_back({&array, extentWords});
    extent = -1 - extentWords;
    int64_t taken = array.stride ? 3 : 1;
    extentWords += taken;
    mostExtentWords = std::max(mostExtentWords, taken);
  }
  words.append({extent, array.stride ? 1 : 0, 0});
}

void ArrayTable::storeExtents(ArraySizes &sizes, Value extents, bool isUnchecked) {
  for (auto [array, slot] : slots) {
    const KernelValue &type = *array->type;
    Value extent = isUnchecked ? code.constant(1) : sizes.extent(type, array->stride);
    if (isUnchecked || array->stride)
      extent = code.select(sizes.isEmpty(type.shape), code.constant(0), extent);
    code.storeWord(extent, extents, slot);
    if (!array->stride)
      continue;
    code.storeWord(sizes.strideBytes(type, array->stride), extents, slot + 1);
    code.storeWord(isUnchecked ? code.constant(0) : sizes.rowBytes(type), extents, slot + 2);
  }
}

Value ArrayTable::getTable() {
  if (name.empty())
    name = code.addConstant(LLVM::LLVMArrayType::get(code.getI64Type(), words.size()), code.getI64TensorAttr(words));
  return code.create<LLVM::AddressOfOp>(code.pointerType, name);
}

void ArrayTable::storeAddresses(Value starts) {
  for (auto [number, array] : llvm::enumerate(arrays))
    code.storeWord(array->value, starts, number);
}

Value ArrayTable::anyClash(ArraySizes &sizes, Value starts, Value stack) {
  storeExtents(sizes, stack);
  Value room = code.getWord(stack, extentWords);
  return code.callShared("resid.arrays_any_clash",
                         {starts, stack, getTable(), code.constant(firstOutput), code.constant(arrays.size()), room},
                         code.getI1Type());
}

Value ArrayTable::findClash(ArraySizes &sizes, Value starts, Value stack) {
  storeExtents(sizes, stack);
  Value ends = code.getWord(stack, extentWords), count = code.constant(arrays.size());
  code.callShared("resid.arrays_fill_ends", {starts, stack, getTable(), count, ends}, {});
  return code.callShared("resid.arrays_find_clash",
                         {starts, ends, stack, getTable(), code.constant(firstOutput), count}, code.getI64Type());
}

Value ArrayTable::anyNull(Value starts) {
  return code.callShared("resid.arrays_any_null", {starts, code.constant(arrays.size())}, code.getI1Type());
}

Value ArrayTable::findNull(Value starts, Value extents) {
  return code.callShared("resid.arrays_find_null", {starts, extents, getTable(), code.constant(arrays.size())},
                         code.getI64Type());
}

Value ArrayTable::mayShare(Value output, Value other) {
  return code.callShared("resid.arrays_may_share", {getTable(), output, other}, code.getI1Type());
}
