// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The thread pool after resid_parallel_for. Plain POSIX threads: no exceptions, no C++ runtime, no allocation per
// call. Does not own: how kernels cut their work, which depends on shapes alone.

#include "runtime/Processors.h"
#include "runtime/resid_runtime.h"

#include <atomic>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

namespace {

/// How long a thread looks for what it waits for before it sleeps: about twice what waking takes on a virtual machine,
/// which gives a processor without work back at once.
constexpr int64_t kSpinNanoseconds = 50000;

int64_t readClock() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

/// Leaves the core to its other thread for a moment, and memory to those that use it.
void pauseProcessor() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Waits until isDone() or for kSpinNanoseconds, by the clock: a pause takes one cycle or a hundred and more.
template <typename Condition> void spinUntil(const Condition &isDone) {
  constexpr int kPausesPerLook = 16;
  for (int64_t end = readClock() + kSpinNanoseconds;;) {
    for (int i = 0; i < kPausesPerLook; ++i) {
      if (isDone())
        return;
      pauseProcessor();
    }
    if (readClock() >= end)
      return;
  }
}

/// One call of resid_parallel_for, on its caller's stack. The list links, `wanted` and `helpers` belong to the pool's
/// mutex; callers look at `helpers` without it while they spin.
struct Job {
  std::atomic<int64_t> next{0};
  int64_t count;
  void (*function)(void *, int64_t);
  void *argument;
  Job *previousJob = nullptr;
  Job *nextJob = nullptr;
  /// How many more workers have something to do here. The job is listed while there are any.
  int32_t wanted = 0;
  std::atomic<int32_t> helpers{0};
  pthread_cond_t helpersLeft;

  Job(int64_t count, void (*function)(void *, int64_t), void *argument)
      : count(count), function(function), argument(argument) {}

  void run() {
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;)
      function(argument, i);
  }
};

} // namespace

/// Workers without work are *searching*, which ends with a look at the list of jobs, or *sleeping* until a caller that
/// wants more helpers than are searching wakes them.
struct resid_thread_pool {
  pthread_mutex_t mutex;
  pthread_cond_t work;
  Job *firstJob = nullptr;
  bool stopping = false;
  int32_t workers = 0;
  resid_runtime::Processors allowed; // for this process, when the pool was made
  int32_t processors = 0;            // how many these are
  int32_t avoided;                   // the processor that workers do not run on; negative: none
  int32_t callers = 0;    // inside resid_parallel_for
  int32_t wanted = 0;     // by all listed jobs
  int32_t searching = 0;
  int32_t sleeping = 0;
  int32_t woken = 0; // callers have counted them as searching, but they are not awake yet
  /// Goes up after a job is listed, for those that search without the mutex.
  std::atomic<uint32_t> listings{0};
  pthread_t threads[1]; // in truth as many as were asked for; see allocatePool

  /// The mutex is held for some instructions only, so one that is taken will be free sooner than a thread falls asleep.
  void lock() {
    constexpr int kAttempts = 32;
    for (int i = 0; i < kAttempts; ++i) {
      if (pthread_mutex_trylock(&mutex) == 0)
        return;
      pauseProcessor();
    }
    pthread_mutex_lock(&mutex);
  }
  void unlock() { pthread_mutex_unlock(&mutex); }

  /// Whether every thread that works for this pool can have a processor. Where not, one that spins may keep what it
  /// waits for from running.
  bool maySpin() const { return workers + (callers > 1 ? callers : 1) <= processors; }

  void list(Job &job) {
    job.wanted = job.count - 1 < workers ? static_cast<int32_t>(job.count - 1) : workers;
    wanted += job.wanted;
    job.nextJob = firstJob;
    if (firstJob)
      firstJob->previousJob = &job;
    firstJob = &job;
  }

  /// Once a job has its helpers, or its indices are all handed out, nobody else needs to find it.
  void unlist(Job &job) {
    if (job.wanted == 0)
      return;
    wanted -= job.wanted;
    job.wanted = 0;
    remove(job);
  }

  void remove(Job &job) {
    (job.previousJob ? job.previousJob->nextJob : firstJob) = job.nextJob;
    if (job.nextJob)
      job.nextJob->previousJob = job.previousJob;
  }

  void join(Job &job) {
    job.helpers.fetch_add(1, std::memory_order_relaxed);
    --wanted;
    if (--job.wanted == 0)
      remove(job);
  }

  /// Waits for a job, with the mutex, until the pool stops.
  Job *findJob() {
    while (!firstJob && !stopping) {
      search();
      if (firstJob || stopping)
        break;
      ++sleeping;
      while (!woken && !stopping)
        pthread_cond_wait(&work, &mutex);
      if (stopping)
        break;
      --woken;
      --searching;
    }
    return stopping ? nullptr : firstJob;
  }

  /// Looks for a new job for a while. Whoever lists one meanwhile need not wake anybody.
  void search() {
    if (!maySpin())
      return;
    uint32_t seen = listings.load(std::memory_order_relaxed);
    ++searching;
    unlock();
    spinUntil([=] { return listings.load(std::memory_order_relaxed) != seen; });
    lock();
    --searching;
  }

  /// The body of a worker: help with the newest job, until the pool stops.
  void serve() {
    lock();
    while (Job *job = findJob()) {
      join(*job);
      unlock();
      job->run();
      lock();
      unlist(*job);
      // The caller cannot end the job before it gets the mutex back, so `job` is alive here.
      if (job->helpers.fetch_sub(1, std::memory_order_relaxed) == 1)
        pthread_cond_signal(&job->helpersLeft);
    }
    unlock();
  }

  /// Counts as searching whoever has to wake up for the listed jobs, and answers how many that are.
  int32_t countWakes() {
    int32_t missing = wanted - searching, wakes = missing < sleeping ? missing : sleeping;
    if (wakes <= 0)
      return 0;
    sleeping -= wakes;
    searching += wakes;
    woken += wakes;
    return wakes;
  }

  /// Linux may wake a thread on its waker's processor although another is idle, where it takes turns with the waker and
  /// helps nobody: workers that a caller wakes, and a caller that was woken when its helpers were done. So workers are
  /// kept off the only caller's processor, wherever that is now.
  void avoidCaller() {
    int32_t processor = sched_getcpu();
    if (callers != 1 || !maySpin() || processor < 0 || processor == avoided)
      return;
    resid_runtime::Processors others = allowed;
    others.remove(processor);
    for (int32_t i = 0; i < workers; ++i)
      others.restrict(threads[i]);
    avoided = processor;
  }

  /// A caller waits only for helpers inside its own job, and those wait only for jobs nested in it: no cycle, whatever
  /// the nesting and however many threads call at once.
  void parallelFor(Job &job) {
    pthread_cond_init(&job.helpersLeft, nullptr);
    lock();
    ++callers;
    list(job);
    int32_t wakes = countWakes();
    avoidCaller();
    unlock();
    listings.fetch_add(1, std::memory_order_relaxed);
    for (int32_t i = 0; i < wakes; ++i)
      pthread_cond_signal(&work);
    job.run();
    lock();
    unlist(job);
    waitForHelpers(job);
    --callers;
    unlock();
    pthread_cond_destroy(&job.helpersLeft);
  }

  /// With the mutex before and after: the last helper has left the job for good only when it has given that back.
  void waitForHelpers(Job &job) {
    if (job.helpers.load(std::memory_order_relaxed) != 0 && maySpin()) {
      unlock();
      spinUntil([&] { return job.helpers.load(std::memory_order_relaxed) == 0; });
      lock();
    }
    while (job.helpers.load(std::memory_order_relaxed) != 0)
      pthread_cond_wait(&job.helpersLeft, &mutex);
  }
};

namespace {

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

void destroyPool(resid_thread_pool *pool, int32_t started) {
  pthread_mutex_lock(&pool->mutex);
  pool->stopping = true;
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
  for (int32_t i = 0; i < started; ++i)
    pthread_join(pool->threads[i], nullptr);
  pthread_cond_destroy(&pool->work);
  pthread_mutex_destroy(&pool->mutex);
  free(pool);
}

} // namespace

resid_status resid_thread_pool_create(int32_t threads, resid_thread_pool **result) {
  if (!result)
    return RESID_BAD_POINTER;
  *result = nullptr;
  if (threads < 0 || threads > RESID_MAX_THREADS)
    return RESID_BAD_VALUE;
  resid_runtime::Processors allowed;
  int32_t found = allowed.read() ? allowed.count() : 1;
  int32_t processors = found < 1 ? 1 : found > RESID_MAX_THREADS ? RESID_MAX_THREADS : found;
  int32_t workers = (threads == 0 ? processors : threads) - 1;
  resid_thread_pool *pool = allocatePool(workers);
  if (!pool)
    return RESID_OOM;
  pool->workers = workers;
  pool->allowed = allowed;
  pool->processors = processors;
  pool->avoided = -1;
  for (int32_t started = 0; started < workers; ++started)
    if (pthread_create(&pool->threads[started], nullptr, workerMain, pool) != 0) {
      destroyPool(pool, started);
      return RESID_OOM;
    }
  *result = pool;
  return RESID_OK;
}

void resid_thread_pool_destroy(resid_thread_pool *pool) {
  if (pool)
    destroyPool(pool, pool->workers);
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
