// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of a schedule's keys that are worth trying.

#ifndef RESID_TOOLS_RESID_TUNE_CANDIDATES_H
#define RESID_TOOLS_RESID_TUNE_CANDIDATES_H

#include "codegen/cpu/choice/Schedule.h"

namespace mlir::resid::tune {

struct Candidate {
  std::string key, value;
};

/// All values of the keys that have names for them, and for each threshold a quarter of its default, a half, twice and
/// four times as much, as far as it may be that. Only of `keys` if these are not empty; vectors of at most
/// `vectorBits`.
std::vector<Candidate> listCandidates(llvm::ArrayRef<std::string> keys, unsigned vectorBits);

/// `schedule` with the key's default.
cpu::Schedule reset(const cpu::Schedule &schedule, llvm::StringRef key);

/// `schedule` with that value for the key, which is no setting where it is the default.
cpu::Schedule change(const cpu::Schedule &schedule, const Candidate &candidate);

/// Whether the key has that value.
bool has(const cpu::Schedule &schedule, const Candidate &candidate);

} // namespace mlir::resid::tune

#endif // RESID_TOOLS_RESID_TUNE_CANDIDATES_H
