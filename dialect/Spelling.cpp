// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finding the nearest name; see Spelling.h.

#include "dialect/Spelling.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::resid;

StringRef resid::findNearest(StringRef written, const KnownNames &known) {
  for (const auto &[theirs, ours] : known.foreign)
    if (written == theirs && llvm::is_contained(known.names, ours))
      return ours;
  StringRef nearest;
  unsigned nearestDistance = 0;
  for (StringRef name : known.names) {
    // One letter in three may differ: more of them make another word.
    unsigned most = std::max<size_t>(1, std::min(written.size(), name.size()) / 3);
    unsigned distance = written.edit_distance(name, /*AllowReplacements=*/true, most);
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

std::string resid::listNames(const KnownNames &known) {
  std::string list;
  for (auto [index, name] : llvm::enumerate(known.names))
    list += ((index == 0 ? "'" : index + 1 == known.names.size() ? " or '" : ", '") + known.prefix + name + "'").str();
  return list;
}

void resid::describeNames(InFlightDiagnostic &message, StringRef written, const KnownNames &known, StringRef what,
                          StringRef nothing) {
  StringRef nearest = findNearest(written, known);
  if (known.names.empty())
    message << nothing;
  else if (nearest.empty())
    message << listNames(known);
  else
    message << what;
  message << ", but got '" << known.prefix << written << "'";
  if (!nearest.empty())
    message << "; did you mean '" << known.prefix << nearest << "'?";
}
