// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of matrices by hand, of a and of panels of b: sums in registers, in the order of docs/numerics.md and in
// others, which show what that order costs. Does not own: the C functions (Products.cpp), nor packing
// (native/Panels.cpp).

#ifndef RESID_BENCHMARKS_HANDWRITTEN_PRODUCTS_H
#define RESID_BENCHMARKS_HANDWRITTEN_PRODUCTS_H

#ifdef __AVX512F__
#include "benchmarks/handwritten/Registers512.h"
#else
#include "benchmarks/handwritten/Registers256.h"
#endif

#include <algorithm>

// Sums stay in registers where no loop over them is left.
#ifdef __clang__
#define RESID_UNROLL _Pragma("clang loop unroll(full)")
#else
#define RESID_UNROLL _Pragma("GCC unroll 64")
#endif

namespace resid::handwritten::RESID_ISA {

/// Columns of a panel, and the vectors that they fill.
constexpr int kPanelColumns = 16, kPanelVectors = kPanelColumns / kVectorLanes;
/// Panels that a tile reads at a time.
constexpr int kTilePanels = kVectorLanes == 16 ? 3 : 1;

/// Chain: one chain of fused multiply-adds per element, the order of the definition. TwoChains: even terms in one, odd
/// terms in another, added at the end, as a library may do. Dot: pairs of bf16 products by the instruction for them.
enum class Order { Chain, TwoChains, Dot };

/// As many rows as let 24 sums (of 256 bits: 12) stay in registers.
template <Order order> constexpr int kTileRows = (kVectorLanes == 16 ? 8 : 6) / (order == Order::TwoChains ? 2 : 1);

/// A part of a product: rows of a, panels of b beside each other, and where the results go.
template <typename Factor, typename Element> struct Tile {
  const Factor *a;
  const Element *b;
  Element *y;
  int64_t terms, columns;
  int64_t present; // columns of y that there are from the first one of the tile on
};

/// Elements of a panel. Terms of bf16 stand in pairs.
template <typename Element> RESID_INLINE int64_t panelLength(int64_t terms) {
  return (sizeof(Element) == 2 ? (terms + 1) / 2 * 2 : terms) * kPanelColumns;
}

RESID_INLINE Vector loadTerm(const float *panel, int64_t term, int vector) {
  return loadFloats(panel + term * kPanelColumns + vector * kVectorLanes);
}
RESID_INLINE Vector loadTerm(const uint16_t *panel, int64_t term, int vector) {
  Integers pairs = loadBits(panel + term / 2 * 2 * kPanelColumns + vector * 2 * kVectorLanes);
  return term % 2 == 0 ? widenEven(pairs) : widenOdd(pairs);
}

RESID_INLINE uint16_t roundTo(float value, uint16_t) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  uint32_t rounded = bits + 0x7FFF + (bits >> 16 & 1), quiet = bits | 0x00400000;
  return static_cast<uint16_t>((value != value ? quiet : rounded) >> 16);
}
RESID_INLINE float roundTo(float value, float) { return value; }

/// One row of a panel, of which the first `count` columns are there.
template <typename Element> RESID_INLINE void storePanel(Element *to, const Vector *sums, int64_t count) {
  alignas(64) float row[kPanelColumns];
  RESID_UNROLL
  for (int i = 0; i < kPanelVectors; ++i)
    storeFloats(row + i * kVectorLanes, sums[i]);
  if (count >= kPanelColumns)
    for (int i = 0; i < kPanelColumns; ++i)
      to[i] = roundTo(row[i], Element());
  else
    for (int64_t i = 0; i < count; ++i)
      to[i] = roundTo(row[i], Element());
}

/// The sums of a tile.
template <Order order, int rows, int panels> struct Sums {
  static constexpr int kChains = order == Order::TwoChains ? 2 : 1;
  Vector of[kChains][rows][panels * kPanelVectors];

  template <typename Factor, typename Element>
  __attribute__((always_inline)) inline void addTerm(const Tile<Factor, Element> &tile, int64_t term, int chain) {
    Vector columns[panels * kPanelVectors];
    RESID_UNROLL
    for (int panel = 0; panel < panels; ++panel)
      RESID_UNROLL
    for (int i = 0; i < kPanelVectors; ++i)
      columns[panel * kPanelVectors + i] = loadTerm(tile.b + panel * panelLength<Element>(tile.terms), term, i);
    RESID_UNROLL
    for (int row = 0; row < rows; ++row) {
      Vector factor = setAll(tile.a[row * tile.terms + term]);
      RESID_UNROLL
      for (int i = 0; i < panels * kPanelVectors; ++i)
        of[chain][row][i] = multiplyAdd(factor, columns[i], of[chain][row][i]);
    }
  }

#ifdef __AVX512BF16__
  /// Two terms, or the last one beside zeros.
  __attribute__((always_inline)) inline void addPair(const Tile<uint16_t, uint16_t> &tile, int64_t term, size_t count) {
    RESID_UNROLL
    for (int row = 0; row < rows; ++row) {
      int32_t pair = 0;
      std::memcpy(&pair, tile.a + row * tile.terms + term, count * sizeof(uint16_t));
      auto factor = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
      RESID_UNROLL
      for (int panel = 0; panel < panels; ++panel) {
        const uint16_t *at = tile.b + panel * panelLength<uint16_t>(tile.terms) + term * kPanelColumns;
        of[0][row][panel] = _mm512_dpbf16_ps(of[0][row][panel], factor, reinterpret_cast<__m512bh>(loadBits(at)));
      }
    }
  }
#endif

  template <typename Factor, typename Element>
  __attribute__((always_inline)) inline void addAll(const Tile<Factor, Element> &tile) {
    int64_t term = 0;
#ifdef __AVX512BF16__
    if constexpr (order == Order::Dot) {
      for (; term + 2 <= tile.terms; term += 2)
        addPair(tile, term, 2);
      if (term < tile.terms)
        addPair(tile, term, 1);
      return;
    }
#endif
    for (; term + 2 <= tile.terms; term += 2) {
      addTerm(tile, term, 0);
      addTerm(tile, term + 1, kChains - 1);
    }
    if (term < tile.terms)
      addTerm(tile, term, 0);
  }
};

template <Order order, int rows, int panels, typename Factor, typename Element>
__attribute__((noinline)) static void computeTile(Tile<Factor, Element> tile) {
  Sums<order, rows, panels> sums;
  RESID_UNROLL
  for (auto &chain : sums.of)
    RESID_UNROLL
  for (auto &row : chain)
    RESID_UNROLL
  for (Vector &sum : row)
    sum = setZero();
  sums.addAll(tile);
  RESID_UNROLL
  for (int row = 0; row < rows; ++row)
    RESID_UNROLL
  for (int panel = 0; panel < panels; ++panel) {
    Vector *of = &sums.of[0][row][panel * kPanelVectors];
    if constexpr (order == Order::TwoChains)
      RESID_UNROLL
    for (int i = 0; i < kPanelVectors; ++i)
      of[i] = add(of[i], sums.of[1][row][panel * kPanelVectors + i]);
    storePanel(tile.y + row * tile.columns + panel * kPanelColumns, of, tile.present - panel * kPanelColumns);
  }
}

constexpr int powerOfTwoBelow(int number) {
  int power = 1;
  while (power * 2 < number)
    power *= 2;
  return power;
}

/// `count` rows of that many panels.
template <Order order, int rows, int panels, typename Factor, typename Element>
void computeRows(Tile<Factor, Element> tile, int64_t count) {
  for (; count >= rows; count -= rows) {
    computeTile<order, rows, panels>(tile);
    tile.a += rows * tile.terms;
    tile.y += rows * tile.columns;
  }
  if constexpr (rows > 1)
    computeRows<order, powerOfTwoBelow(rows), panels>(tile, count);
}

/// `count` rows of as many panels as there are, at most kTilePanels.
template <Order order, int panels = kTilePanels, typename Factor, typename Element>
void computePanels(Tile<Factor, Element> tile, int64_t count) {
  if constexpr (panels > 1)
    if (tile.present <= (panels - 1) * kPanelColumns)
      return computePanels<order, panels - 1>(tile, count);
  computeRows<order, kTileRows<order>, panels>(tile, count);
}

} // namespace resid::handwritten::RESID_ISA

#endif // RESID_BENCHMARKS_HANDWRITTEN_PRODUCTS_H
