// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules in a file, one per processor, which resid-tune writes and `--schedule=@FILE` reads:
//
//   resid-schedule 1
//   cpu znver5
//   rows=batched
//   prefetch-bytes=1024
//
// A `#` begins a comment. Plain data and its text form; does not own what the keys mean (Schedule.h).

#ifndef RESID_CODEGEN_CPU_CHOICE_SCHEDULEFILE_H
#define RESID_CODEGEN_CPU_CHOICE_SCHEDULEFILE_H

#include "codegen/cpu/choice/Schedule.h"

namespace mlir::resid::cpu {

struct ScheduleFile {
  /// The first line names it. It changes where an older compiler would read a file wrongly, not with every new key.
  static constexpr unsigned version = 1;

  /// What is written under one `cpu NAME`.
  struct Section {
    std::string cpu;
    Schedule schedule;
    /// Lines for readers, without `#`.
    std::vector<std::string> comments;
  };
  std::vector<Section> sections;

  /// The schedule for that CPU, by LLVM's name. The error names those there are.
  llvm::Expected<const Schedule *> find(llvm::StringRef cpu) const;
  /// Takes the place of the section for the same CPU, or becomes the last one.
  void put(Section section);
  std::string print() const;
};

/// Reads the text of a file. `path` is for messages, which begin with PATH:LINE, and for the sources of settings.
llvm::Expected<ScheduleFile> parseScheduleFile(llvm::StringRef text, llvm::StringRef path);

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_CHOICE_SCHEDULEFILE_H
