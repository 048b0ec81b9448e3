// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "diagram/Repeats.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;
using namespace mlir::resid::diagram;

/// How many elements a layer has at most. Bounds the search.
static constexpr size_t longestLayer = 64;

namespace {

/// A text of an element, and whether numbers in it may count up from layer to layer.
struct TextOf {
  std::string *text;
  bool mayCount;
};

/// A text as numbers and what stands between them; it begins and ends with the latter.
struct Counted {
  std::vector<std::string> between = {""};
  SmallVector<int64_t> numbers;
};

/// A run of `count` layers of `length` elements each.
struct Run {
  size_t length = 1, count = 1;
  size_t covered() const { return length * count; }
};

} // namespace

/// The texts of a part. Where a number is a size of what is computed it says more than which layer this is.
static void collect(Part &part, SmallVectorImpl<TextOf> &texts) {
  texts.push_back({&part.title, part.kind == PartKind::Branch || part.kind == PartKind::Source});
  texts.push_back({&part.details, true});
}

static SmallVector<TextOf> collectTexts(Element &element) {
  SmallVector<TextOf> texts;
  if (auto *layer = std::get_if<SubLayer>(&element)) {
    texts = {{&layer->placement, false}, {&layer->memory, true}};
    for (Part &part : layer->branch)
      collect(part, texts);
    for (std::optional<Part> *part :
         {&layer->beforeSubLayer, &layer->skipScale, &layer->afterAdd, &layer->read, &layer->write})
      if (*part)
        collect(**part, texts);
  } else if (auto *part = std::get_if<Part>(&element)) {
    collect(*part, texts);
  } else if (auto *begin = std::get_if<LoopBegin>(&element)) {
    texts = {{&begin->label, false}};
  } else if (auto *tap = std::get_if<Tap>(&element)) {
    texts = {{&tap->readers, true}};
  } else if (auto *head = std::get_if<Head>(&element)) {
    collect(head->read, texts);
  }
  return texts;
}

/// Takes numbers out that may be an index: whole ones, but no factors (`×2`) and no parts of others (`0.1`).
static Counted takeNumbersOut(StringRef text) {
  Counted counted;
  while (!text.empty()) {
    size_t begin = std::min(text.find_if(isDigit), text.size());
    StringRef digits = text.substr(begin).take_while(isDigit), before = text.substr(0, begin);
    StringRef after = text.substr(begin + digits.size());
    counted.between.back() += before;
    bool isPart = before.ends_with(".") || after.starts_with(".") || (digits.size() > 1 && digits.front() == '0');
    // Of a sequence that stands for several layers already.
    isPart |= before.ends_with(",") || (after.starts_with(",") && after.size() > 1 && isDigit(after[1]));
    bool isFactor = before.rtrim(' ').ends_with("×");
    int64_t number;
    if (isPart || isFactor || digits.size() > 9 || digits.getAsInteger(10, number)) {
      counted.between.back() += digits;
    } else {
      counted.numbers.push_back(number);
      counted.between.emplace_back();
    }
    text = after;
  }
  return counted;
}

/// Equal for elements that differ in numbers that may count alone.
static std::string getKey(Element &element) {
  std::string key(1, static_cast<char>('0' + element.index()));
  if (auto *layer = std::get_if<SubLayer>(&element)) {
    key += {layer->beforeSubLayer ? 'b' : '-', layer->skipScale ? 's' : '-', layer->afterAdd ? 'a' : '-',
            layer->readsStream ? 'r' : '-', static_cast<char>('a' + layer->streams)};
    for (const Part &part : layer->branch)
      key += static_cast<char>('0' + static_cast<int>(part.kind));
  }
  for (auto [text, mayCount] : collectTexts(element))
    key += "\n" + (mayCount ? llvm::join(takeNumbersOut(*text).between, "#") : *text);
  return key;
}

static SmallVector<int64_t> getNumbers(Element &element) {
  SmallVector<int64_t> numbers;
  for (auto [text, mayCount] : collectTexts(element))
    if (mayCount)
      llvm::append_range(numbers, takeNumbersOut(*text).numbers);
  return numbers;
}

/// `4` where nothing counts, `4,6` for two, `4..9` and `4,6..14` for more.
static std::string describeSequence(int64_t first, int64_t step, size_t count) {
  std::string text = std::to_string(first), last = std::to_string(first + step * static_cast<int64_t>(count - 1));
  if (step == 0)
    return text;
  if (count == 2)
    return text + "," + last;
  return text + (step == 1 ? "" : "," + std::to_string(first + step)) + ".." + last;
}

namespace {

class RepeatFolder {
public:
  explicit RepeatFolder(std::vector<Element> elements);
  std::vector<Element> fold();

private:
  bool isWhole(size_t begin, size_t end) const;
  bool continues(size_t first, size_t next, size_t step) const;
  Run measureRun(size_t begin, size_t length) const;
  Run findRun(size_t begin) const;
  bool isBeforeLonger(size_t begin, Run run) const;
  std::vector<Element> merge(size_t begin, Run run);

  std::vector<Element> elements;
  /// Per element: its key as a number, and its numbers.
  std::vector<unsigned> keys;
  std::vector<SmallVector<int64_t>> numbers;
};

} // namespace

RepeatFolder::RepeatFolder(std::vector<Element> given) : elements(std::move(given)) {
  StringMap<unsigned> known;
  for (Element &element : elements) {
    keys.push_back(known.try_emplace(getKey(element), known.size()).first->second);
    numbers.push_back(getNumbers(element));
  }
}

/// Whether what lies between holds a sub-layer, and ends the loops that it begins.
bool RepeatFolder::isWhole(size_t begin, size_t end) const {
  int depth = 0;
  bool hasSubLayer = false;
  for (size_t i = begin; i < end && depth >= 0; ++i) {
    depth += std::holds_alternative<LoopBegin>(elements[i]) - std::holds_alternative<LoopEnd>(elements[i]);
    hasSubLayer |= std::holds_alternative<SubLayer>(elements[i]);
  }
  return depth == 0 && hasSubLayer;
}

/// Whether the element at `next` is that at `first` again, some layers later, counting as the second one does.
bool RepeatFolder::continues(size_t first, size_t next, size_t length) const {
  if (keys[next] != keys[first] || numbers[next].size() != numbers[first].size() ||
      numbers[first + length].size() != numbers[first].size())
    return false;
  auto step = static_cast<int64_t>((next - first) / length);
  for (size_t i = 0; i < numbers[first].size(); ++i)
    if (numbers[next][i] != numbers[first][i] + step * (numbers[first + length][i] - numbers[first][i]))
      return false;
  return true;
}

Run RepeatFolder::measureRun(size_t begin, size_t length) const {
  size_t end = begin + length;
  while (end < elements.size() && continues(begin + (end - begin) % length, end, length))
    ++end;
  return {length, (end - begin) / length};
}

/// The run that begins at `begin` and covers most; of those the one with the shortest layer. Any two numbers go up
/// evenly, so that a run of three says more than one of two.
Run RepeatFolder::findRun(size_t begin) const {
  Run best;
  auto rank = [](const Run &run) { return std::pair(std::min<size_t>(run.count, 3), run.covered()); };
  for (size_t length = 1; length <= longestLayer && begin + 2 * length <= elements.size(); ++length)
    if (Run run = measureRun(begin, length); rank(run) > rank(best) && isWhole(begin, begin + length))
      best = run;
  return best;
}

/// Whether a pair takes elements away from a run of three or more that begins inside of it.
bool RepeatFolder::isBeforeLonger(size_t begin, Run run) const {
  return run.count == 2 &&
         llvm::any_of(llvm::seq(begin + 1, begin + run.covered()), [&](size_t i) { return findRun(i).count > 2; });
}

/// One layer for those of `run`.
std::vector<Element> RepeatFolder::merge(size_t begin, Run run) {
  std::vector<Element> layer(elements.begin() + begin, elements.begin() + begin + run.length);
  for (size_t i = 0; i < run.length; ++i) {
    ArrayRef<int64_t> first = numbers[begin + i], second = numbers[begin + run.length + i];
    for (auto [text, mayCount] : collectTexts(layer[i])) {
      if (!mayCount)
        continue;
      Counted counted = takeNumbersOut(*text);
      *text = counted.between.front();
      for (const std::string &after : llvm::drop_begin(counted.between)) {
        *text += describeSequence(first.front(), second.front() - first.front(), run.count) + after;
        first = first.drop_front();
        second = second.drop_front();
      }
    }
  }
  return foldRepeats(std::move(layer));
}

std::vector<Element> RepeatFolder::fold() {
  std::vector<Element> folded;
  for (size_t i = 0; i < elements.size();) {
    Run run = findRun(i);
    if (run.count == 1 || isBeforeLonger(i, run)) {
      folded.push_back(elements[i++]);
      continue;
    }
    folded.emplace_back(LoopBegin{"× " + std::to_string(run.count), /*isWritten=*/false});
    llvm::append_range(folded, merge(i, run));
    folded.emplace_back(LoopEnd{});
    i += run.covered();
  }
  return folded;
}

std::vector<Element> mlir::resid::diagram::foldRepeats(std::vector<Element> elements) {
  return RepeatFolder(std::move(elements)).fold();
}
