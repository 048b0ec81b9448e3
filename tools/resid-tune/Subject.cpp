// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/resid-tune/Subject.h"

#include "tools/resid-run/CompiledFunction.h"
#include <chrono>
#include <cstring>

using namespace mlir::resid;
using llvm::Error;
using llvm::Expected;

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What nobody else does with the sums of readResults(), so that they are computed.
static volatile uint64_t readSum;

/// Several sums at a time, so that memory and not the additions decide how long it takes.
static uint64_t addWords(llvm::ArrayRef<char> bytes) {
  uint64_t sums[8] = {};
  size_t end = bytes.size() / sizeof(sums) * sizeof(sums);
  for (size_t at = 0; at != end; at += sizeof(sums)) {
    uint64_t words[8];
    std::memcpy(words, bytes.data() + at, sizeof(words));
    for (unsigned i = 0; i != 8; ++i)
      sums[i] += words[i];
  }
  uint64_t sum = 0;
  for (uint64_t one : sums)
    sum += one;
  return sum;
}

static void readResults(const run::KernelCall &call) {
  for (llvm::ArrayRef<char> bytes : call.getResultBytes())
    readSum = readSum + addWords(bytes);
}

Error tune::Subject::runOnce(Function function) {
  resid_status status = call->call(function, *options.context);
  if (status == RESID_OK)
    return Error::success();
  if (status == RESID_UNSUPPORTED)
    return run::makeError(tools::ExitUnavailable, "expected --mcpu with a CPU whose code this machine runs");
  return run::makeError(run::getExitCode(status), name + ": the compiled function answered " +
                                                      resid_status_string(status) +
                                                      (options.refusal->empty() ? "" : "; " + *options.refusal));
}

double tune::estimateSeconds(int64_t elements) {
  constexpr int64_t sample = 1 << 20;
  if (elements < 4 * sample)
    return 0;
  double start = now();
  // As an argument is made: in the evaluator's form, then as it is stored, then where the function reads it.
  std::vector<double> values(sample, 0.5);
  std::vector<float> stored(values.begin(), values.end()), copy(stored);
  readSum = readSum + static_cast<uint64_t>(copy[elements % sample]);
  return (now() - start) * static_cast<double>(elements) / sample;
}

Expected<tune::Subject> tune::Subject::create(const Case &one, const boundary::KernelSignature &signature,
                                              Function function, const CallOptions &options,
                                              llvm::function_ref<Error()> checkTime) {
  Expected<std::vector<run::Array>> arguments = makeArguments(one, signature);
  if (!arguments)
    return arguments.takeError();
  if (Error error = checkTime())
    return std::move(error);
  auto call = run::KernelCall::create(signature, *arguments, run::ArrayPlacement());
  if (!call)
    return call.takeError();
  arguments->clear();
  if (Error error = checkTime())
    return std::move(error);
  Subject subject(one.getName(), std::move(*call), options);
  if (Error error = subject.runOnce(function))
    return std::move(error);
  if (Error error = checkTime())
    return std::move(error);
  for (llvm::ArrayRef<char> bytes : subject.call->getResultBytes())
    subject.expected.emplace_back(bytes.begin(), bytes.end());
  // The first calls touch new memory.
  subject.time(function);
  double seconds = subject.time(function);
  subject.calls = static_cast<unsigned>(std::clamp(1e-3 / seconds, 1.0, 10000.0));
  return subject;
}

static bool isSame(const run::Array &a, const run::Array &b) {
  if (!a.isFloat())
    return a.integers() == b.integers();
  auto isSameFloat = [](double x, double y) {
    return std::memcmp(&x, &y, sizeof(x)) == 0 || (std::isnan(x) && std::isnan(y));
  };
  return std::equal(a.floats().begin(), a.floats().end(), b.floats().begin(), isSameFloat);
}

Expected<bool> tune::Subject::hasSameResults(Function function) {
  llvm::SmallVector<llvm::MutableArrayRef<char>> results = call->getResultBytes();
  for (llvm::MutableArrayRef<char> bytes : results)
    std::memset(bytes.data(), 0x5A, bytes.size());
  if (Error error = runOnce(function))
    return std::move(error);
  if (std::equal(results.begin(), results.end(), expected.begin(),
                 [](llvm::ArrayRef<char> a, llvm::ArrayRef<char> b) { return a == b; }))
    return true;
  // They differ at least in the bits of NaNs, which may differ.
  std::vector<run::Array> values = call->getResults();
  for (auto [bytes, old] : llvm::zip_equal(results, expected))
    std::copy(old.begin(), old.end(), bytes.begin());
  std::vector<run::Array> oldValues = call->getResults();
  return std::equal(values.begin(), values.end(), oldValues.begin(), isSame);
}

double tune::Subject::time(Function function) {
  double start = now();
  for (unsigned i = 0; i != calls; ++i) {
    call->call(function, *options.context);
    if (options.readers)
      readResults(*call);
  }
  return (now() - start) / calls;
}
