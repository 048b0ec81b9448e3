// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What resid adds to a session of an editor with upstream's language server, which answers for all of MLIR: it looks at
// the messages of both sides, knows the documents, and adds to what upstream answers. Reads and writes no streams.

#ifndef RESID_TOOLS_EDITOR_SESSION_H
#define RESID_TOOLS_EDITOR_SESSION_H

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace mlir::resid::editor {

class Session {
public:
  /// A document was opened or changed.
  void setDocument(llvm::StringRef uri, llvm::StringRef text, llvm::json::Array warnings);

  /// Takes note of a message of the editor.
  void receive(const llvm::json::Object &message);

  /// Adds to a message of upstream's server.
  void amend(llvm::json::Object &message);

private:
  struct Document {
    std::string text;
    llvm::json::Array warnings;
  };
  /// What the editor waits for, by the identity of the request.
  struct Question {
    std::string method;
    llvm::json::Object params;
  };

  const Document *findDocument(const llvm::json::Object &params) const;
  void amendResult(const Question &question, llvm::json::Value &result) const;
  void addDocumentation(const llvm::json::Object &params, llvm::json::Value &result) const;

  bool hasSnippets = false;
  llvm::StringMap<Document> documents;
  llvm::StringMap<Question> asked;
};

} // namespace mlir::resid::editor

#endif // RESID_TOOLS_EDITOR_SESSION_H
