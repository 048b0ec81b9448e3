// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells micro-kernel and packing of a contraction.

#include "codegen/cpu/contractions/DescribeContraction.h"

#include "codegen/cpu/contractions/MicroKernelShape.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::resid;

std::pair<kernels::PlanDecision, kernels::PlanDecision> cpu::describeMicroKernels(const CPUTarget &target,
                                                                                  FloatType arithmetic) {
  MicroKernelShape shape = chooseMicroKernelShape(target, arithmetic);
  std::string micro = llvm::formatv("{0}x{1}", shape.rows, shape.getColumns());
  std::string type;
  llvm::raw_string_ostream(type) << arithmetic;
  return {{"micro_kernel", micro, "micro-kernels of " + micro + " sums in " + type},
          {"vector_bits", static_cast<int64_t>(target.vectorBits),
           "vectors of " + std::to_string(target.vectorBits) + " bits", target.vectorBitsReason, /*hasReason=*/true}};
}

kernels::PlanDescription cpu::describeContraction(contraction::KernelOp kernel, llvm::StringRef name,
                                                  const CPUTarget &target) {
  auto [micro, bits] = describeMicroKernels(target, kernel.getArithmeticType());
  StringRef panels = kernel.getPackedColumns().has_value() ? "ahead" : "at each call";
  kernels::PlanDecision packing{"panels", panels, ("b in panels of 16 columns, packed " + panels).str()};
  return {"cpu", name.str(), {micro, packing, bits}, "scalar path", ""};
}
