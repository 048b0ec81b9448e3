// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results: .npy files that all appear whole or not at all, and summaries.

#include "tools/common/Files.h"
#include "tools/npy/Npy.h"
#include "tools/resid-run/Arrays.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace mlir::resid::run {

using llvm::Error;

static std::string getNumpyType(Type type) {
  if (type.isBF16())
    return "<u2";
  if (type.isInteger(1))
    return "|b1";
  std::string kind = isa<FloatType>(type) ? "f" : "i";
  unsigned bytes = getElementBytes(type);
  return (bytes == 1 ? "|" : "<") + kind + std::to_string(bytes);
}

Error writeResults(llvm::ArrayRef<Array> results, llvm::ArrayRef<std::string> files) {
  std::vector<std::pair<std::string, std::string>> outputs;
  for (auto [array, file] : llvm::zip(results, files)) {
    if (array.getElementType().isInteger(4))
      return makeError(tools::ExitUnavailable,
                       "expected results for a file of f16, bf16, f32, f64, index, i1, i8, i16, "
                       "i32 or i64, but got i4");
    std::string &contents =
        outputs.emplace_back(file, npy::makeHeader(getNumpyType(array.getElementType()), array.getShape())).second;
    size_t start = contents.size();
    contents.resize(start + getByteSize(array));
    encode(array, contents.data() + start);
  }
  if (Error error = tools::writeOutputs(outputs))
    return makeError(tools::ExitFile, llvm::toString(std::move(error)));
  return Error::success();
}

static void printElement(llvm::raw_ostream &os, const Array &array, int64_t i) {
  if (array.isFloat())
    os << llvm::format("%.6g", array.floats()[i]);
  else
    os << array.integers()[i];
}

void printSummary(llvm::raw_ostream &os, unsigned index, const Array &array) {
  os << "out" << index << ": " << reference::describe(array);
  int64_t smallest = -1, largest = -1, nans = 0;
  auto isBelow = [&](int64_t a, int64_t b) {
    return array.isFloat() ? array.floats()[a] < array.floats()[b] : array.integers()[a] < array.integers()[b];
  };
  for (int64_t i = 0, e = array.size(); i != e; ++i) {
    if (array.isFloat() && std::isnan(array.floats()[i])) {
      ++nans;
      continue;
    }
    smallest = smallest < 0 || isBelow(i, smallest) ? i : smallest;
    largest = largest < 0 || isBelow(largest, i) ? i : largest;
  }
  if (smallest >= 0 && array.isTensor()) {
    os << ", min ";
    printElement(os, array, smallest);
    os << ", max ";
    printElement(os, array, largest);
  }
  if (nans)
    os << ", " << nans << " NaN";
  int64_t shown = std::min<int64_t>(array.size(), 8);
  os << (array.isTensor() && shown ? ", first" : "");
  for (int64_t i = 0; i != shown; ++i) {
    os << ' ';
    printElement(os, array, i);
  }
  os << '\n';
}

} // namespace mlir::resid::run
