// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fork, in which the text is parsed, and a pipe for what is said of it; see TrialParse.h.

#include "tools/resid-lsp-server/TrialParse.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/ToolUtilities.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
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

/// What the child does: it ends with 0, or falls without a word of the tool's own.
[[noreturn]] static void parseInChild(StringRef text, const DialectRegistry &registry, int pipe) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS})
    ::signal(signal, SIG_DFL);
  remove_fatal_error_handler();
  rlimit none = {};
  setrlimit(RLIMIT_CORE, &none);
  raw_fd_ostream stream(pipe, /*shouldClose=*/false, /*unbuffered=*/true);
  unsigned line = 1;
  SmallVector<StringRef> parts;
  text.split(parts, kDefaultSplitMarker);
  for (StringRef part : parts) {
    parsePart(part, line, registry, stream);
    line += part.count('\n');
  }
  _exit(0);
}

static std::string readAll(int descriptor) {
  std::string text;
  char bytes[4096];
  ssize_t count;
  while ((count = read(descriptor, bytes, sizeof(bytes))) > 0 || (count < 0 && errno == EINTR))
    text.append(bytes, std::max<ssize_t>(count, 0));
  return text;
}

json::Array mlir::resid::tools::findFall(StringRef text, const DialectRegistry &registry) {
  int ends[2];
  pid_t child = pipe(ends) ? -1 : fork();
  if (child < 0)
    report_bad_alloc_error("a process");
  if (child == 0)
    parseInChild(text, registry, ends[1]);
  close(ends[1]);
  std::string said = readAll(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    continue;
  json::Array found;
  if (status == 0)
    return found;
  SmallVector<StringRef> lines;
  StringRef(said).split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    found.push_back(cantFail(json::parse(line), "expected what the child has written"));
  if (found.empty())
    found.push_back(makeMistake(1, 1, "the parser of MLIR fell over this text without a word"));
  return found;
}
