// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which kernels prefetch where nothing was asked for, from measurements. Not: what they prefetch (VectorRows.h).

#ifndef RESID_CODEGEN_CPU_CHOICE_PREFETCHCHOICE_H
#define RESID_CODEGEN_CPU_CHOICE_PREFETCHCHOICE_H

#include "codegen/cpu/choice/Schedule.h"

namespace mlir::resid::cpu {

/// Whether a kernel's version that writes past the cache prefetches, as `schedule` says or, by itself, what was
/// measured.
bool usesPrefetch(const Schedule &schedule);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CHOICE_PREFETCHCHOICE_H
