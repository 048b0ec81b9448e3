// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The largest temporary first, each into the smallest gap that those before it leave.

#include "codegen/boundary/ScratchSlots.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid::boundary;

namespace {

/// A temporary that has its place in an area.
struct Placed {
  int64_t begin, end;
  LiveRange range;
};

/// An area under construction, in units.
class AreaPacker {
public:
  /// The place of `size` units in the smallest gap among what is alive in the range, or after all of that.
  int64_t place(int64_t size, LiveRange range);
  int64_t getSize() const { return size; }
  bool isFreeDuring(LiveRange range) const {
    return llvm::none_of(placed, [&](const Placed &other) { return other.range.overlaps(range); });
  }

private:
  /// In the order of where they begin.
  SmallVector<Placed> placed;
  int64_t size = 0;
};

class LayoutBuilder {
public:
  explicit LayoutBuilder(ArrayRef<ScratchRequest> requests) : requests(requests) {
    layout.places.resize(requests.size());
  }

  ScratchLayout build();

private:
  void placeIn(unsigned area, AreaPacker &packer, unsigned request, int64_t units);
  void packWhole(SizeExpr unit, ArrayRef<unsigned> members);
  void packApart(SizeExpr unit, ArrayRef<unsigned> members);

  ArrayRef<ScratchRequest> requests;
  ScratchLayout layout;
};

} // namespace

int64_t AreaPacker::place(int64_t wanted, LiveRange range) {
  int64_t free = 0, best = -1, bestGap = 0;
  for (const Placed &other : placed) {
    if (!other.range.overlaps(range))
      continue;
    int64_t gap = other.begin - free;
    if (gap >= wanted && (best < 0 || gap < bestGap)) {
      best = free;
      bestGap = gap;
    }
    free = std::max(free, other.end);
  }
  int64_t begin = best < 0 ? free : best;
  auto behind = llvm::upper_bound(placed, begin, [](int64_t at, const Placed &other) { return at < other.begin; });
  placed.insert(behind, {begin, begin + wanted, range});
  size = std::max(size, begin + wanted);
  return begin;
}

void LayoutBuilder::placeIn(unsigned area, AreaPacker &packer, unsigned request, int64_t units) {
  layout.places[request] = {area, packer.place(units, requests[request].range)};
  layout.areas[area].units = packer.getSize();
}

/// One area in which temporaries begin at any multiple of the alignment.
void LayoutBuilder::packWhole(SizeExpr unit, ArrayRef<unsigned> members) {
  if (members.empty())
    return;
  layout.areas.push_back({unit, 0});
  AreaPacker packer;
  for (unsigned member : members)
    placeIn(layout.areas.size() - 1, packer, member, llvm::alignTo(requests[member].units, kScratchAlignment));
}

/// Sizes that are no multiples of the alignment: after one of them no other would be aligned. So each area holds one
/// temporary at a time.
void LayoutBuilder::packApart(SizeExpr unit, ArrayRef<unsigned> members) {
  unsigned first = layout.areas.size();
  SmallVector<AreaPacker> packers;
  for (unsigned member : members) {
    auto *packer =
        llvm::find_if(packers, [&](const AreaPacker &packer) { return packer.isFreeDuring(requests[member].range); });
    unsigned area = first + (packer - packers.begin());
    if (packer == packers.end()) {
      packer = &packers.emplace_back();
      layout.areas.push_back({unit, 0});
    }
    placeIn(area, *packer, member, requests[member].units);
  }
}

ScratchLayout LayoutBuilder::build() {
  llvm::MapVector<SizeExpr, SmallVector<unsigned>> units;
  for (auto [index, request] : llvm::enumerate(requests))
    units[request.unit].push_back(index);
  for (auto &[unit, members] : units)
    llvm::sort(members, [&](unsigned a, unsigned b) {
      return std::make_pair(requests[b].units, a) < std::make_pair(requests[a].units, b);
    });
  // Known sizes come first, so that their offsets are known too.
  for (auto &[unit, members] : units)
    if (unit.getConstant())
      packWhole(unit, members);
  for (auto &[unit, members] : units) {
    if (unit.getConstant())
      continue;
    auto isWhole = [&](unsigned member) { return requests[member].units % kScratchAlignment == 0; };
    packWhole(unit, llvm::filter_to_vector(members, isWhole));
    packApart(unit, llvm::filter_to_vector(members, [&](unsigned member) { return !isWhole(member); }));
  }
  return layout;
}

ScratchLayout mlir::resid::boundary::layOutScratch(ArrayRef<ScratchRequest> requests) {
  return LayoutBuilder(requests).build();
}
