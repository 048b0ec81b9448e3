// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A case ready to be called, by code that different schedules gave: its arrays, the results that all must give, and the
// time of a call. Does not compile.

#ifndef RESID_TOOLS_RESID_TUNE_SUBJECT_H
#define RESID_TOOLS_RESID_TUNE_SUBJECT_H

#include "tools/resid-run/KernelCall.h"
#include "tools/resid-tune/Cases.h"

namespace mlir::resid::tune {

/// How calls are made.
struct CallOptions {
  const resid_ctx *context;
  /// Whether each result is read after the call, which is timed too.
  bool readers;
  /// What the functions say to the context's log.
  const std::string *refusal;
};

/// Seconds that so many elements of arguments take at least, before a function can be called with them: by the time
/// that fewer take. 0 where it is not worth asking. Most of the time goes into pages of new memory.
double estimateSeconds(int64_t elements);

class Subject {
public:
  using Function = run::LoadedObject::PackedFunction;

  /// `function` is the code by the default schedule; its results are what others are held to. Between the steps, an
  /// error of `checkTime` ends it.
  static llvm::Expected<Subject> create(
      const Case &one, const boundary::KernelSignature &signature, Function function, const CallOptions &options,
      llvm::function_ref<llvm::Error()> checkTime = [] { return llvm::Error::success(); });

  const std::string &getName() const { return name; }
  /// Whether `function` gives the same results: the same bits, or a NaN where there was one. An error if it refuses.
  llvm::Expected<bool> hasSameResults(Function function);
  /// Seconds of one call, the mean of as many as take about a millisecond.
  double time(Function function);

private:
  Subject(std::string name, std::unique_ptr<run::KernelCall> call, const CallOptions &options)
      : name(std::move(name)), call(std::move(call)), options(options) {}
  llvm::Error runOnce(Function function);

  std::string name;
  std::unique_ptr<run::KernelCall> call;
  CallOptions options;
  std::vector<std::vector<char>> expected;
  unsigned calls = 1;
};

} // namespace mlir::resid::tune

#endif // RESID_TOOLS_RESID_TUNE_SUBJECT_H
