// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a driver without a device remembers: contexts, streams, memory, modules. Does not own: the driver's interface
// (FakeDriver.cpp).

#pragma once

#include "ptx/Interpreter.h"
#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <mutex>

namespace resid::fake {

using CUresult = int;

/// How RESID_FAKE_CUDA wants the driver: words with commas between them.
struct Settings {
  int devices = 1;     ///< devices=N
  int version = 12040; ///< driver=N
  int chip = 80;       ///< chip=N, of all devices
  int localBytes = 0;  ///< local=N: what each kernel says that it has of local memory
  bool hasIds = true;  ///< noids: contexts have no numbers
  ptx::Order order;    ///< backward, or random=SEED: how threads run
  /// counts=FILE: each launch adds a line, with the kernel, its blocks, threads of a block and instructions, and the
  /// bytes and sectors of its loads and stores.
  std::string counts;
  /// RESID_FAKE_CUDA_EDIT, as OLD=>NEW, several with && between them: in each PTX text the first OLD becomes NEW, one
  /// after the other. PLACE@@OLD=>NEW: the first OLD after the first PLACE.
  std::vector<std::pair<std::string, std::string>> edits;
  /// fail=NAME:CODE or fail=NAME:CODE:CALL: the call of that number, from 1 on, and all later ones answer CODE.
  struct Failure {
    std::string call;
    CUresult code;
    int from, seen = 0;
  };
  std::vector<Failure> failures;

  static Settings read(const char *text, const char *edit);
  std::string edit(llvm::StringRef ptx) const;
};

struct Context {
  int device;
  unsigned long long id;
  bool isPrimary = false;
};

struct Stream {
  Context *context;
  bool isCapturing = false;
  std::vector<std::function<CUresult()>> captured;
};

struct Event {
  /// When it was recorded. What it tells of is the interpreter's speed.
  std::chrono::steady_clock::time_point time;
};

struct Graph {
  std::vector<std::function<CUresult()>> nodes;
};

struct Module {
  Context *context;
  ptx::Module code;
};

struct State {
  /// Held by every call.
  std::recursive_mutex mutex;
  Settings settings;
  std::list<Context> contexts;
  std::list<Stream> streams;
  std::list<Module> modules;
  std::list<Graph> graphs;
  std::list<Event> events;
  std::map<uint64_t, uint64_t> allocations; ///< bytes, by address
  ptx::Memory memory;
  unsigned long long nextId = 1;
  static State &get();

  Context *getPrimary(int device);
  /// Whether all of these bytes are in one allocation.
  bool hasMemory(uint64_t address, uint64_t bytes) const;
  /// Runs at once, or when the graph that is being captured is launched.
  CUresult enqueue(Stream *stream, std::function<CUresult()> work);
  CUresult runKernel(const ptx::Kernel &kernel, unsigned grid, unsigned block, unsigned shared,
                     std::vector<uint8_t> parameters);
};

} // namespace resid::fake
