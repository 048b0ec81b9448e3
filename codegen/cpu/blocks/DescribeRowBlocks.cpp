// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells which kernels run together, and from how many rows on.

#include "codegen/cpu/blocks/DescribeRowBlocks.h"

#include "codegen/cpu/blocks/RowBlockCalls.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

/// The rows of a product, if they are known.
static std::optional<int64_t> countRows(contraction::KernelOp product) {
  auto type = cast<ShapedType>(product.getInit().getType());
  ArrayRef<int64_t> rows = type.getShape().drop_back();
  return ShapedType::isDynamicShape(rows) ? std::nullopt : std::optional(ShapedType::getNumElements(rows));
}

kernels::PlanDecision cpu::describeRowBlocks(contraction::RowBlocksOp blocks, ArrayRef<std::string> others,
                                             const CPUTarget &target) {
  int64_t least = target.schedule.table.productRowBlocks * kBlockRows;
  std::optional<int64_t> rows = countRows(blocks.getProduct());
  bool runs = least != 0 && (!rows || *rows >= least);
  kernels::PlanDecision decision{"row_blocks", llvm::json::Array(), "", "", /*hasReason=*/true};
  if (runs)
    for (const std::string &other : others)
      decision.value.getAsArray()->push_back(other);
  std::string names = llvm::join(others, ", ");
  decision.text = runs ? llvm::formatv("by blocks of {0} rows with {1}", kBlockRows, names).str()
                       : "not by blocks of rows with " + names;
  if (least == 0)
    decision.reason = "the schedule says so";
  else if (!runs)
    decision.reason = llvm::formatv("{0} rows, expected {1} at least", *rows, least);
  else if (!rows)
    decision.reason = llvm::formatv("from {0} rows on", least);
  if (const Setting *setting = target.schedule.findSetting("product-row-blocks"))
    decision.source = setting->source;
  return decision;
}
