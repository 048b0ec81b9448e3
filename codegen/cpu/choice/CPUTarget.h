// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lowering to CPU code has to know about the processor. Plain data: it neither asks the machine nor uses LLVM.

#ifndef RESID_CODEGEN_CPU_CHOICE_CPUTARGET_H
#define RESID_CODEGEN_CPU_CHOICE_CPUTARGET_H

#include "codegen/cpu/choice/Schedule.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::resid::cpu {

/// A function attribute: its loops work on whole vectors already, so LLVM need not look for a better form.
inline constexpr llvm::StringLiteral kVectorLoopsAttribute = "resid-vector-loops";
/// Of a function without loops over elements, which runs once per call of a kernel or less: it is not worth LLVM's
/// time.
inline constexpr llvm::StringLiteral kBriefAttribute = "resid-brief";
/// Of a function that runs once for the object, or has nothing to optimise: what matters is how fast it is compiled.
inline constexpr llvm::StringLiteral kOnceAttribute = "resid-once";

/// On a function with a body: it is lowered once per CPU, in modules of their own. On one without: the body for one
/// CPU, which is linked later.
inline constexpr llvm::StringLiteral kPerCPUAttribute = "resid.per_cpu";

/// Addresses and rows that are written past the cache are aligned to cache lines, of so many bytes.
inline constexpr int64_t kLineBytes = 64;
/// Rows of a chain, or that several phases read, wait for their next use in the first level of the cache, of 32 KiB or
/// more, if they take at most so many bytes; longer ones would drive each other out (docs/measurements/schedule.md,
/// section backward).
inline constexpr int64_t kFirstLevelBytes = 16 << 10;
/// Stack memory of what writes a row to where no cache line begins (rows/LineWriter.h): a line; room after it, since
/// 64 bytes are copied to any place of the line, however many are wanted; and two addresses.
inline constexpr int64_t kLineWriterBytes = 2 * kLineBytes + 16;

struct CPUTarget {
#define RESID_CPU_FACT(TYPE, MEMBER, OPTION, DEFAULT, MEANING) TYPE MEMBER = DEFAULT;
#include "codegen/cpu/choice/CPUFacts.def"
  /// Why vectorBits are not 512, for reports; empty where they are, or where nobody says.
  std::string vectorBitsReason;
  /// Not of the processor, but how it is to be used.
  Schedule schedule;

  /// Uses the processor so. An error where it asks for wider vectors than there are.
  llvm::Error use(const Schedule &chosen);
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CHOICE_CPUTARGET_H
