// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds back what upstream's server writes to standard output, until it was added to. That server writes to LLVM's
// outs() and has no hook for it, so the file behind outs() is another one meanwhile. Does not own what is added
// (Session.h).

#ifndef RESID_TOOLS_RESID_LSP_SERVER_HELDOUTPUT_H
#define RESID_TOOLS_RESID_LSP_SERVER_HELDOUTPUT_H

#include "llvm/Support/JSON.h"
#include <functional>

namespace mlir::resid::tools {

/// While an object lives, what is written to outs() goes into memory; forward() sends it on. On one thread with the
/// server, whose messages are whole whenever it does not run.
class HeldOutput {
public:
  HeldOutput(std::function<void(llvm::json::Object &)> amend, bool isPretty);
  ~HeldOutput();
  HeldOutput(const HeldOutput &) = delete;
  HeldOutput &operator=(const HeldOutput &) = delete;

  /// Hands each message to `amend`, and then to the editor.
  void forward();

private:
  std::string takeHeld();

  std::function<void(llvm::json::Object &)> amend;
  bool isPretty;
  /// The editor's end, and a file in memory.
  int editor, held;
};

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_RESID_LSP_SERVER_HELDOUTPUT_H
