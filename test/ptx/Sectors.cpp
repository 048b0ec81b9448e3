// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts requests to global memory. Lanes run one after the other, so their requests are put together afterwards: the
// n-th time that each lane runs an instruction, since they last met, is one request of the warp.

#include "test/ptx/Block.h"

#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <tuple>

using namespace resid::ptx;

static void countRequest(Run &run, const Instruction *instruction, llvm::SmallVectorImpl<uint64_t> &addresses) {
  Site site = Site::unpack(instruction->slots[5]);
  Traffic &traffic = site.isStore ? run.stores : run.loads;
  ++traffic.requests;
  traffic.bytes += site.bytes * addresses.size();
  // An aligned access of at most 32 bytes lies in one sector.
  if (!std::is_sorted(addresses.begin(), addresses.end()))
    std::sort(addresses.begin(), addresses.end());
  uint64_t last = ~uint64_t(0);
  for (uint64_t address : addresses) {
    traffic.sectors += address / 32 != last;
    last = address / 32;
  }
}

/// Lanes that took different paths: requests are sorted by instruction and by how often the lane ran it.
static void countDiverged(Run &run, llvm::MutableArrayRef<Thread> lanes) {
  struct Entry {
    const Instruction *instruction;
    uint32_t turn;
    uint64_t address;
  };
  std::vector<Entry> entries;
  std::vector<uint32_t> turns(run.module.sites);
  for (Thread &lane : lanes) {
    std::fill(turns.begin(), turns.end(), 0);
    for (const Request &request : lane.requests)
      entries.push_back(
          {request.instruction, turns[Site::unpack(request.instruction->slots[5]).index]++, request.address});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return std::tie(a.instruction, a.turn, a.address) < std::tie(b.instruction, b.turn, b.address);
  });
  llvm::SmallVector<uint64_t, 32> addresses;
  for (size_t begin = 0; begin < entries.size();) {
    addresses.clear();
    size_t end = begin;
    for (; end < entries.size() && entries[end].instruction == entries[begin].instruction &&
           entries[end].turn == entries[begin].turn;
         ++end)
      addresses.push_back(entries[end].address);
    countRequest(run, entries[begin].instruction, addresses);
    begin = end;
  }
}

void Block::countRequests(unsigned warp) {
  size_t first = warp * 32, count = std::min<size_t>(32, threads.size() - first);
  llvm::MutableArrayRef<Thread> lanes = llvm::MutableArrayRef<Thread>(threads).slice(first, count);
  const std::vector<Request> *path = nullptr;
  bool areAlike = true;
  for (Thread &lane : lanes) {
    if (lane.requests.empty())
      continue;
    if (!path)
      path = &lane.requests;
    areAlike &= std::equal(path->begin(), path->end(), lane.requests.begin(), lane.requests.end(),
                           [](const Request &a, const Request &b) { return a.instruction == b.instruction; });
  }
  if (!path)
    return;
  if (areAlike) {
    llvm::SmallVector<uint64_t, 32> addresses;
    for (size_t turn = 0, turns = path->size(); turn < turns; ++turn) {
      addresses.clear();
      for (Thread &lane : lanes)
        if (!lane.requests.empty())
          addresses.push_back(lane.requests[turn].address);
      countRequest(run, (*path)[turn].instruction, addresses);
    }
  } else {
    countDiverged(run, lanes);
  }
  for (Thread &lane : lanes)
    lane.requests.clear();
}
