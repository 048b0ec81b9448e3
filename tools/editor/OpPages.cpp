// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/editor/OpPages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace mlir::resid::editor;

static constexpr struct {
  const char *name, *text;
} pages[] = {
#include "OpPages.inc"
};

/// What stands between two marks, or nothing.
static StringRef between(StringRef text, StringRef begin, StringRef end) {
  size_t from = text.find(begin);
  return from == StringRef::npos ? StringRef() : text.substr(from + begin.size()).split(end).first;
}

/// The rows of the table of attributes.
static std::vector<OpAttribute> readAttributes(StringRef page) {
  std::vector<OpAttribute> attributes;
  SmallVector<StringRef> rows;
  page.split(rows, "<tr><td>");
  for (StringRef row : drop_begin(rows)) {
    auto [name, rest] = row.split("</td><td>");
    auto [type, description] = rest.split("</td><td>");
    attributes.push_back(
        {between(name, "<code>", "</code>").str(), type.str(), description.split("</td>").first.str()});
  }
  return attributes;
}

/// Whether a paragraph helps whoever writes a program: how results round and what gradients are is in the reference.
static bool isShown(StringRef paragraph) {
  return !paragraph.starts_with("**Gradient.**") && !paragraph.starts_with("**Rounding.**");
}

static OpPage readPage(StringRef name, StringRef page) {
  OpPage result{name.str(), between(page, "\n_", "_\n").str(), {}, readAttributes(page)};
  StringRef body = page.split("_\n").second.split("\nTraits:").first.split("\n#### ").first;
  result.text = "### `resid." + result.name + "`\n\n_" + result.summary + "_\n";
  SmallVector<StringRef> paragraphs;
  body.trim('\n').split(paragraphs, "\n\n");
  for (StringRef paragraph : paragraphs)
    if (isShown(paragraph))
      result.text += "\n" + paragraph.str() + "\n";
  return result;
}

ArrayRef<OpPage> mlir::resid::editor::getOpPages() {
  static const std::vector<OpPage> read = [] {
    std::vector<OpPage> all;
    for (auto [name, text] : pages)
      all.push_back(readPage(name, text));
    return all;
  }();
  return read;
}

const OpPage *mlir::resid::editor::findOpPage(StringRef name) {
  if (!name.consume_front("resid."))
    return nullptr;
  ArrayRef<OpPage> all = getOpPages();
  const OpPage *found = find_if(all, [&](const OpPage &page) { return page.name == name; });
  return found == all.end() ? nullptr : found;
}
