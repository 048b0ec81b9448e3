// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells micro-kernel and blocks of attention.

#include "codegen/cpu/attention/DescribeAttention.h"

#include "codegen/attention/BackwardMemory.h"
#include "codegen/cpu/contractions/DescribeContraction.h"

using namespace mlir;
using namespace mlir::resid;

kernels::PlanDescription cpu::describeAttention(attention::KernelOp kernel, llvm::StringRef name,
                                                const CPUTarget &target) {
  auto [micro, bits] = describeMicroKernels(target, kernel.getArithmeticType());
  kernels::PlanDecision chunks{"chunk_keys", attention::kChunkKeys,
                               "chunks of " + std::to_string(attention::kChunkKeys) + " keys, scores in the cache"};
  return {"cpu", name.str(), {micro, chunks, bits}, "scalar path", ""};
}

kernels::PlanDescription cpu::describeAttention(attention::BackwardOp kernel, llvm::StringRef name,
                                                const CPUTarget &target) {
  auto [micro, bits] = describeMicroKernels(target, kernel.getArithmeticType());
  kernels::PlanDecision rows{"block_queries", attention::kBackwardRows,
                             "scores of " + std::to_string(attention::kBackwardRows) +
                                 " queries at a time, a task for each head of keys"};
  return {"cpu", name.str(), {micro, rows, bits}, "scalar path", ""};
}
