// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a row kernel is run on a CPU where several ways give the same bits: what `--schedule=` sets. Plain data and its
// text form.

#ifndef RESID_CODEGEN_CPU_CHOICE_SCHEDULE_H
#define RESID_CODEGEN_CPU_CHOICE_SCHEDULE_H

#include "codegen/cpu/choice/ScheduleTable.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mlir::resid::cpu {

/// How the columns of a row are run through.
enum class RowPath {
  Vector, // explicit vectors
  Scalar, // scalar loops that LLVM vectorises
};

/// How rows are written.
enum class StoreKind {
  Auto,        // chosen in every call
  Plain,       // through the cache
  NonTemporal, // past the cache wherever scratch rows have room
};

/// Whether rows that are written past the cache are read ahead of their use.
enum class PrefetchKind {
  Auto, // which is on: docs/measurements/schedule.md
  Off,
  On,
};

/// In which order rows are worked on.
enum class RowOrder {
  Auto,      // by what was measured (KernelPlan.cpp)
  Single,    // one after the other
  Pipelined, // past the cache, the last phase of a row together with the first one of the next, where that is possible
  Batched,   // narrow rows phase by phase, a few at a time, where that is possible
};

/// Whether a value that several phases need, and that no output's row can hold, is kept in a local row.
enum class LocalRowKind {
  Auto, // where there is room, and where that was faster: docs/measurements/schedule.md
  Off,  // it is computed again
  On,   // where there is room
};

/// How wide explicit vectors are.
enum class VectorWidth {
  Auto, // as wide as the registers
  Bits128,
  Bits256,
  Bits512,
};

/// A setting that somebody chose, and where: `--schedule`, or a file with its line as FILE:LINE.
struct Setting {
  std::string key, value, source;
};

struct Schedule {
  RowPath path = RowPath::Vector;
  StoreKind stores = StoreKind::Auto;
  PrefetchKind prefetch = PrefetchKind::Auto;
  RowOrder rows = RowOrder::Auto;
  LocalRowKind localRows = LocalRowKind::Auto;
  VectorWidth vectorWidth = VectorWidth::Auto;
  ScheduleTable table;
  /// What was set, in the order in which it was. Everything else has its default.
  std::vector<Setting> settings;

  /// Gives a key its value; `source` is for reports. The error names the keys or values there are, or the earlier
  /// setting of the key.
  llvm::Error set(llvm::StringRef key, llvm::StringRef value, llvm::StringRef source);
  /// The setting of that key; null where it has its default.
  const Setting *findSetting(llvm::StringRef key) const;
  /// The width that is asked for, in bits; 0: the target's.
  unsigned getVectorBits() const {
    return vectorWidth == VectorWidth::Auto ? 0 : 64U << static_cast<unsigned>(vectorWidth);
  }

  /// Whether versions that write past the cache prefetch.
  bool usesPrefetch() const { return prefetch != PrefetchKind::Off; }
};

/// Reads `key=value,key=value`, where a key may be one of getThresholds(); the empty text changes nothing. An error
/// names the keys or values there are.
llvm::Expected<Schedule> parseSchedule(llvm::StringRef text);
/// The values of each key that has names for them, the default first; thresholds are not among them.
struct NamedValues {
  llvm::StringRef key;
  llvm::ArrayRef<llvm::StringRef> values;
};
std::vector<NamedValues> getNamedValues();

/// All keys with their present values, and the thresholds that are not the default, in the form that parseSchedule
/// reads.
std::string printSchedule(const Schedule &schedule);
/// What was set, in the same form.
std::string printSettings(const Schedule &schedule);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CHOICE_SCHEDULE_H
