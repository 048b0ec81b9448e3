// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The thread pool behind resid_parallel_for. Plain POSIX threads: no exceptions, no C++ runtime, no allocation per
// call. Does not own: how kernels cut their work, which depends on shapes alone.

#include "runtime/resid_runtime.h"

#include <atomic>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

namespace {

/// One call of resid_parallel_for, on its caller's stack. The list links and `helpers` belong to the pool's mutex.
struct Job {
  std::atomic<int64_t> next{0};
  int64_t count;
  void (*function)(void *, int64_t);
  void *argument;
  Job *previousJob = nullptr;
  Job *nextJob = nullptr;
  bool listed = false;
  int32_t helpers = 0;
  pthread_cond_t helpersLeft;

  Job(int64_t count, void (*function)(void *, int64_t), void *argument)
      : count(count), function(function), argument(argument) {}

  void run() {
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;)
      function(argument, i);
  }
};

} // namespace

struct resid_thread_pool {
  pthread_mutex_t mutex;
  pthread_cond_t work;
  Job *firstJob = nullptr;
  bool stopping = false;
  int32_t workers = 0;
  pthread_t threads[1]; // in truth as many as were asked for; see allocatePool

  void list(Job &job) {
    job.nextJob = firstJob;
    if (firstJob)
      firstJob->previousJob = &job;
    firstJob = &job;
    job.listed = true;
  }

  /// Once a job's indices are all handed out nobody else needs to find it.
  void unlist(Job &job) {
    if (!job.listed)
      return;
    (job.previousJob ? job.previousJob->nextJob : firstJob) = job.nextJob;
    if (job.nextJob)
      job.nextJob->previousJob = job.previousJob;
    job.listed = false;
  }

  /// The body of a worker: help with the newest job, until the pool stops.
  void serve() {
    pthread_mutex_lock(&mutex);
    for (;;) {
      while (!firstJob && !stopping)
        pthread_cond_wait(&work, &mutex);
      if (stopping)
        break;
      Job &job = *firstJob;
      ++job.helpers;
      pthread_mutex_unlock(&mutex);
      job.run();
      pthread_mutex_lock(&mutex);
      unlist(job);
      // The caller cannot end the job before it gets the mutex back, so `job` is alive here.
      if (--job.helpers == 0)
        pthread_cond_signal(&job.helpersLeft);
    }
    pthread_mutex_unlock(&mutex);
  }

  /// A caller waits only for helpers inside its own job, and those wait only for jobs nested in it: no cycle, whatever
  /// the nesting and however many threads call at once.
  void parallelFor(Job &job) {
    pthread_cond_init(&job.helpersLeft, nullptr);
    pthread_mutex_lock(&mutex);
    list(job);
    if (job.count > workers)
      pthread_cond_broadcast(&work);
    else
      for (int64_t i = 1; i < job.count; ++i)
        pthread_cond_signal(&work);
    pthread_mutex_unlock(&mutex);
    job.run();
    pthread_mutex_lock(&mutex);
    unlist(job);
    while (job.helpers != 0)
      pthread_cond_wait(&job.helpersLeft, &mutex);
    pthread_mutex_unlock(&mutex);
    pthread_cond_destroy(&job.helpersLeft);
  }
};

namespace {

/// Linux refuses a set of fewer bits than the machine may have processors; the 1,024 of one cpu_set_t are not enough
/// for every machine.
int32_t availableProcessors() {
  cpu_set_t sets[64];
  if (sched_getaffinity(0, sizeof(sets), sets) != 0)
    return 1;
  int32_t count = CPU_COUNT_S(sizeof(sets), sets);
  return count < 1 ? 1 : count > RESID_MAX_THREADS ? RESID_MAX_THREADS : count;
}

resid_thread_pool *allocatePool(int32_t workers) {
  void *memory = calloc(1, sizeof(resid_thread_pool) + sizeof(pthread_t) * static_cast<size_t>(workers));
  if (!memory)
    return nullptr;
  auto *pool = static_cast<resid_thread_pool *>(memory);
  pthread_mutex_init(&pool->mutex, nullptr);
  pthread_cond_init(&pool->work, nullptr);
  return pool;
}

void *workerMain(void *pool) {
  static_cast<resid_thread_pool *>(pool)->serve();
  return nullptr;
}

} // namespace

resid_status resid_thread_pool_create(int32_t threads, resid_thread_pool **result) {
  if (!result)
    return RESID_BAD_POINTER;
  *result = nullptr;
  if (threads < 0 || threads > RESID_MAX_THREADS)
    return RESID_BAD_VALUE;
  int32_t workers = (threads == 0 ? availableProcessors() : threads) - 1;
  resid_thread_pool *pool = allocatePool(workers);
  if (!pool)
    return RESID_OOM;
  for (; pool->workers < workers; ++pool->workers)
    if (pthread_create(&pool->threads[pool->workers], nullptr, workerMain, pool) != 0) {
      resid_thread_pool_destroy(pool);
      return RESID_OOM;
    }
  *result = pool;
  return RESID_OK;
}

void resid_thread_pool_destroy(resid_thread_pool *pool) {
  if (!pool)
    return;
  pthread_mutex_lock(&pool->mutex);
  pool->stopping = true;
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
  for (int32_t i = 0; i < pool->workers; ++i)
    pthread_join(pool->threads[i], nullptr);
  pthread_cond_destroy(&pool->work);
  pthread_mutex_destroy(&pool->mutex);
  free(pool);
}

int32_t resid_thread_pool_size(const resid_thread_pool *pool) { return pool ? pool->workers + 1 : 1; }

void resid_parallel_for(void *user, int64_t n, void (*fn)(void *arg, int64_t i), void *arg) {
  auto *pool = static_cast<resid_thread_pool *>(user);
  if (!pool || pool->workers == 0 || n <= 1) {
    for (int64_t i = 0; i < n; ++i)
      fn(arg, i);
    return;
  }
  Job job(n, fn, arg);
  pool->parallelFor(job);
}
