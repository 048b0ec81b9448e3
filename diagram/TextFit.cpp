// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "diagram/TextFit.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"
#include <cstdint>

using namespace llvm;
using namespace mlir::resid::diagram;

/// The advances of the characters from space to tilde in thousandths of an em, in DejaVu Sans. A drawing names no
/// font, only its kind; with Verdana this one is the widest of those that stand for sans-serif.
static constexpr uint16_t advances[] = {318,  401, 460, 838, 637, 951, 780, 275, 391, 391, 500, 838, 318, 361, 318, 337,
                                        637,  637, 637, 637, 637, 637, 637, 637, 637, 637, 337, 337, 838, 838, 838, 531,
                                        1000, 685, 687, 699, 771, 632, 576, 775, 752, 295, 295, 656, 558, 863, 749, 788,
                                        604,  788, 695, 635, 611, 732, 685, 989, 686, 611, 686, 391, 337, 391, 838, 500,
                                        500,  613, 635, 550, 635, 616, 353, 635, 634, 278, 278, 580, 278, 975, 634, 612,
                                        635,  635, 412, 521, 393, 634, 592, 818, 592, 592, 525, 637, 337, 637, 838};

/// Of all characters of monospace fonts; others than those of ASCII may come from another font.
static constexpr unsigned monospaceAdvance = 603, otherAdvance = 1000;

namespace {
/// As the style sheet has it (Diagram.cpp); the size is in tenths of a pixel.
struct Font {
  bool isMonospace;
  unsigned size;
};
} // namespace

static Font getFont(StringRef style) {
  return StringSwitch<Font>(style)
      .Case("name", {true, 140})
      .Case("detail", {true, 105})
      .Case("note", {false, 115})
      .Default({false, 125});
}

int mlir::resid::diagram::getTextWidth(StringRef text, StringRef style) {
  Font font = getFont(style);
  uint64_t width = 0;
  for (char character : text) {
    auto code = static_cast<unsigned char>(character);
    if (code >= ' ' && code <= '~')
      width += font.isMonospace ? monospaceAdvance : advances[code - ' '];
    else if ((code & 0xC0) != 0x80)
      width += otherAdvance;
  }
  return static_cast<int>((width * font.size + 9999) / 10000);
}

/// As much of a word as fits, and an ellipsis.
static std::string shorten(StringRef word, StringRef style, int width) {
  auto fits = [&] { return getTextWidth(word, style) + getTextWidth("…", style) <= width; };
  while (!word.empty() && !fits()) {
    while (word.size() > 1 && (static_cast<unsigned char>(word.back()) & 0xC0) == 0x80)
      word = word.drop_back();
    word = word.drop_back();
  }
  return word.str() + "…";
}

/// A line that more words would follow: as many of its own as leave room for an ellipsis.
static std::string endLine(StringRef line, StringRef style, int width) {
  while (!line.ends_with("…") && getTextWidth((line + " …").str(), style) > width) {
    size_t space = line.rfind(' ');
    if (space == StringRef::npos)
      return "…";
    line = line.substr(0, space);
  }
  return line.ends_with("…") ? line.str() : (line + " …").str();
}

FittedText mlir::resid::diagram::fitText(StringRef text, StringRef style, int width, unsigned lines) {
  FittedText fitted;
  SmallVector<StringRef> words;
  text.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  std::string line;
  for (StringRef word : words) {
    bool isTooWide = getTextWidth(word, style) > width;
    fitted.isCut |= isTooWide;
    std::string shown = isTooWide ? shorten(word, style, width) : word.str();
    std::string longer = line.empty() ? shown : line + " " + shown;
    if (getTextWidth(longer, style) <= width) {
      line = longer;
      continue;
    }
    if (fitted.lines.size() + 1 == lines) {
      fitted.isCut = true;
      line = endLine(line, style, width);
      break;
    }
    fitted.lines.push_back(std::exchange(line, shown));
  }
  fitted.lines.push_back(line);
  return fitted;
}
