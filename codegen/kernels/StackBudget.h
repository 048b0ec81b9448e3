// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the stack memory that a generated function may use is shared out. Not: what is put there.

#ifndef RESID_CODEGEN_KERNELS_STACKBUDGET_H
#define RESID_CODEGEN_KERNELS_STACKBUDGET_H

#include <cstdint>

namespace mlir::resid::kernels {

/// What a call may use in all, in bytes: promised to callers, whose threads may have small stacks.
inline constexpr int64_t kStackBytes = 64 << 10;
/// Small temporaries of static size.
inline constexpr int64_t kTemporaryStackBytes = 16 << 10;
/// Scratch rows of the kernel that is running.
inline constexpr int64_t kScratchRowStackBytes = 40 << 10;
/// What is left is for the frames of functions: registers, states, records of tasks.
static_assert(kTemporaryStackBytes + kScratchRowStackBytes + (8 << 10) <= kStackBytes);

} // namespace mlir::resid::kernels

#endif // RESID_CODEGEN_KERNELS_STACKBUDGET_H
