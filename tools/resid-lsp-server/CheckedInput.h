// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What keeps documents that would end the parser, and the editor's server with it, away from upstream's server. That
// one reads from stdin and has no hook for documents, so this stands in place of stdin. Messages go through a Session
// on their way. Does not own what is refused (tools/editor).

#ifndef RESID_TOOLS_RESID_LSP_SERVER_CHECKEDINPUT_H
#define RESID_TOOLS_RESID_LSP_SERVER_CHECKEDINPUT_H

#include "mlir/IR/DialectRegistry.h"
#include "tools/editor/Session.h"
#include "tools/resid-lsp-server/HeldOutput.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/LSP/Transport.h"
#include <cstdio>
#include <string>

namespace mlir::resid::tools {

/// The messages of the editor, one after the other. The server is given an empty document in place of one that is
/// refused, and the editor the reason, at its place. Both happens on the server's own thread: it has handled a message
/// when it asks for the next one, and is not writing then. While an object lives it owns the variable stdin.
class CheckedInput {
public:
  /// `registry` has the dialects of the server, and outlives this.
  CheckedInput(const DialectRegistry &registry, llvm::lsp::JSONStreamStyle style, bool isPretty);
  ~CheckedInput();
  CheckedInput(const CheckedInput &) = delete;
  CheckedInput &operator=(const CheckedInput &) = delete;

private:
  size_t read(char *buffer, size_t size);
  void fetch();
  void check(std::string &written);

  const DialectRegistry &registry;
  std::FILE *editor;
  llvm::lsp::JSONStreamStyle style;
  llvm::lsp::JSONTransportInputOverFile input;
  llvm::lsp::JSONTransport output;
  editor::Session session;
  HeldOutput held;
  /// The message that the server is reading, and how much of it it has.
  std::string current;
  size_t done = 0;
  /// What the editor is told when the server has handled that message, and said that an empty document has no mistakes.
  llvm::json::Value refusal = nullptr;
};

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_RESID_LSP_SERVER_CHECKEDINPUT_H
