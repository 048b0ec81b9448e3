// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What resid adds to a session of an editor with upstream's language server, which answers for all of MLIR: it looks at
// the messages of both sides, knows the documents, and adds to what upstream answers. Reads and writes no streams.

#ifndef RESID_TOOLS_RESID_LSP_SERVER_SESSION_H
#define RESID_TOOLS_RESID_LSP_SERVER_SESSION_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>

namespace mlir::resid::editor {

/// The server answers a message before the editor's next one is received.
class Session {
public:
  /// `registry` has the dialects of the server, and outlives this.
  explicit Session(const DialectRegistry &registry) : registry(registry) {}

  /// Takes note of a message of the editor. A document in it that the server may not read is emptied.
  void receive(llvm::json::Object &message);

  /// Adds to an answer of upstream's server to the last message.
  void amend(llvm::json::Object &message);

private:
  /// The text of a document up to a place, and from there on.
  struct Place {
    llvm::StringRef before, after;
    int line, column;
  };

  void receiveText(llvm::StringRef uri, llvm::json::Value &text);
  std::optional<Place> findPlace() const;
  llvm::json::Array completeOps(const Place &place) const;

  const DialectRegistry &registry;
  bool hasSnippets = false;
  /// The texts, by their addresses as the editor writes them.
  llvm::StringMap<std::string> documents;
  /// The last message without its text, and what was found in that.
  llvm::json::Object asked;
  llvm::json::Array found;
};

} // namespace mlir::resid::editor

#endif // RESID_TOOLS_RESID_LSP_SERVER_SESSION_H
