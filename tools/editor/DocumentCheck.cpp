// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A child that parses, checks and writes what it finds into a file in memory, one diagnostic a line.

#include "tools/editor/DocumentCheck.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/ToolUtilities.h"
#include "passes/Passes.h"
#include "tools/common/ChildTrial.h"
#include "tools/common/Parse.h"
#include "tools/editor/Positions.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
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
  StringRef text;
  unsigned firstLine;
  StringRef uri;

  /// The name at a place, or one character.
  json::Object findRange(Location location) const;
  json::Object describe(Diagnostic &diagnostic) const;
  OwningOpRef<ModuleOp> parse(MLIRContext &context) const;
};
} // namespace

json::Object Part::findRange(Location location) const {
  auto place = location->findInstanceOf<FileLineColLoc>();
  unsigned line = place && place.getLine() ? place.getLine() - 1 : 0;
  size_t begin = place && place.getColumn() ? place.getColumn() - 1 : 0;
  StringRef here = text;
  for (unsigned i = 0; i != line; ++i)
    here = here.split('\n').second;
  here = here.split('\n').first;
  size_t end = begin;
  while (end < here.size() && editor::isNameCharacter(here[end]))
    ++end;
  return editor::makeRange(firstLine + line, here, begin, std::max(end, begin + 1));
}

json::Object Part::describe(Diagnostic &diagnostic) const {
  bool isError = diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
  std::string message = diagnostic.str();
  json::Array related;
  for (Diagnostic &note : diagnostic.getNotes()) {
    if (StringRef(note.str()).starts_with("mend: "))
      message += "\n" + note.str();
    else
      related.push_back(json::Object{{"location", json::Object{{"uri", uri}, {"range", findRange(note.getLocation())}}},
                                     {"message", note.str()}});
  }
  json::Object result{{"range", findRange(diagnostic.getLocation())},
                      {"severity", isError ? 1 : 2},
                      {"source", isError ? "resid" : "resid-check-stream"},
                      {"message", message}};
  if (!related.empty())
    result["relatedInformation"] = std::move(related);
  return result;
}

/// As the server does.
OwningOpRef<ModuleOp> Part::parse(MLIRContext &context) const {
  SourceMgr sources;
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text), SMLoc());
  Block block;
  AsmParserState state;
  if (failed(parseAsmSourceFile(sources, &block, ParserConfig(&context), &state)))
    return nullptr;
  return mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(&block, &context, UnknownLoc::get(&context));
}

/// The line after which the child has parsed all.
static constexpr StringLiteral parserEnd = "[]";

static SmallVector<Part> splitParts(StringRef text, StringRef uri) {
  SmallVector<StringRef> texts;
  text.split(texts, kDefaultSplitMarker);
  SmallVector<Part> parts;
  for (StringRef each : texts)
    parts.push_back({each, parts.empty() ? 0 : parts.back().firstLine + unsigned(parts.back().text.count('\n')), uri});
  return parts;
}

/// Parses one part; then, with `areWarnings`, writes the warnings for it, else the parser's errors.
static void writeFindings(const Part &part, bool areWarnings, const DialectRegistry &registry, raw_ostream &stream) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  context.printOpOnDiagnostic(false);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == (areWarnings ? mlir::DiagnosticSeverity::Warning : mlir::DiagnosticSeverity::Error))
      stream << json::Value(part.describe(diagnostic)) << "\n";
  });
  OwningOpRef<ModuleOp> module = part.parse(context);
  if (!module || !areWarnings)
    return;
  PassManager manager(&context);
  manager.addPass(createCheckStream());
  (void)manager.run(*module);
}

/// What would harm the parser so that it is not even tried.
static json::Array findUnparsable(StringRef text, StringRef uri) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  json::Array found;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    found.push_back(Part{text, 0, uri}.describe(diagnostic));
  });
  SourceMgr sources;
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBuffer(text, "", /*RequiresNullTerminator=*/false), SMLoc());
  LogicalResult result = tools::checkParsable(sources, context);
  assert(failed(result) == !found.empty() && "expected a message with each refusal");
  (void)result;
  return found;
}

editor::DocumentCheck editor::checkDocument(StringRef text, StringRef uri, const DialectRegistry &registry) {
  constexpr unsigned seconds = 60;
  DocumentCheck check;
  check.refusals = findUnparsable(text, uri);
  if (!check.refusals.empty())
    return check;
  int file = memfd_create("findings", MFD_CLOEXEC);
  if (file < 0)
    report_bad_alloc_error("a file");
  bool isEnded = tools::comesToAnEnd(
      [&] {
        raw_fd_ostream stream(file, /*shouldClose=*/false, /*unbuffered=*/true);
        SmallVector<Part> parts = splitParts(text, uri);
        for (const Part &part : parts)
          writeFindings(part, /*areWarnings=*/false, registry, stream);
        stream << parserEnd << "\n";
        for (const Part &part : parts)
          writeFindings(part, /*areWarnings=*/true, registry, stream);
      },
      seconds);
  auto buffer = MemoryBuffer::getOpenFile(file, "findings", lseek(file, 0, SEEK_END), /*RequiresNullTerminator=*/false);
  SmallVector<StringRef> lines;
  if (buffer)
    (*buffer)->getBuffer().split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  close(file);
  const auto *end = llvm::find(lines, parserEnd);
  bool isParsed = end != lines.end();
  ArrayRef<StringRef> kept(isParsed ? end + 1 : lines.begin(), lines.end());
  // A check that crashed has no warnings.
  for (StringRef line : isParsed && !isEnded ? ArrayRef<StringRef>() : kept)
    (isParsed ? check.warnings : check.refusals)
        .push_back(cantFail(json::parse(line), "expected what the child has written"));
  if (!isParsed && check.refusals.empty()) {
    json::Object first{{"range", makeRange(0, "", 0, 1)}, {"severity", 1}, {"source", "resid"}};
    first["message"] = "the parser of MLIR fell over this text without a word";
    check.refusals.push_back(std::move(first));
  }
  return check;
}
