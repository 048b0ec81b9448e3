// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joins an editor and upstream's server, which reads from stdin, writes to LLVM's outs(), and has no hooks for either:
// another stream stands in place of stdin, and another file after outs(). What is added to the messages on their way,
// and what is kept away from the server, is the Session's (Session.h).

#ifndef RESID_TOOLS_RESID_LSP_SERVER_CONNECTION_H
#define RESID_TOOLS_RESID_LSP_SERVER_CONNECTION_H

#include "tools/resid-lsp-server/Session.h"
#include "llvm/Support/LSP/Transport.h"
#include <cstdio>
#include <string>

namespace mlir::resid::tools {

/// While an object lives, it owns the variable stdin and the standard output. All is done on the server's own thread:
/// it has handled a message, and answered it, when it asks for the next one.
class Connection {
public:
  /// `registry` has the dialects of the server, and outlives this.
  Connection(const DialectRegistry &registry, llvm::lsp::JSONStreamStyle style, bool isPretty);
  ~Connection();
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;

private:
  size_t read(char *buffer, size_t size);
  void fetch();
  void forward();

  editor::Session session;
  bool isPretty;
  std::FILE *editorInput;
  llvm::lsp::JSONTransportInputOverFile input;
  /// The message that the server is reading, and how much of it it has.
  std::string current;
  size_t done = 0;
  int editorOutput;
  /// In memory: what the server has written since its last message.
  std::FILE *answers;
};

} // namespace mlir::resid::tools

#endif // RESID_TOOLS_RESID_LSP_SERVER_CONNECTION_H
