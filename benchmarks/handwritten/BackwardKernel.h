// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward of a norm for one row in vector registers, with the operations and the order of sums of
// docs/numerics.md: two sweeps over the row, of which the first one finds the means and the second one the gradients.

#ifndef RESID_BENCHMARKS_HANDWRITTEN_BACKWARDKERNEL_H
#define RESID_BENCHMARKS_HANDWRITTEN_BACKWARDKERNEL_H

#include "benchmarks/handwritten/RowKernel.h"

namespace resid::handwritten::RESID_ISA {

/// What a backward reads beside x, dy (in the place of f) and gamma.
template <typename Element> struct BackwardInputs {
  const Element *dsum;
  const float *mean, *correction, *rstd;
};

/// dx of a row goes to y. With `add`, dsum is added to it; with `dropout`, s becomes dropout(dx).
template <typename Traits> class BackwardKernel : RowKernel<Traits> {
  using Base = RowKernel<Traits>;
  using Type = typename Traits::Type;
  using Element = typename Type::Element;
  using typename Base::All;
  static constexpr bool isLayer = Traits::norm == Norm::Layer;

public:
  static constexpr int64_t kScratchRows = 8;

  /// `scratch`: kScratchRows rows of the largest width, which streamed rows need that do not begin at cache lines.
  BackwardKernel(const Arrays<Element> &arrays, const BackwardInputs<Element> &inputs, const Philox *philox,
                 Element *scratch)
      : Base(arrays, philox, scratch), inputs(inputs),
        isCopied(Traits::streams && arrays.width * sizeof(Element) % 64 != 0) {}

  /// The rows [first, last), whose terms are added to the sums of gamma and beta.
  __attribute__((always_inline)) void run(int64_t first, int64_t last, float *gammaSums, float *betaSums) {
    int64_t row = first;
    for (; row + kRowsTogether <= last; row += kRowsTogether)
      addRows<kRowsTogether>(row, gammaSums, betaSums);
    for (; row < last; ++row)
      addRows<1>(row, gammaSums, betaSums);
    if constexpr (Traits::streams)
      _mm_sfence();
  }

private:
  struct Terms {
    Chunk normalized, dy, g;
  };

  /// In the second sweep so many rows are worked on together, so that their terms are summed in registers.
  static constexpr int64_t kRowsTogether = 2;

  template <typename Part> __attribute__((always_inline)) Chunk loadGamma(int64_t column, const Part &there) const {
    return Type::unpack(this->load(this->arrays.gamma + column, there));
  }

  template <typename Part>
  __attribute__((always_inline)) Terms getTerms(int64_t row, int64_t column, const Chunk &gamma, const Part &there) {
    const Vector rstd = setAll(inputs.rstd[row]);
    int64_t at = row * this->width + column;
    Terms terms;
    terms.normalized = Type::unpack(this->load(this->arrays.x + at, there));
    terms.dy = Type::unpack(this->load(this->arrays.f + at, there));
    for (int i = 0; i < kParts; ++i) {
      Vector &value = terms.normalized.part[i];
      if constexpr (isLayer)
        value = subtract(subtract(value, setAll(inputs.mean[row])), setAll(inputs.correction[row]));
      value = multiply(value, rstd);
      terms.g.part[i] = multiply(terms.dy.part[i], gamma.part[i]);
    }
    return terms;
  }

  /// The sums over a row that its gradients need, as means.
  __attribute__((always_inline)) void findMeans(int64_t row, int64_t rowsAhead, float (&means)[isLayer ? 2 : 1]) {
    int64_t start = row * this->width;
    Base::sumRow(this->width, this->tail, means, [&](Chunk *sums, int64_t column, const auto &there) {
      this->prefetchNext(this->arrays.x, start + rowsAhead * this->width, column);
      if constexpr (Traits::prefetches && Traits::add)
        prefetchChunk<3>(inputs.dsum + start + column);
      Terms terms = getTerms(row, column, loadGamma(column, there), there);
      for (int i = 0; i < kParts; ++i) {
        sums[0].part[i] = add(sums[0].part[i], multiply(terms.g.part[i], terms.normalized.part[i]));
        if constexpr (isLayer)
          sums[1].part[i] = add(sums[1].part[i], terms.g.part[i]);
      }
    });
    for (float &mean : means)
      mean = mean / static_cast<float>(this->width);
  }

  template <int64_t rows>
  __attribute__((always_inline)) void addRows(int64_t first, float *gammaSums, float *betaSums) {
    float means[rows][isLayer ? 2 : 1];
    for (int64_t i = 0; i < rows; ++i)
      findMeans(first + i, rows - 1, means[i]);
    int64_t column = 0;
#pragma clang loop unroll(disable)
    for (; column + kChunk <= this->width; column += kChunk)
      addColumns<rows>(first, column, means, gammaSums + column, betaSums + column, All());
    if (column < this->width)
      addColumns<rows>(first, column, means, gammaSums + column, betaSums + column, this->tail);
    for (int64_t row = first; isCopied && row < first + rows; ++row) {
      streamRow(this->arrays.y + row * this->width, this->scratch + (row - first) * kLargestWidth);
      if constexpr (Traits::dropout)
        streamRow(this->arrays.s + row * this->width, this->scratch + (rows + row - first) * kLargestWidth);
    }
  }

  template <int64_t rows, typename Part>
  __attribute__((always_inline)) void addColumns(int64_t first, int64_t column, const float (*means)[isLayer ? 2 : 1],
                                                 float *gammaSums, float *betaSums, const Part &there) {
    const Chunk gamma = loadGamma(column, there);
    Chunk toGamma = F32::loadPacked(gammaSums), toBeta = zeroChunk();
    if constexpr (isLayer)
      toBeta = F32::loadPacked(betaSums);
    for (int64_t i = 0; i < rows; ++i) {
      this->prefetchNext(this->arrays.f, (first + i + rows - 1) * this->width, column);
      Terms terms = getTerms(first + i, column, gamma, there);
      storeChunk<rows>(first + i, i, column, means[i], terms, there);
      for (int part = 0; part < kParts; ++part)
        toGamma.part[part] = add(toGamma.part[part], multiply(terms.dy.part[part], terms.normalized.part[part]));
      if constexpr (isLayer)
        addTo(toBeta, terms.dy);
    }
    F32::storePacked(gammaSums, toGamma);
    if constexpr (isLayer)
      F32::storePacked(betaSums, toBeta);
  }

  /// `place`: of the row among those that are worked on together.
  template <int64_t rows, typename Part>
  __attribute__((always_inline)) void storeChunk(int64_t row, int64_t place, int64_t column, const float *means,
                                                 const Terms &terms, const Part &there) {
    int64_t at = row * this->width + column;
    const Vector rstd = setAll(inputs.rstd[row]), factor = setAll(-means[0]);
    Chunk dx, dsum;
    if constexpr (Traits::add)
      dsum = Type::unpack(this->load(inputs.dsum + at, there));
    for (int i = 0; i < kParts; ++i) {
      Vector g = terms.g.part[i];
      if constexpr (isLayer)
        g = subtract(g, setAll(means[1]));
      g = multiplyAdd(terms.normalized.part[i], factor, g);
      dx.part[i] = Traits::add ? multiplyAdd(rstd, g, dsum.part[i]) : multiply(rstd, g);
    }
    typename Type::Packed packed = Type::pack(dx);
    storeResult(this->arrays.y + at, this->scratch + place * kLargestWidth + column, packed, there);
    if constexpr (Traits::dropout) {
      Chunk dropped = this->drop(Type::unpack(packed), row, column);
      storeResult(this->arrays.s + at, this->scratch + (rows + place) * kLargestWidth + column, Type::pack(dropped),
                  there);
    }
  }

  /// To where the result belongs, or to a scratch row.
  template <typename Part>
  __attribute__((always_inline)) void storeResult(Element *to, Element *copied, const typename Type::Packed &packed,
                                                  const Part &there) {
    if (isCopied)
      return this->store(copied, packed, there);
    if constexpr (Traits::streams && std::is_same_v<Part, All>)
      Type::streamPacked(to, packed);
    else
      this->store(to, packed, there);
  }

  /// A row out of scratch memory, in whole lines but for its ends.
  __attribute__((always_inline)) void streamRow(Element *to, const Element *from) const {
    constexpr int64_t lineElements = 64 / sizeof(Element);
    int64_t column = this->columnsBeforeLine(to);
    std::memcpy(to, from, static_cast<size_t>(column) * sizeof(Element));
    for (; column + lineElements <= this->width; column += lineElements)
      for (int64_t at = column; at < column + lineElements; at += sizeof(Integers) / sizeof(Element))
        streamBits(to + at, loadBits(from + at));
    std::memcpy(to + column, from + column, static_cast<size_t>(this->width - column) * sizeof(Element));
  }

  BackwardInputs<Element> inputs;
  bool isCopied;
};

} // namespace resid::handwritten::RESID_ISA

#endif // RESID_BENCHMARKS_HANDWRITTEN_BACKWARDKERNEL_H
