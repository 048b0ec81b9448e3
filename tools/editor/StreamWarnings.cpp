// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A child that checks and writes what it finds into a file in memory; see StreamWarnings.h.

#include "tools/editor/StreamWarnings.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/ToolUtilities.h"
#include "passes/Passes.h"
#include "tools/common/Trial.h"
#include "tools/editor/Positions.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;
using namespace mlir;
using namespace mlir::resid;

namespace {
/// One part of a document, which begins on line `firstLine`, counted from 0.
class PartChecker {
public:
  PartChecker(StringRef part, unsigned firstLine, StringRef uri, raw_ostream &stream)
      : firstLine(firstLine), uri(uri), stream(stream), part(part) {
    part.split(lines, '\n');
  }
  void check(const DialectRegistry &registry);

private:
  json::Object findRange(Location location) const;
  json::Object describe(Diagnostic &diagnostic) const;

  unsigned firstLine;
  StringRef uri;
  raw_ostream &stream;
  StringRef part;
  SmallVector<StringRef> lines;
};
} // namespace

/// The name at a place, or one character.
json::Object PartChecker::findRange(Location location) const {
  auto place = location->findInstanceOf<FileLineColLoc>();
  unsigned line = place && place.getLine() ? place.getLine() - 1 : 0;
  size_t begin = place && place.getColumn() ? place.getColumn() - 1 : 0;
  StringRef text = line < lines.size() ? lines[line] : StringRef();
  size_t end = begin;
  while (end < text.size() && editor::isNameCharacter(text[end]))
    ++end;
  return editor::makeRange(firstLine + line, text, begin, std::max(end, begin + 1));
}

json::Object PartChecker::describe(Diagnostic &diagnostic) const {
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
                      {"severity", 2},
                      {"source", "resid-check-stream"},
                      {"message", message}};
  if (!related.empty())
    result["relatedInformation"] = std::move(related);
  return result;
}

void PartChecker::check(const DialectRegistry &registry) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  context.printOpOnDiagnostic(false);
  OwningOpRef<ModuleOp> module;
  {
    ScopedDiagnosticHandler ignored(&context, [](Diagnostic &) { return success(); });
    module = parseSourceString<ModuleOp>(part, &context);
  }
  if (!module)
    return;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Warning)
      stream << json::Value(describe(diagnostic)) << "\n";
    return success();
  });
  PassManager manager(&context);
  manager.addPass(createCheckStream());
  (void)manager.run(*module);
}

/// The lines of JSON in a file, as an array.
static json::Array readLines(int file) {
  json::Array found;
  size_t size = lseek(file, 0, SEEK_END);
  lseek(file, 0, SEEK_SET);
  auto buffer = MemoryBuffer::getOpenFile(file, "warnings", size, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return found;
  SmallVector<StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    found.push_back(cantFail(json::parse(line), "expected what the child has written"));
  return found;
}

json::Array editor::findStreamWarnings(StringRef text, StringRef uri, const DialectRegistry &registry) {
  constexpr unsigned seconds = 20;
  int file = memfd_create("warnings", MFD_CLOEXEC);
  if (file < 0)
    report_bad_alloc_error("a file");
  bool isEnded = tools::comesToAnEnd(
      [&] {
        raw_fd_ostream stream(file, /*shouldClose=*/false, /*unbuffered=*/true);
        SmallVector<StringRef> parts;
        text.split(parts, kDefaultSplitMarker);
        unsigned line = 0;
        for (StringRef part : parts) {
          PartChecker(part, line, uri, stream).check(registry);
          line += part.count('\n');
        }
      },
      seconds);
  json::Array found;
  if (isEnded)
    found = readLines(file);
  close(file);
  return found;
}
