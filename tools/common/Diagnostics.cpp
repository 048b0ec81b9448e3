// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/common/Diagnostics.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace mlir;
using namespace mlir::resid;

tools::DiagnosticPrinter::DiagnosticPrinter(llvm::SourceMgr &sourceManager, MLIRContext &context,
                                            llvm::raw_ostream &stream)
    : sourceManager(sourceManager), stream(stream), printer(sourceManager, &context, stream),
      unusual(&context, [this](Diagnostic &diagnostic) { return printUnusual(diagnostic); }) {}

//===----------------------------------------------------------------------===//
// Signs that a terminal obeys
//===----------------------------------------------------------------------===//

/// The bytes at the beginning of a text that are one sign which a terminal shows; 0 where it shows none or obeys it.
static size_t countShown(llvm::StringRef text) {
  auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80)
    return llvm::isPrint(text.front()) || first == '\t' ? 1 : 0;
  size_t count = llvm::getNumBytesForUTF8(first);
  auto *bytes = reinterpret_cast<const llvm::UTF8 *>(text.data());
  if (count > text.size() || !llvm::isLegalUTF8Sequence(bytes, bytes + count))
    return 0;
  // U+0080 to U+009F are controls too.
  return first == 0xC2 && bytes[1] < 0xA0 ? 0 : count;
}

/// The text with a backslash and two digits for each byte that is no sign to show. Lines stay lines.
static std::string escape(llvm::StringRef text) {
  std::string shown;
  while (!text.empty()) {
    size_t count = text.front() == '\n' ? 1 : countShown(text);
    shown += count ? text.take_front(count).str() : "\\" + llvm::toHex(text.take_front(1));
    text = text.drop_front(std::max<size_t>(count, 1));
  }
  return shown;
}

static bool isPlain(llvm::StringRef text) { return escape(text) == text; }

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

/// The line at a place of the program, without its end; no more of a long one than tells that it is long.
static std::optional<llvm::StringRef> findLine(llvm::SourceMgr &sourceManager, FileLineColLoc place) {
  if (sourceManager.getNumBuffers() == 0)
    return std::nullopt;
  const llvm::MemoryBuffer *buffer = sourceManager.getMemoryBuffer(sourceManager.getMainFileID());
  if (place.getFilename() != buffer->getBufferIdentifier())
    return std::nullopt;
  llvm::SMLoc line = sourceManager.FindLocForLineAndColumn(sourceManager.getMainFileID(), place.getLine(), 1);
  if (!line.isValid())
    return std::nullopt;
  llvm::StringRef rest(line.getPointer(), buffer->getBufferEnd() - line.getPointer());
  llvm::StringRef text = rest.take_front(tools::maxPrintedLine + 1).split('\n').first;
  text.consume_back("\r");
  return text;
}

/// The printer shows lines of any place within a location, so each one counts.
bool tools::DiagnosticPrinter::isOnLine(Location location, llvm::function_ref<bool(llvm::StringRef)> isMeant) {
  WalkResult result = location->walk([&](Location part) {
    auto place = dyn_cast<FileLineColLoc>(part);
    std::optional<llvm::StringRef> line = place ? findLine(sourceManager, place) : std::nullopt;
    return line && isMeant(*line) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// With a mark below the column, unless signs of other widths stand on the line.
static void printLine(llvm::raw_ostream &stream, llvm::StringRef line, unsigned column) {
  std::string shown = escape(line);
  if (shown.size() > tools::maxPrintedLine)
    return;
  stream << shown << "\n";
  if (column == 0 || !llvm::all_of(shown, [](char c) { return llvm::isASCII(c); }))
    return;
  for (char c : escape(line.take_front(column - 1)))
    stream << (c == '\t' ? '\t' : ' ');
  stream << "^\n";
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

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
void tools::DiagnosticPrinter::printMessage(const Diagnostic &diagnostic, llvm::StringRef input, bool hasLine) {
  auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>();
  if (place)
    stream << place.getFilename().getValue() << ':' << place.getLine() << ':' << place.getColumn() << ": ";
  else if (!input.empty())
    stream << input << ": ";
  stream << name(diagnostic.getSeverity()) << ": ";
  // A message may quote a word of the line, and a word may be all of it.
  std::string text = diagnostic.str();
  stream << escape(llvm::StringRef(text).take_front(maxPrintedLine)) << (text.size() > maxPrintedLine ? "…\n" : "\n");
  if (std::optional<llvm::StringRef> line = place && hasLine ? findLine(sourceManager, place) : std::nullopt)
    printLine(stream, *line, place.getColumn());
}

/// What the printer would not print as it should: without a place, on long lines, or with signs that a terminal obeys.
LogicalResult tools::DiagnosticPrinter::printUnusual(Diagnostic &diagnostic) {
  auto isLong = [](llvm::StringRef line) { return line.size() > maxPrintedLine; };
  auto isStrange = [](llvm::StringRef line) { return !isPlain(line); };
  bool isOnLongLine = isOnLine(diagnostic.getLocation(), isLong);
  bool hasStrangeSigns = isOnLine(diagnostic.getLocation(), isStrange) || !isPlain(diagnostic.str());
  for (Diagnostic &note : diagnostic.getNotes()) {
    isOnLongLine |= isOnLine(note.getLocation(), isLong);
    hasStrangeSigns |= isOnLine(note.getLocation(), isStrange) || !isPlain(note.str());
  }
  bool hasPlace = static_cast<bool>(diagnostic.getLocation()->findInstanceOf<FileLineColLoc>());
  if (!isOnLongLine && !hasStrangeSigns && hasPlace)
    return failure(); // the printer has it
  llvm::StringRef input;
  if (sourceManager.getNumBuffers() != 0)
    input = sourceManager.getMemoryBuffer(sourceManager.getMainFileID())->getBufferIdentifier();
  printMessage(diagnostic, input, /*hasLine=*/!isOnLongLine);
  for (const Diagnostic &note : diagnostic.getNotes())
    printMessage(note, /*input=*/"", /*hasLine=*/!isOnLongLine);
  return success();
}
