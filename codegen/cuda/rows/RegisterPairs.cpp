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

/// Element `part` of those in a word (i32).
Value RegisterRowEmitter::takePart(Value word, int64_t part, Type element) {
  Location loc = word.getLoc();
  unsigned bits = element.getIntOrFloatBitWidth();
  Type type = builder.getIntegerType(bits);
  Value shift = arith::ConstantIntOp::create(builder, loc, word.getType(), part * bits);
  Value value = arith::TruncIOp::create(builder, loc, type, arith::ShRUIOp::create(builder, loc, word, shift));
  return type == element ? value : arith::BitcastOp::create(builder, loc, element, value).getResult();
}

/// Two elements as a word (i32).
static Value makeWord(OpBuilder &builder, Value low, Value high) {
  Location loc = low.getLoc();
  unsigned bits = low.getType().getIntOrFloatBitWidth();
  auto widen = [&](Value part) -> Value {
    if (!part.getType().isInteger())
      part = arith::BitcastOp::create(builder, loc, builder.getIntegerType(bits), part);
    return arith::ExtUIOp::create(builder, loc, builder.getI32Type(), part);
  };
  Value shift = arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), bits);
  return arith::OrIOp::create(builder, loc, widen(low), arith::ShLIOp::create(builder, loc, widen(high), shift));
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
  Location loc = truncation.getLoc();
  auto type = VectorType::get(2, truncation.getType());
  auto mode = NVVM::FPRoundingMode::RN;
  for (int64_t i = 0; i < plan.lanes; i += 2) {
    auto getPair = [&](Value value) -> Value {
      Value pair = LLVM::PoisonOp::create(builder, loc, type);
      for (int64_t part = 0; part < 2; ++part)
        pair = LLVM::InsertElementOp::create(builder, loc, pair, mappings[i + part].lookup(value),
                                             constantI64(builder, loc, part));
      return pair;
    };
    Value low = mappings[i].lookup(truncation.getIn()), high = mappings[i + 1].lookup(truncation.getIn()), pair;
    if (auto terms = findNarrowTerms(truncation))
      pair = LLVM::FAddOp::create(builder, loc, getPair(terms->first), getPair(terms->second));
    else if (truncation.getType().isBF16())
      pair = NVVM::ConvertF32x2ToBF16x2Op::create(builder, loc, type, high, low, Value(), mode);
    else
      pair = NVVM::ConvertF32x2ToF16x2Op::create(builder, loc, type, high, low, Value(), mode);
    for (int64_t part = 0; part < 2; ++part) {
      Value element = LLVM::ExtractElementOp::create(builder, loc, pair, constantI64(builder, loc, part));
      mappings[i + part].map(truncation.getOut(), element);
    }
  }
}
