// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "Pools.h"

#include <map>
#include <pthread.h>

static std::map<int, resid_thread_pool *> *pools = nullptr;
static int usualThreads = 0;

/// A child of fork has no threads but its own. The pools of its parent would wait for theirs for ever.
static void forgetPools() { pools = nullptr; }

void resid::python::setUsualThreads(int threads) { usualThreads = threads; }

int resid::python::getUsualThreads() { return usualThreads; }

bool resid::python::findPool(int threads, resid_thread_pool **pool) {
  if (threads < 0)
    threads = usualThreads;
  *pool = nullptr;
  if (threads == 1)
    return true;
  if (!pools) {
    static bool isRegistered = pthread_atfork(nullptr, nullptr, forgetPools) == 0;
    (void)isRegistered;
    pools = new std::map<int, resid_thread_pool *>;
  }
  auto found = pools->find(threads);
  if (found != pools->end()) {
    *pool = found->second;
    return true;
  }
  resid_status status = resid_thread_pool_create(threads, pool);
  if (status != RESID_OK) {
    PyErr_Format(PyExc_MemoryError, "cannot start %d threads", threads);
    return false;
  }
  pools->emplace(threads, *pool);
  return true;
}
