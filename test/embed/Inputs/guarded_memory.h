// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory for arrays between pages that may not be touched. With EXACT_HEAP, for a program under AddressSanitizer,
// arrays are blocks of the heap of exact size instead, which begin once at a cache line and once 8 bytes after one.

#ifndef RESID_TEST_EMBED_GUARDED_MEMORY_H
#define RESID_TEST_EMBED_GUARDED_MEMORY_H

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#ifdef EXACT_HEAP
#include <sanitizer/asan_interface.h>
#endif
#include <sys/mman.h>
#include <unistd.h>

/// How far apart pieces of an array lie, in bytes: whole pages, the last of which may not be touched.
constexpr size_t kRowDistance = 10 * 4096;

enum class Place { Start, End };

/// Room between pages that fault, for `pieces` pieces of `most` bytes; each stands at its room's start or end. Made
/// once, used for every call.
class Arena {
public:
  Arena(size_t pieces, size_t most) {
#ifndef EXACT_HEAP
    size_t page = sysconf(_SC_PAGESIZE);
    body = pieces == 1 ? (most + page - 1) / page * page : kRowDistance - page;
    if (body < most || kRowDistance % page != 0)
      abort();
    size_t total = page + pieces * (body + page);
    base = static_cast<char *>(mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (base == MAP_FAILED)
      abort();
    base += page;
    for (size_t i = 0; i < pieces; ++i)
      if (mprotect(base + i * (body + page), body, PROT_READ | PROT_WRITE) != 0)
        abort();
#endif
  }

  /// Where the first piece stands; others follow kRowDistance apart.
  char *place(size_t pieces, size_t bytes, Place place) {
#ifdef EXACT_HEAP
    size_t before = place == Place::Start ? 0 : 8, exact = pieces == 0 ? 0 : (pieces - 1) * kRowDistance + bytes;
    heap.reset(new (std::align_val_t(64)) char[before + exact]);
    __asan_poison_memory_region(heap.get(), before);
    return heap.get() + before;
#else
    (void)pieces;
    return place == Place::Start ? base : base + body - bytes;
#endif
  }

private:
#ifdef EXACT_HEAP
  struct Delete {
    void operator()(char *block) const { operator delete[](block, std::align_val_t(64)); }
  };
  std::unique_ptr<char[], Delete> heap;
#else
  char *base;
  size_t body;
#endif
};

#endif
