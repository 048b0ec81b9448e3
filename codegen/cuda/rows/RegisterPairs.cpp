// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Narrow elements of rows that stay in registers: two share a word, and are rounded and added by one instruction.

#include "codegen/cuda/rows/RegisterRows.h"

#include "codegen/cuda/rows/OpaqueValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

/// Element `part` of those in a word (an integer).
Value RegisterRowEmitter::takePart(Value word, int64_t part, Type element) {
  unsigned bits = element.getIntOrFloatBitWidth();
  Type type = builder.getIntegerType(bits);
  Value value = builder.castInteger(builder.shiftRight(word, part * bits), type);
  return type == element ? value : builder.castBits(value, element);
}

/// Two elements as a word (i32).
static Value makeWord(Code &builder, Value low, Value high) {
  auto widen = [&](Value part) {
    return builder.castInteger(part.getType().isInteger() ? part : builder.bits(part), builder.getI32Type());
  };
  return builder.either(widen(low), builder.shiftLeft(widen(high), Code::getWidth(low)));
}

void RegisterRowEmitter::hideKeptRows() {
  for (Value row : kernel.getBody().getArguments()) {
    auto found = kept.find(row);
    if (found == kept.end())
      continue;
    Columns &columns = found->second;
    Type type = columns.front().getType();
    if (type.isF32())
      for (Value &column : columns)
        column = makeOpaque(builder, column);
    constexpr unsigned halfWord = 16;
    if (type.getIntOrFloatBitWidth() != halfWord)
      continue;
    for (size_t i = 0; i < columns.size(); i += 2) {
      Value word = makeOpaque(builder, makeWord(builder, columns[i], columns[i + 1]));
      columns[i] = takePart(word, 0, type);
      columns[i + 1] = takePart(word, 1, type);
    }
  }
}

/// Whether an instruction rounds two such numbers at a time, to nearest even.
bool RegisterRowEmitter::hasPairedForm(arith::TruncFOp truncation) {
  std::optional<arith::RoundingMode> mode = truncation.getRoundingmode();
  bool isNearest = !mode || *mode == arith::RoundingMode::to_nearest_even;
  return isNearest && truncation.getIn().getType().isF32() &&
         (truncation.getType().isBF16() || truncation.getType().isF16());
}

/// The terms of a sum of two narrow numbers that is rounded to their type, if `truncation` does that. An addition of
/// that type has the same bits: f32 has more than twice their digits, so rounding to f32 before changes nothing.
static std::optional<std::pair<Value, Value>> findNarrowTerms(arith::TruncFOp truncation) {
  auto sum = truncation.getIn().getDefiningOp<arith::AddFOp>();
  auto left = sum ? sum.getLhs().getDefiningOp<arith::ExtFOp>() : nullptr;
  auto right = sum ? sum.getRhs().getDefiningOp<arith::ExtFOp>() : nullptr;
  Type type = truncation.getType();
  if (!left || !right || left.getIn().getType() != type || right.getIn().getType() != type)
    return std::nullopt;
  return std::make_pair(left.getIn(), right.getIn());
}

void RegisterRowEmitter::roundPairs(arith::TruncFOp truncation) {
  auto type = VectorType::get(2, truncation.getType());
  auto mode = NVVM::FPRoundingMode::RN;
  for (int64_t i = 0; i < plan.lanes; i += 2) {
    auto getPair = [&](Value value) {
      return makeVector(builder, {mappings[i].lookup(value), mappings[i + 1].lookup(value)});
    };
    Value low = mappings[i].lookup(truncation.getIn()), high = mappings[i + 1].lookup(truncation.getIn()), pair;
    if (auto terms = findNarrowTerms(truncation))
      pair = builder.create<LLVM::FAddOp>(getPair(terms->first), getPair(terms->second));
    else if (truncation.getType().isBF16())
      pair = builder.create<NVVM::ConvertF32x2ToBF16x2Op>(type, high, low, Value(), mode);
    else
      pair = builder.create<NVVM::ConvertF32x2ToF16x2Op>(type, high, low, Value(), mode);
    for (int64_t part = 0; part < 2; ++part) {
      Value element = builder.create<LLVM::ExtractElementOp>(pair, builder.constant(part));
      mappings[i + part].map(truncation.getOut(), element);
    }
  }
}
