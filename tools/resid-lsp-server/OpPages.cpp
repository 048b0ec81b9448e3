// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/resid-lsp-server/OpPages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <tuple>

using namespace llvm;
using namespace mlir::resid::editor;

static constexpr struct {
  const char *name, *text;
} pages[] = {
#include "OpPages.inc"
};

/// The first use of an op in the example of its page, from the op's name on: the rest of its line, and the lines that
/// belong to it.
static std::string findUse(StringRef name, StringRef text) {
  size_t begin = text.find((name + " ").str(), text.find("```mlir\n", text.find("**Example.**")));
  if (begin == StringRef::npos)
    return name.str();
  StringRef before = text.take_front(begin), line = before.substr(before.rfind('\n') + 1);
  StringRef indentation = line.take_front(line.size() - line.ltrim().size());
  auto [use, rest] = text.substr(begin).split('\n');
  std::string all = use.str();
  while (rest.consume_front(indentation) && StringRef(" ^}").contains(rest.front())) {
    std::tie(use, rest) = rest.split('\n');
    all += "\n" + use.str();
  }
  return all;
}

/// Leaves out what does not help whoever writes a program: how results round and what gradients are is in the
/// reference.
static OpPage readPage(StringRef name, StringRef page) {
  auto [summary, body] = page.split("\n_").second.split("_\n");
  OpPage result;
  result.name = ("resid." + name).str();
  result.summary = summary.str();
  result.text = "### `" + result.name + "`\n\n_" + result.summary + "_\n";
  SmallVector<StringRef> paragraphs;
  body.split("\nTraits:").first.split("\n#### ").first.trim('\n').split(paragraphs, "\n\n");
  for (StringRef paragraph : paragraphs)
    if (!paragraph.starts_with("**Gradient.**") && !paragraph.starts_with("**Rounding.**"))
      result.text += "\n" + paragraph.str() + "\n";
  result.use = findUse(result.name, result.text);
  return result;
}

ArrayRef<OpPage> mlir::resid::editor::getOpPages() {
  static const auto read = map_to_vector(pages, [](const auto &page) { return readPage(page.name, page.text); });
  return read;
}
