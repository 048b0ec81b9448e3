// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A set of processors on which threads may run. Does not own: which threads should run where.

#ifndef RESID_RUNTIME_PROCESSORS_H
#define RESID_RUNTIME_PROCESSORS_H

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>

namespace resid_runtime {

class Processors {
public:
  /// Those that the calling thread may run on. Linux refuses a set of fewer bits than the machine may have processors;
  /// the 1,024 of one cpu_set_t are not enough for every machine.
  bool read() { return sched_getaffinity(0, sizeof(sets), sets) == 0; }
  int32_t count() const { return CPU_COUNT_S(sizeof(sets), sets); }
  void remove(int32_t processor) { CPU_CLR_S(static_cast<size_t>(processor), sizeof(sets), sets); }
  /// Lets a thread run here only.
  void restrict(pthread_t thread) const { pthread_setaffinity_np(thread, sizeof(sets), sets); }

private:
  cpu_set_t sets[64] = {};
};

} // namespace resid_runtime

#endif // RESID_RUNTIME_PROCESSORS_H
