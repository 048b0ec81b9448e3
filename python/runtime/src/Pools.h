// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pools of threads that calls run on: one for each number of threads that was asked for, kept until the process ends.

#ifndef RESID_PYTHON_POOLS_H
#define RESID_PYTHON_POOLS_H

#include "runtime/resid_runtime.h"

namespace resid::python {

/// The pool for so many threads: -1 means the usual number, 0 one for each processor. *pool is null for one thread. With
/// Python's lock. False with an exception where no pool can be had.
bool findPool(int threads, resid_thread_pool **pool);

/// The number of threads of calls that do not say.
void setUsualThreads(int threads);
int getUsualThreads();

} // namespace resid::python

#endif // RESID_PYTHON_POOLS_H
