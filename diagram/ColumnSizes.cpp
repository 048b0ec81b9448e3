// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "diagram/ColumnSizes.h"

#include "diagram/Metrics.h"
#include "diagram/TextFit.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>

using namespace llvm;
using namespace mlir::resid::diagram;
using namespace mlir::resid::diagram::metrics;

/// The width of the widest word of a text.
static int getWordWidth(StringRef text, StringRef style) {
  SmallVector<StringRef> words;
  text.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  int width = 0;
  for (StringRef word : words)
    width = std::max(width, getTextWidth(word, style));
  return width;
}

static int getPartWidth(const Part &part) {
  return std::max(getWordWidth(part.title, "title"), getWordWidth(part.details, "detail")) + 2 * boxPadding;
}

int mlir::resid::diagram::getSkipBoxWidth(const Part &part) {
  return std::max(skipBoxWidth, getTextWidth(part.title, "title") + 2 * boxPadding);
}

int mlir::resid::diagram::getNoteDistance(const SubLayer &layer) {
  return layer.skipScale ? getSkipBoxWidth(*layer.skipScale) / 2 + 6 : 10 - getStreamOffset(0, layer.streams);
}

int mlir::resid::diagram::getStreamOffset(int index, int count) {
  int step = count > 1 ? std::min(streamStep, (boxWidth - 2 * boxPadding) / (count - 1)) : 0;
  return (2 * index - (count - 1)) * step / 2;
}

namespace {
/// The widest of each kind among the elements of a stream.
struct Widest {
  int box = boxWidth, memory = 0, note = 0, skip = 0, depth = 0;
  void add(const Part &part) { box = std::max(box, std::min(getPartWidth(part), maxBoxWidth)); }
  void add(const SubLayer &layer);
};
} // namespace

void Widest::add(const SubLayer &layer) {
  for (const Part &part : layer.branch)
    add(part);
  for (const std::optional<Part> *part : {&layer.beforeSubLayer, &layer.afterAdd, &layer.read, &layer.write})
    if (*part)
      add(**part);
  if (!layer.placement.empty())
    note = std::max(note, getTextWidth(layer.placement, "note") + getNoteDistance(layer));
  if (layer.skipScale)
    skip = std::max(skip, getSkipBoxWidth(*layer.skipScale));
  if (!layer.memory.empty())
    memory = std::clamp(getTextWidth(layer.memory, "detail") + 2 * boxPadding, std::max(memory, memoryWidth),
                        maxMemoryWidth);
}

ColumnSizes mlir::resid::diagram::measureColumn(const Stream &stream) {
  Widest widest;
  int depth = 0;
  for (const Element &element : stream.elements) {
    depth += std::holds_alternative<LoopBegin>(element) - std::holds_alternative<LoopEnd>(element);
    widest.depth = std::max(widest.depth, depth);
    if (auto *layer = std::get_if<SubLayer>(&element))
      widest.add(*layer);
    else if (auto *part = std::get_if<Part>(&element))
      widest.add(*part);
    else if (auto *head = std::get_if<Head>(&element))
      widest.add(head->read);
  }
  int inset = frameStep * std::max(0, widest.depth - 1);
  ColumnSizes sizes;
  sizes.boxWidth = widest.box + widest.box % 2;
  sizes.memoryWidth = widest.memory;
  sizes.streamX = inset + std::max(columnMargin + sizes.boxWidth / 2, frameMargin + boxPadding + widest.note);
  sizes.branchX = sizes.streamX + std::max(sizes.boxWidth / 2, widest.skip / 2) + branchMargin + sizes.boxWidth / 2;
  int right = sizes.branchX + sizes.boxWidth / 2 + (sizes.memoryWidth ? memoryGap + sizes.memoryWidth : 0);
  sizes.width = right + branchMargin + inset;
  return sizes;
}
