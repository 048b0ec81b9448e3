// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the phases of a row program are numbered; nobody else counts them. A statistics op has two numbers, one for its
// first pass over its operands and one for all further passes; the last phase of a program stores what is left.

#ifndef RESID_CODEGEN_ROWS_PHASENUMBERS_H
#define RESID_CODEGEN_ROWS_PHASENUMBERS_H

namespace mlir::resid::rows {

/// The passes of a statistics op over its operands. The first one always runs, and once; the others run under
/// conditions, or more than once.
enum class RowPass { First, Further };

/// The phase of a pass of the statistics op at this position.
inline unsigned getPhase(unsigned statistics, RowPass pass) { return 2 * statistics + (pass == RowPass::Further); }

/// The phase after those of `count` statistics ops.
inline unsigned getPhaseBehind(unsigned count) { return 2 * count; }

/// The position of the statistics op that a phase belongs to, unless it is the last phase.
inline unsigned getStatisticsOf(unsigned phase) { return phase / 2; }

/// The last phase counts as a first pass: it runs once.
inline RowPass getPass(unsigned phase) { return phase % 2 == 0 ? RowPass::First : RowPass::Further; }

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_PHASENUMBERS_H
