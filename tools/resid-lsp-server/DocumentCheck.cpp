// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A child that parses, checks and writes what it finds into a file in memory, one diagnostic a line.

#include "tools/resid-lsp-server/DocumentCheck.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/ToolUtilities.h"
#include "mlir/Tools/lsp-server-support/SourceMgrUtils.h"
#include "passes/Passes.h"
#include "tools/common/ChildTrial.h"
#include "tools/common/Parse.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;
using namespace mlir;
using namespace mlir::resid;

namespace {
/// One part of a document, which begins on line `firstLine`, counted from 0.
struct Part {
  Part(StringRef text, const llvm::lsp::URIForFile &uri, unsigned firstLine = 0) : uri(uri), firstLine(firstLine) {
    sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text), SMLoc());
  }

  llvm::lsp::Location locate(Location location);
  /// A line.
  std::string describe(mlir::Diagnostic &diagnostic);
  /// Parses as the server does, and checks.
  void check(MLIRContext &context);

  SourceMgr sources;
  const llvm::lsp::URIForFile &uri;
  unsigned firstLine;
};
} // namespace

/// The name at a place; the begin of the part where there is none.
llvm::lsp::Location Part::locate(Location location) {
  auto place = location->findInstanceOf<FileLineColLoc>();
  SMLoc begin = place ? sources.FindLocForLineAndColumn(1, place.getLine(), place.getColumn()) : SMLoc();
  llvm::lsp::Range range;
  if (begin.isValid())
    range = {sources, mlir::lsp::convertTokenLocToRange(begin, "$-.")};
  range.start.line += firstLine;
  range.end.line += firstLine;
  return {uri, range};
}

std::string Part::describe(mlir::Diagnostic &diagnostic) {
  bool isError = diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
  llvm::lsp::Diagnostic described;
  described.range = locate(diagnostic.getLocation()).range;
  described.severity = isError ? llvm::lsp::DiagnosticSeverity::Error : llvm::lsp::DiagnosticSeverity::Warning;
  described.source = isError ? "resid" : "resid-check-stream";
  described.message = diagnostic.str();
  std::vector<llvm::lsp::DiagnosticRelatedInformation> related;
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    if (StringRef(note.str()).starts_with("mend: "))
      described.message += "\n" + note.str();
    else
      related.emplace_back(locate(note.getLocation()), note.str());
  }
  if (!related.empty())
    described.relatedInformation = std::move(related);
  return formatv("{0}\n", toJSON(described)).str();
}

void Part::check(MLIRContext &context) {
  Block block;
  AsmParserState state;
  if (failed(parseAsmSourceFile(sources, &block, ParserConfig(&context), &state)))
    return;
  auto module =
      mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(&block, &context, UnknownLoc::get(&context));
  PassManager manager(&context);
  manager.addPass(createCheckStream());
  if (module)
    (void)manager.run(*module);
}

static void writeFindings(StringRef text, const llvm::lsp::URIForFile &uri, const DialectRegistry &registry,
                          raw_ostream &stream) {
  SmallVector<StringRef> texts;
  text.split(texts, kDefaultSplitMarker);
  unsigned line = 0;
  for (StringRef each : texts) {
    Part part(each, uri, line);
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    context.allowUnregisteredDialects();
    context.printOpOnDiagnostic(false);
    ScopedDiagnosticHandler handler(&context,
                                    [&](mlir::Diagnostic &diagnostic) { stream << part.describe(diagnostic); });
    part.check(context);
    line += each.count('\n');
  }
}

/// Whether the parser may be tried; writes what would harm it.
static bool isParsable(StringRef text, const llvm::lsp::URIForFile &uri, std::string &found) {
  Part whole(text, uri);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) { found += whole.describe(diagnostic); });
  return succeeded(tools::checkParsable(whole.sources, context));
}

/// Whether parsing and checking come to an end; writes what they find.
static bool tryDocument(StringRef text, const llvm::lsp::URIForFile &uri, const DialectRegistry &registry,
                        std::string &found) {
  constexpr unsigned seconds = 60;
  int file = memfd_create("findings", MFD_CLOEXEC);
  if (file < 0)
    report_bad_alloc_error("a file");
  bool isEnded = tools::comesToAnEnd(
      [&] {
        raw_fd_ostream stream(file, /*shouldClose=*/false, /*unbuffered=*/true);
        writeFindings(text, uri, registry, stream);
      },
      seconds);
  auto buffer = MemoryBuffer::getOpenFile(file, "findings", lseek(file, 0, SEEK_END), /*RequiresNullTerminator=*/false);
  if (buffer)
    found = (*buffer)->getBuffer().str();
  close(file);
  return isEnded;
}

editor::DocumentCheck editor::checkDocument(StringRef text, const llvm::lsp::URIForFile &uri,
                                            const DialectRegistry &registry) {
  std::string found;
  DocumentCheck check;
  check.mayBeRead = isParsable(text, uri, found) && tryDocument(text, uri, registry, found);
  SmallVector<StringRef> lines;
  StringRef(found).split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    json::Value diagnostic = cantFail(json::parse(line), "expected what was written here");
    bool isWarning = diagnostic.getAsObject()->getInteger("severity") == int(llvm::lsp::DiagnosticSeverity::Warning);
    if (isWarning == check.mayBeRead)
      check.diagnostics.push_back(std::move(diagnostic));
  }
  if (!check.mayBeRead && check.diagnostics.empty()) {
    llvm::lsp::Diagnostic first;
    first.range.end.character = 1;
    first.severity = llvm::lsp::DiagnosticSeverity::Error;
    first.source = "resid";
    first.message = "the parser of MLIR fell over this text without a word";
    check.diagnostics.push_back(toJSON(first));
  }
  return check;
}
