// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Printing diagnostics; see Diagnostics.h.

#include "tools/common/Diagnostics.h"

#include "mlir/IR/Location.h"

using namespace mlir;
using namespace mlir::resid;

tools::DiagnosticPrinter::DiagnosticPrinter(llvm::SourceMgr &sourceManager, MLIRContext &context,
                                            llvm::raw_ostream &stream)
    : sourceManager(sourceManager), stream(stream), printer(sourceManager, &context, stream),
      longLines(&context, [this](Diagnostic &diagnostic) { return printWithoutLine(diagnostic); }) {}

/// The printer shows lines of any place within a location, so each one counts.
bool tools::DiagnosticPrinter::isOnLongLine(Location location) {
  if (sourceManager.getNumBuffers() == 0)
    return false;
  const llvm::MemoryBuffer *buffer = sourceManager.getMemoryBuffer(sourceManager.getMainFileID());
  WalkResult result = location->walk([&](Location part) {
    auto place = dyn_cast<FileLineColLoc>(part);
    if (!place || place.getFilename() != buffer->getBufferIdentifier())
      return WalkResult::advance();
    llvm::SMLoc line = sourceManager.FindLocForLineAndColumn(sourceManager.getMainFileID(), place.getLine(), 1);
    if (!line.isValid())
      return WalkResult::advance();
    llvm::StringRef rest(line.getPointer(), buffer->getBufferEnd() - line.getPointer());
    bool isLong =
        rest.take_front(maxPrintedLine + 1).find('\n') == llvm::StringRef::npos && rest.size() > maxPrintedLine;
    return isLong ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

static llvm::StringRef name(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  llvm_unreachable("unknown severity");
}

/// `input` is the file where a place in it is not known.
static void printMessage(llvm::raw_ostream &stream, const Diagnostic &diagnostic, llvm::StringRef input) {
  if (auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
    stream << place.getFilename().getValue() << ':' << place.getLine() << ':' << place.getColumn() << ": ";
  else if (!input.empty())
    stream << input << ": ";
  stream << name(diagnostic.getSeverity()) << ": ";
  // A message may quote a word of the line, and a word may be all of it.
  std::string text = diagnostic.str();
  stream << llvm::StringRef(text).take_front(tools::maxPrintedLine)
         << (text.size() > tools::maxPrintedLine ? "…\n" : "\n");
}

LogicalResult tools::DiagnosticPrinter::printWithoutLine(Diagnostic &diagnostic) {
  bool isLong = isOnLongLine(diagnostic.getLocation());
  for (Diagnostic &note : diagnostic.getNotes())
    isLong |= isOnLongLine(note.getLocation());
  bool hasPlace = static_cast<bool>(diagnostic.getLocation()->findInstanceOf<FileLineColLoc>());
  if (!isLong && hasPlace)
    return failure(); // the printer has it
  llvm::StringRef input;
  if (sourceManager.getNumBuffers() != 0)
    input = sourceManager.getMemoryBuffer(sourceManager.getMainFileID())->getBufferIdentifier();
  printMessage(stream, diagnostic, input);
  for (const Diagnostic &note : diagnostic.getNotes())
    printMessage(stream, note, /*input=*/"");
  return success();
}
