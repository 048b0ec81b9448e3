// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A child in which the text is parsed, and a file for what is said of it; see TrialParse.h.

#include "tools/resid-lsp-server/TrialParse.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/ToolUtilities.h"
#include "tools/common/Trial.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;
using namespace mlir;
using namespace mlir::resid::tools;

json::Object mlir::resid::tools::makeMistake(unsigned line, unsigned column, StringRef message) {
  auto position = [&](unsigned character) { return json::Object{{"line", line - 1}, {"character", character}}; };
  json::Object range{{"start", position(column - 1)}, {"end", position(column)}};
  return json::Object{{"range", std::move(range)}, {"severity", 1}, {"source", "resid"}, {"message", message.str()}};
}

/// Parses one part of a document, which begins on `firstLine`; each error is a line of JSON in `stream`.
static void parsePart(StringRef part, unsigned firstLine, const DialectRegistry &registry, raw_ostream &stream) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>();
    unsigned line = place ? place.getLine() : 1, column = place ? place.getColumn() : 1;
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      stream << json::Value(makeMistake(firstLine + line - 1, std::max(column, 1u), diagnostic.str())) << "\n";
  });
  SourceMgr sourceManager;
  sourceManager.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(part), SMLoc());
  Block block;
  AsmParserState state;
  (void)parseAsmSourceFile(sourceManager, &block, ParserConfig(&context), &state);
}

static void parseParts(StringRef text, const DialectRegistry &registry, raw_ostream &stream) {
  unsigned line = 1;
  SmallVector<StringRef> parts;
  text.split(parts, kDefaultSplitMarker);
  for (StringRef part : parts) {
    parsePart(part, line, registry, stream);
    line += part.count('\n');
  }
}

static std::string readAll(int descriptor) {
  std::string text;
  char bytes[4096];
  ssize_t count;
  lseek(descriptor, 0, SEEK_SET);
  while ((count = read(descriptor, bytes, sizeof(bytes))) > 0 || (count < 0 && errno == EINTR))
    text.append(bytes, std::max<ssize_t>(count, 0));
  return text;
}

/// In memory, for what the child says.
static int makeFile() {
  int descriptor = memfd_create("said", MFD_CLOEXEC);
  if (descriptor < 0)
    report_bad_alloc_error("a file");
  return descriptor;
}

json::Array mlir::resid::tools::findFall(StringRef text, const DialectRegistry &registry) {
  constexpr unsigned seconds = 60;
  int file = makeFile();
  bool isEnded = comesToAnEnd(
      [&] {
        raw_fd_ostream stream(file, /*shouldClose=*/false, /*unbuffered=*/true);
        parseParts(text, registry, stream);
      },
      seconds);
  std::string said = readAll(file);
  close(file);
  json::Array found;
  if (isEnded)
    return found;
  SmallVector<StringRef> lines;
  StringRef(said).split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    found.push_back(cantFail(json::parse(line), "expected what the child has written"));
  if (found.empty())
    found.push_back(makeMistake(1, 1, "the parser of MLIR fell over this text without a word"));
  return found;
}
