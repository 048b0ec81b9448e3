// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instructions by which x86 code asks its processor, as LLVM-dialect code. Not: what is asked (StoreChoice.cpp,
// codegen/machine/X86Features.cpp).

#ifndef RESID_CODEGEN_CPU_CHOICE_PROCESSORQUERY_H
#define RESID_CODEGEN_CPU_CHOICE_PROCESSORQUERY_H

#include "mlir/IR/Builders.h"

namespace mlir::resid::cpu {

/// The registers of CPUID's answers, by their places in what emitCPUID gives.
enum CPUIDRegister { EAX, EBX, ECX, EDX };

/// The four registers (i32) after CPUID with this leaf and subleaf (i32), as one value.
Value emitCPUID(OpBuilder &builder, Location loc, Value leaf, Value subleaf);

/// The low 32 bits (i32) of the extended control register of this number (i32). Only where the operating system has
/// enabled the instruction.
Value emitXGETBV(OpBuilder &builder, Location loc, Value number);

/// One register (i32) of emitCPUID's.
Value emitRegister(OpBuilder &builder, Location loc, Value registers, CPUIDRegister which);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CHOICE_PROCESSORQUERY_H
