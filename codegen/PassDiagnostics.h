// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What passes say without a place, or without a word of what they speak of, gets both before a user reads it. Does not
// own how diagnostics are printed (tools/common/Diagnostics.h), nor any text but what stands around upstream's.

#ifndef RESID_CODEGEN_PASSDIAGNOSTICS_H
#define RESID_CODEGEN_PASSDIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassInstrumentation.h"

namespace mlir::resid {

/// Added to a pass manager, it lives as long as that.
/// - A diagnostic of unknown place gets that of the op that the pass runs on, or of the nearest one around or in it.
/// Where
///   no op's is known, the function is named, and the place is the first of the file `input`, if it has a name.
/// - An error of an upstream pass that names no op is put after "while lowering function 'f': ".
/// - With `upstreamMeans`, errors of upstream passes are that text, and what upstream says is a note.
class PassDiagnostics : public PassInstrumentation {
public:
  explicit PassDiagnostics(MLIRContext *context, StringRef upstreamMeans = "", StringRef input = "");

  void runBeforePass(Pass *pass, Operation *op) override;
  void runAfterPass(Pass *pass, Operation *op) override;
  void runAfterPassFailed(Pass *pass, Operation *op) override;

private:
  LogicalResult complete(Diagnostic &diagnostic);
  Location findPlace(Operation *op) const;

  std::string upstreamMeans, input;
  ScopedDiagnosticHandler handler;
};

} // namespace mlir::resid

#endif // RESID_CODEGEN_PASSDIAGNOSTICS_H
