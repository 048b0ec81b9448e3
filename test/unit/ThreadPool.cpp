// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's thread pool and hooks: every index exactly once, whoever calls, however nested, and nothing lost when
// the system gives no memory.

#include "runtime/resid_runtime.h"

#include "gtest/gtest.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <pthread.h>
#include <sched.h>
#include <set>
#include <string>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

// The processors of a machine that the test makes up; none: those of this one.
static std::set<size_t> madeUpProcessors;

static std::set<size_t> makeUpProcessors(size_t count) {
  std::set<size_t> processors;
  while (processors.size() < count)
    processors.insert(processors.size());
  return processors;
}

// In the place of the C library's. As the kernel, it refuses a set that cannot have the last processor in it.
extern "C" int sched_getaffinity(pid_t thread, size_t bytes, cpu_set_t *set) noexcept {
  if (madeUpProcessors.empty()) {
    long written = syscall(SYS_sched_getaffinity, thread, bytes, set);
    return written < 0 ? -1 : 0;
  }
  if (*madeUpProcessors.rbegin() >= bytes * 8) {
    errno = EINVAL;
    return -1;
  }
  CPU_ZERO_S(bytes, set);
  for (size_t processor : madeUpProcessors)
    CPU_SET_S(processor, bytes, set);
  return 0;
}

namespace {

struct Pool {
  explicit Pool(int32_t threads) { EXPECT_EQ(resid_thread_pool_create(threads, &pool), RESID_OK); }
  ~Pool() { resid_thread_pool_destroy(pool); }
  resid_thread_pool *pool = nullptr;
};

using Counts = std::vector<std::atomic<int>>;

void countOne(void *counts, int64_t i) { ++(*static_cast<Counts *>(counts))[i]; }

void expectEachOnce(const Counts &counts) {
  for (size_t i = 0; i < counts.size(); ++i)
    EXPECT_EQ(counts[i], 1) << "index " << i;
}

TEST(ThreadPool, CallsEveryIndexOnceForAnyNumberOfThreads) {
  for (int32_t threads : {1, 2, 3, 7, 16, 64}) {
    Pool pool(threads);
    EXPECT_EQ(resid_thread_pool_size(pool.pool), threads);
    for (int64_t n : {0, 1, 2, 5, 64, 1000}) {
      Counts counts(n);
      resid_parallel_for(pool.pool, n, countOne, &counts);
      expectEachOnce(counts);
    }
  }
}

TEST(ThreadPool, HandsOutWorkOverManyCalls) {
  Pool pool(4);
  Counts counts(8);
  for (int call = 0; call < 20000; ++call)
    resid_parallel_for(pool.pool, 8, countOne, &counts);
  for (auto &count : counts)
    EXPECT_EQ(count, 20000);
}

TEST(ThreadPool, ReallyUsesItsThreads) {
  // Each of the four calls waits for the other three: with fewer than four threads this would never end.
  Pool pool(4);
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 4);
  resid_parallel_for(
      pool.pool, 4, [](void *b, int64_t) { pthread_barrier_wait(static_cast<pthread_barrier_t *>(b)); }, &barrier);
  pthread_barrier_destroy(&barrier);
}

struct Meeting {
  pthread_barrier_t barrier;
  int processors[2];
};

/// Each of two indices waits for the other, so that both threads have one.
void meet(void *argument, int64_t i) {
  auto *meeting = static_cast<Meeting *>(argument);
  pthread_barrier_wait(&meeting->barrier);
  meeting->processors[i] = sched_getcpu();
}

TEST(ThreadPool, WakesWorkersOffTheCallersProcessor) {
  cpu_set_t allowed = {}, own;
  ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  if (CPU_COUNT(&allowed) < 2)
    GTEST_SKIP() << "one processor only";
  Pool pool(2);
  Meeting meeting;
  pthread_barrier_init(&meeting.barrier, nullptr, 2);
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &allowed))
      continue;
    CPU_ZERO(&own);
    CPU_SET(processor, &own);
    ASSERT_EQ(sched_setaffinity(0, sizeof(own), &own), 0);
    usleep(5000); // until the worker sleeps
    resid_parallel_for(pool.pool, 2, meet, &meeting);
    EXPECT_NE(meeting.processors[0], meeting.processors[1]);
  }
  sched_setaffinity(0, sizeof(allowed), &allowed);
  pthread_barrier_destroy(&meeting.barrier);
}

TEST(ThreadPool, ServesConcurrentCallers) {
  Pool pool(3);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller)
    callers.emplace_back([&] {
      for (int call = 0; call < 300; ++call) {
        Counts counts(37);
        resid_parallel_for(pool.pool, 37, countOne, &counts);
        expectEachOnce(counts);
      }
    });
  for (std::thread &caller : callers)
    caller.join();
}

struct Nested {
  resid_thread_pool *pool;
  int depth;
  std::atomic<int64_t> *leaves;
};

void nest(void *argument, int64_t) {
  Nested nested = *static_cast<Nested *>(argument);
  if (nested.depth == 0) {
    ++*nested.leaves;
    return;
  }
  --nested.depth;
  resid_parallel_for(nested.pool, 6, nest, &nested);
}

TEST(ThreadPool, MayBeUsedFromItsOwnWork) {
  for (int32_t threads : {1, 2, 5}) {
    Pool pool(threads);
    std::atomic<int64_t> leaves{0};
    Nested nested{pool.pool, 4, &leaves};
    resid_parallel_for(pool.pool, 6, nest, &nested);
    EXPECT_EQ(leaves, 6 * 6 * 6 * 6 * 6);
  }
}

void waitUntilBothAreHere(void *arrived, int64_t) {
  auto &count = *static_cast<std::atomic<int> *>(arrived);
  for (++count; count < 2;)
    sched_yield();
}

void passTime(int64_t microseconds) {
  auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
  if (microseconds % 2)
    std::this_thread::sleep_until(end);
  while (std::chrono::steady_clock::now() < end) {
  }
}

// Both indices of each call wait for each other, so a call ends only if a worker learns of it: with one wake-up lost
// the test never ends. Workers look for work for 50 us before they sleep; the callers' pauses go from nothing to beyond
// that, so that calls come while workers look, fall asleep, sleep and wake up.
void callWithPauses(int32_t threads, int callers) {
  Pool pool(threads);
  std::vector<std::thread> running;
  std::atomic<int> ended{0};
  for (int caller = 0; caller < callers; ++caller)
    running.emplace_back([&, caller] {
      for (int call = 0; call < 1500; ++call) {
        std::atomic<int> arrived{0};
        resid_parallel_for(pool.pool, 2, waitUntilBothAreHere, &arrived);
        passTime((call * 7 + caller * 13) % 80);
      }
      ++ended;
    });
  for (std::thread &caller : running)
    caller.join();
  EXPECT_EQ(ended, callers);
}

TEST(ThreadPool, LosesNoWakeUpWhileWorkersSpin) {
  madeUpProcessors = makeUpProcessors(64);
  callWithPauses(2, 1);
  callWithPauses(2, 3); // fewer workers than callers
  callWithPauses(5, 3);
  madeUpProcessors.clear();
}

TEST(ThreadPool, LosesNoWakeUpWhereWorkersDoNotSpin) {
  madeUpProcessors = makeUpProcessors(1);
  callWithPauses(2, 1);
  callWithPauses(4, 3);
  madeUpProcessors.clear();
}

// With workers that look for work all the time this would never end: the process would go on taking processor time.
TEST(ThreadPool, ComesToRest) {
  madeUpProcessors = makeUpProcessors(64);
  Pool pool(4);
  for (int call = 0; call < 1000; ++call) {
    Counts counts(8);
    resid_parallel_for(pool.pool, 8, countOne, &counts);
  }
  auto readUsedTime = [] {
    timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * 1000000000 + used.tv_nsec;
  };
  int64_t before;
  do {
    before = readUsedTime();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  } while (readUsedTime() - before > 2000000);
  madeUpProcessors.clear();
}

TEST(ThreadPool, EndsWhileWorkersSpin) {
  madeUpProcessors = makeUpProcessors(64);
  for (int turn = 0; turn < 300; ++turn) {
    Pool pool(3);
    Counts counts(4);
    if (turn % 3)
      resid_parallel_for(pool.pool, 4, countOne, &counts);
  }
  madeUpProcessors.clear();
}

TEST(ThreadPool, NullPoolRunsOnTheCaller) {
  Counts counts(5);
  resid_parallel_for(nullptr, 5, countOne, &counts);
  expectEachOnce(counts);
  EXPECT_EQ(resid_thread_pool_size(nullptr), 1);
  resid_thread_pool_destroy(nullptr);
}

TEST(ThreadPool, RefusesBadArguments) {
  EXPECT_EQ(resid_thread_pool_create(1, nullptr), RESID_BAD_POINTER);
  for (int32_t threads : {-1, INT32_MIN, RESID_MAX_THREADS + 1}) {
    auto *pool = reinterpret_cast<resid_thread_pool *>(&threads);
    EXPECT_EQ(resid_thread_pool_create(threads, &pool), RESID_BAD_VALUE);
    EXPECT_EQ(pool, nullptr);
  }
}

TEST(ThreadPool, ZeroThreadsMeansTheProcessors) {
  Pool pool(0);
  EXPECT_GE(resid_thread_pool_size(pool.pool), 1);
}

TEST(ThreadPool, SeesProcessorsBeyondThoseOfAFixedSet) {
  madeUpProcessors = {3, 1023, 1024, 5000};
  {
    Pool pool(0);
    EXPECT_EQ(resid_thread_pool_size(pool.pool), 4);
  }
  madeUpProcessors = {size_t(1) << 30}; // more than any set that is tried
  {
    Pool pool(0);
    EXPECT_EQ(resid_thread_pool_size(pool.pool), 1);
  }
  madeUpProcessors.clear();
}

// Address space for some of the 64 stacks, but not for all of them: the pool must give back what it got.
[[noreturn]] void createWithoutMemory() {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  FILE *statm = fopen("/proc/self/statm", "r");
  long pages = 0;
  if (!statm || fscanf(statm, "%ld", &pages) != 1)
    exit(2);
  fclose(statm);
  limit.rlim_cur = static_cast<rlim_t>(pages) * 4096 + (96u << 20);
  setrlimit(RLIMIT_AS, &limit);
  resid_thread_pool *pool = nullptr;
  for (int attempt = 0; attempt < 20; ++attempt)
    if (resid_thread_pool_create(64, &pool) != RESID_OOM || pool)
      exit(1);
  // Had the refused pools kept their threads, there would be no room for this one.
  exit(resid_thread_pool_create(2, &pool) == RESID_OK ? 0 : 3);
}

TEST(ThreadPoolDeathTest, OutOfMemoryIsAStatusAndLeaksNothing) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer needs an unlimited address space";
#endif
  EXPECT_EXIT(createWithoutMemory(), testing::ExitedWithCode(0), "");
}

TEST(Memory, AlignsAndTakesZeroBytes) {
  for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
    void *memory = resid_alloc(nullptr, 100, alignment);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u);
    memset(memory, 1, 100);
    resid_free(nullptr, memory);
  }
  void *nothing = resid_alloc(nullptr, 0, 64);
  EXPECT_NE(nothing, nullptr);
  resid_free(nullptr, nothing);
  resid_free(nullptr, nullptr);
}

TEST(Memory, OfLargePagesIsMemoryToo) {
  constexpr size_t kBytes = (5 << 20) + 1;
  for (size_t alignment = 64; alignment <= 4 << 20; alignment *= 256) {
    auto *memory = static_cast<char *>(resid_alloc(nullptr, kBytes, alignment));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % std::max<size_t>(alignment, 2 << 20), 0u);
    memset(memory, 1, kBytes);
    EXPECT_EQ(memory[kBytes - 1], 1);
    resid_free(nullptr, memory);
  }
}

TEST(Memory, AnswersNullForWhatCannotBe) {
  EXPECT_EQ(resid_alloc(nullptr, 100, 0), nullptr);
  EXPECT_EQ(resid_alloc(nullptr, 100, 24), nullptr);
  EXPECT_EQ(resid_alloc(nullptr, SIZE_MAX / 2, 64), nullptr);
}

TEST(Context, IsFilledWithThePoolsHooks) {
  Pool pool(2);
  resid_ctx ctx;
  memset(&ctx, 0xff, sizeof(ctx));
  resid_ctx_init(&ctx, pool.pool);
  EXPECT_EQ(ctx.abi_version, static_cast<uint32_t>(RESID_ABI_VERSION));
  EXPECT_EQ(ctx.hints, 0u);
  EXPECT_EQ(ctx.stream, nullptr);
  EXPECT_EQ(ctx.log, nullptr);
  Counts counts(9);
  ctx.parallel_for(ctx.user, 9, countOne, &counts);
  expectEachOnce(counts);
  void *memory = ctx.alloc(ctx.user, 64, 64);
  EXPECT_NE(memory, nullptr);
  ctx.free(ctx.user, memory);
  resid_ctx_init(&ctx, nullptr);
  EXPECT_EQ(ctx.parallel_for, nullptr);
}

TEST(Status, EveryCodeHasItsOwnText) {
  std::set<std::string> texts;
  for (resid_status status = RESID_INTERNAL; status <= RESID_OK; ++status) {
    std::string text = resid_status_string(status);
    EXPECT_EQ(text.rfind("RESID_", 0), 0u) << text;
    texts.insert(text);
  }
  EXPECT_EQ(texts.size(), 12u);
  EXPECT_STREQ(resid_status_string(1), "unknown status");
  EXPECT_STREQ(resid_status_string(INT32_MIN), "unknown status");
}

} // namespace
