// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/editor/Formatting.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/ToolUtilities.h"
#include "tools/editor/Positions.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;
using namespace mlir;
using namespace mlir::resid;

namespace {

/// The lines of a text on which something begins: an op or its results, a block's label, an alias.
struct Beginnings {
  llvm::DenseSet<unsigned> statements, labels;
};

struct Line {
  StringRef text;
  /// Without white space at its ends.
  StringRef content;
  /// The braces around the line, and how many close at its very begin.
  int depth = 0, closes = 0;
  int getOldIndent() const { return static_cast<int>(text.size() - text.ltrim(" \t").size()); }
};

} // namespace

/// Adds what begins in one part of a document, which begins on line `firstLine`. Whether the part parses.
static bool findBeginnings(StringRef part, unsigned firstLine, const DialectRegistry &registry, Beginnings &found) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  ScopedDiagnosticHandler ignored(&context, [](Diagnostic &) { return success(); });
  SourceMgr sources;
  unsigned id = sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(part), SMLoc());
  Block block;
  AsmParserState state;
  if (failed(parseAsmSourceFile(sources, &block, ParserConfig(&context), &state)))
    return false;
  StringRef read = sources.getMemoryBuffer(id)->getBuffer();
  // What does not begin its line moves with it. A block without a label begins after the brace of its region.
  auto add = [&](SMRange range, llvm::DenseSet<unsigned> &lines) {
    if (!range.isValid())
      return;
    StringRef before = read.take_front(range.Start.getPointer() - read.data());
    if (before.substr(before.rfind('\n') + 1).trim(" \t").empty())
      lines.insert(firstLine + sources.getLineAndColumn(range.Start, id).first - 1);
  };
  // An op with results begins where the first of these is named.
  for (const AsmParserState::OperationDefinition &op : state.getOpDefs())
    add(op.resultGroups.empty() ? op.loc : op.resultGroups.front().definition.loc, found.statements);
  for (const AsmParserState::BlockDefinition &label : state.getBlockDefs())
    add(label.definition.loc, found.labels);
  for (const AsmParserState::AttributeAliasDefinition &alias : state.getAttributeAliasDefs())
    add(alias.definition.loc, found.statements);
  for (const AsmParserState::TypeAliasDefinition &alias : state.getTypeAliasDefs())
    add(alias.definition.loc, found.statements);
  return true;
}

/// Adds up the braces of a line, without those in strings and comments. Those before anything else are its `closes`.
static int countBraces(Line &line, int depth) {
  bool isAtBegin = true, isInString = false;
  for (size_t i = 0; i < line.content.size(); ++i) {
    char character = line.content[i];
    if (isInString) {
      i += character == '\\';
      isInString = character != '"';
      continue;
    }
    if (line.content.substr(i).starts_with("//"))
      break;
    isInString = character == '"';
    depth += (character == '{') - (character == '}');
    isAtBegin &= character == '}' || character == ' ';
    line.closes += isAtBegin && character == '}';
  }
  return depth;
}

static std::vector<Line> readLines(StringRef text) {
  SmallVector<StringRef> texts;
  text.split(texts, '\n');
  std::vector<Line> lines;
  int depth = 0;
  for (StringRef each : texts) {
    Line line{each, each.trim(" \t\r"), depth};
    depth = countBraces(line, depth);
    lines.push_back(line);
  }
  return lines;
}

/// Where each line is to begin. A comment of its own stands as what comes after it.
static std::vector<int> findIndents(ArrayRef<Line> lines, const Beginnings &beginnings) {
  std::vector<int> indents(lines.size());
  int moved = 0, begin = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const Line &line = lines[i];
    bool isLabel = beginnings.labels.contains(i);
    if (isLabel || line.closes || beginnings.statements.contains(i)) {
      begin = 2 * std::max(0, line.depth - (isLabel ? 1 : line.closes));
      moved = begin - line.getOldIndent();
      indents[i] = begin;
    } else {
      int indent = line.getOldIndent() + moved;
      indents[i] = indent > begin ? indent : begin + 4;
    }
  }
  for (size_t i = lines.size(); i-- > 0;) {
    if (!lines[i].content.starts_with("//"))
      continue;
    bool isLast = i + 1 == lines.size() || lines[i + 1].closes || lines[i + 1].content.empty();
    indents[i] = isLast ? 2 * lines[i].depth : indents[i + 1];
  }
  return indents;
}

/// The edits of one line: new white space in front, and none after.
static void editLine(const Line &line, unsigned number, int indent, json::Array &edits) {
  auto edit = [&](size_t from, size_t to, const std::string &with) {
    edits.push_back(json::Object{{"range", editor::makeRange(number, line.text, from, to)}, {"newText", with}});
  };
  size_t old = line.content.empty() ? 0 : line.getOldIndent(), end = old + line.content.size();
  std::string wanted(line.content.empty() ? 0 : indent, ' ');
  if (line.text.take_front(old) != wanted)
    edit(0, old, wanted);
  size_t behind = line.text.size() - (line.text.ends_with("\r") ? 1 : 0);
  if (end < behind)
    edit(end, behind, "");
}

std::optional<json::Array> editor::format(StringRef text, const DialectRegistry &registry) {
  Beginnings beginnings;
  SmallVector<StringRef> parts;
  text.split(parts, kDefaultSplitMarker);
  unsigned first = 0;
  for (StringRef part : parts) {
    if (!findBeginnings(part, first, registry, beginnings))
      return std::nullopt;
    first += part.count('\n');
  }
  std::vector<Line> lines = readLines(text);
  std::vector<int> indents = findIndents(lines, beginnings);
  json::Array edits;
  for (size_t i = 0; i < lines.size(); ++i)
    editLine(lines[i], i, indents[i], edits);
  return edits;
}
