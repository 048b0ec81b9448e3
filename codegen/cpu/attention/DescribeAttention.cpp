// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells micro-kernel and blocks of attention.

#include "codegen/cpu/attention/DescribeAttention.h"

#include "codegen/attention/AttentionMemory.h"
#include "codegen/cpu/contractions/MicroKernelShape.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::resid;

kernels::PlanDescription cpu::describeAttention(attention::KernelOp kernel, llvm::StringRef name,
                                                const CPUTarget &target) {
  FloatType arithmetic = kernel.getArithmeticType();
  MicroKernelShape shape = chooseMicroKernelShape(target, arithmetic);
  std::string micro = llvm::formatv("{0}x{1}", shape.rows, shape.getColumns());
  std::string type;
  llvm::raw_string_ostream(type) << arithmetic;
  kernels::PlanDescription plan{"cpu", name.str(), {}, "scalar path", ""};
  plan.decisions.push_back({"micro_kernel", micro, "micro-kernels of " + micro + " sums in " + type});
  plan.decisions.push_back({"chunk_keys", attention::kChunkKeys,
                            "chunks of " + std::to_string(attention::kChunkKeys) + " keys, scores in the cache"});
  plan.decisions.push_back({"vector_bits", static_cast<int64_t>(target.vectorBits),
                            "vectors of " + std::to_string(target.vectorBits) + " bits", target.vectorBitsReason,
                            /*hasReason=*/true});
  return plan;
}
