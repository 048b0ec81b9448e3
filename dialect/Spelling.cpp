// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialect/Spelling.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::resid;

/// How many letters are added, left out, replaced or swapped with the next one between two words; `most` + 1 where it
/// is more than that. Capital letters count as small ones. Each letter takes part in one of these steps only (optimal
/// string alignment).
static unsigned getDistance(StringRef a, StringRef b, unsigned most) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most)
    return most + 1;
  auto isSame = [&](size_t i, size_t j) { return llvm::toLower(a[i]) == llvm::toLower(b[j]); };
  SmallVector<SmallVector<unsigned>> table(a.size() + 1, SmallVector<unsigned>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      unsigned either = std::min(table[i - 1][j], table[i][j - 1]) + 1;
      table[i][j] = std::min(either, table[i - 1][j - 1] + (isSame(i - 1, j - 1) ? 0 : 1));
      if (i > 1 && j > 1 && isSame(i - 1, j - 2) && isSame(i - 2, j - 1))
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  return std::min(table[a.size()][b.size()], most + 1);
}

StringRef resid::findNearest(StringRef written, const KnownNames &known) {
  for (const auto &[theirs, ours] : known.foreign)
    if (written == theirs && llvm::is_contained(known.names, ours))
      return ours;
  StringRef nearest;
  unsigned nearestDistance = 0;
  for (StringRef name : known.names) {
    // One letter in three may differ: more of them make another word.
    unsigned most = std::max<size_t>(1, std::min(written.size(), name.size()) / 3);
    unsigned distance = getDistance(written, name, most);
    if (distance <= most && (nearest.empty() || distance < nearestDistance)) {
      nearest = name;
      nearestDistance = distance;
    }
  }
  constexpr size_t leastPrefix = 3;
  auto begins = [&](StringRef name) { return written.size() >= leastPrefix && name.starts_with(written); };
  if (nearest.empty() && llvm::count_if(known.names, begins) == 1)
    nearest = *llvm::find_if(known.names, begins);
  return nearest;
}

std::string resid::suggestNearest(StringRef written, const KnownNames &known) {
  StringRef nearest = findNearest(written, known);
  return nearest.empty() ? "" : ("; did you mean '" + known.prefix + nearest + "'?").str();
}

std::string resid::listNames(const KnownNames &known) {
  std::string list;
  for (auto [index, name] : llvm::enumerate(known.names))
    list += ((index == 0 ? "'" : index + 1 == known.names.size() ? " or '" : ", '") + known.prefix + name + "'").str();
  return list;
}

void resid::describeNames(InFlightDiagnostic &message, StringRef written, const KnownNames &known, StringRef what,
                          StringRef nothing) {
  std::string nearest = suggestNearest(written, known);
  if (known.names.empty())
    message << nothing;
  else if (nearest.empty())
    message << listNames(known);
  else
    message << what;
  message << ", but got '" << known.prefix << written << "'" << nearest;
}
