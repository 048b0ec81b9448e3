// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the tools print diagnostics: with the line they are about, unless that line holds a model's weights. What a
// terminal would obey, as binary files have it, is printed as numbers.

#ifndef RESID_TOOLS_COMMON_DIAGNOSTICS_H
#define RESID_TOOLS_COMMON_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::resid::tools {

/// Longer lines are not printed below a message: constants of many megabytes stand on one line.
constexpr size_t maxPrintedLine = 1000;

/// Prints the diagnostics of `context` to `stream` as `file:line:col: error: …`, with the line and a mark below.
class DiagnosticPrinter {
public:
  DiagnosticPrinter(llvm::SourceMgr &sourceManager, MLIRContext &context, llvm::raw_ostream &stream = llvm::errs());

private:
  LogicalResult printUnusual(Diagnostic &diagnostic);
  void printMessage(const Diagnostic &diagnostic, llvm::StringRef input, bool hasLine);
  bool isOnLine(Location location, llvm::function_ref<bool(llvm::StringRef)> isMeant);

  llvm::SourceMgr &sourceManager;
  llvm::raw_ostream &stream;
  SourceMgrDiagnosticHandler printer;
  /// Registered after the printer, so asked before it.
  ScopedDiagnosticHandler unusual;
};

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_COMMON_DIAGNOSTICS_H
