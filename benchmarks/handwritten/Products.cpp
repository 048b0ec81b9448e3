// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C functions of the products by hand: y [rows, columns] of a [rows, terms] and of panels of b. Each stands for one
// order of the sums; those of `chain` have the bits of docs/numerics.md:
//   int32_t <instructions>_hand_product_<type>_<order>(const resid_ctx *ctx, const void *a, const void *panels, void
//   *y,
//       int64_t rows, int64_t terms, int64_t columns)

#include "benchmarks/handwritten/Products.h"
#include "runtime/resid.h"

#include <vector>

using namespace resid::handwritten::RESID_ISA;

namespace {

/// A task is so many rows of so many panels, which stay in a second-level cache meanwhile.
constexpr int64_t kTaskRows = 256, kTaskColumns = kTilePanels * kPanelColumns;

template <Order order, typename Factor, typename Element> struct Product {
  Tile<Factor, Element> whole;
  int64_t rows;

  int64_t countColumnTasks() const { return (whole.columns + kTaskColumns - 1) / kTaskColumns; }
  int64_t countTasks() const { return (rows + kTaskRows - 1) / kTaskRows * countColumnTasks(); }

  void run(int64_t task) const {
    int64_t row = task / countColumnTasks() * kTaskRows, column = task % countColumnTasks() * kTaskColumns;
    Tile<Factor, Element> tile = whole;
    tile.a += row * whole.terms;
    tile.b += column / kPanelColumns * panelLength<Element>(whole.terms);
    tile.y += row * whole.columns + column;
    tile.present = std::min(kTaskColumns, whole.columns - column);
    computePanels<order>(tile, std::min(kTaskRows, rows - row));
  }
};

template <Order order, typename Factor, typename Element>
int32_t compute(const resid_ctx *context, Tile<Factor, Element> tile, int64_t rows) {
  Product<order, Factor, Element> product{tile, rows};
  auto run = [](void *all, int64_t task) { static_cast<Product<order, Factor, Element> *>(all)->run(task); };
  if (context && context->parallel_for)
    context->parallel_for(context->user, product.countTasks(), run, &product);
  else
    for (int64_t task = 0; task < product.countTasks(); ++task)
      product.run(task);
  return RESID_OK;
}

/// Chains of bf16 read a in f32, which has no shorter way into all lanes of a register.
const float *widenAll(const uint16_t *a, int64_t count) {
  static std::vector<float> wide; // one call at a time, as the harness makes them
  wide.resize(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits = static_cast<uint32_t>(a[i]) << 16;
    std::memcpy(&wide[static_cast<size_t>(i)], &bits, sizeof(bits));
  }
  return wide.data();
}
const float *widenAll(const float *a, int64_t) { return a; }

template <Order order, typename Element>
int32_t computeAny(const resid_ctx *context, const void *a, const void *panels, void *y, int64_t rows, int64_t terms,
                   int64_t columns) {
  auto *left = static_cast<const Element *>(a), *right = static_cast<const Element *>(panels);
  auto *result = static_cast<Element *>(y);
  if constexpr (order == Order::Dot)
    return compute<order, Element, Element>(context, {left, right, result, terms, columns, columns}, rows);
  else
    return compute<order, float, Element>(context,
                                          {widenAll(left, rows * terms), right, result, terms, columns, columns}, rows);
}

} // namespace

#define RESID_PRODUCT(TYPE, ELEMENT, NAME, ORDER)                                                                      \
  extern "C" RESID_API int32_t RESID_FOR_ISA(hand_product_##TYPE##_##NAME)(const resid_ctx *ctx, const void *a,        \
                                                                           const void *panels, void *y, int64_t rows,  \
                                                                           int64_t terms, int64_t columns) {           \
    return computeAny<Order::ORDER, ELEMENT>(ctx, a, panels, y, rows, terms, columns);                                 \
  }

RESID_PRODUCT(f32, float, chain, Chain)
RESID_PRODUCT(f32, float, two_chains, TwoChains)
RESID_PRODUCT(bf16, uint16_t, chain, Chain)
RESID_PRODUCT(bf16, uint16_t, two_chains, TwoChains)
#ifdef __AVX512BF16__
RESID_PRODUCT(bf16, uint16_t, dot, Dot)
#endif
