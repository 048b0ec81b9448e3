// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the elements of an expression are to residual streams: parts of a tensor, terms of a sum, weights. Does not own
// which reads and writes they make (StreamForm.h).

#ifndef RESID_PASSES_RAISE_STREAMTERMS_H
#define RESID_PASSES_RAISE_STREAMTERMS_H

#include "passes/raise/StreamForm.h"

namespace mlir::resid {

inline RankedTensorType getTensorType(Value tensor) { return cast<RankedTensorType>(tensor.getType()); }

/// Whether a size is known to be that of a tensor along a dimension.
bool isSizeOf(OpFoldResult size, Value tensor, int64_t dimension);

/// What a tensor has for the streams of a root of `rank` dimensions: an element of it.
struct StreamPart {
  Value tensor;
  /// The constant places: the stream, or the two of a mix.
  SmallVector<int64_t, 2> streams;
  /// Whether there is one for each leading place of the root, and for each feature.
  bool hasRows = false, hasFeatures = false;

  bool isStream(unsigned rank) const {
    return hasRows && hasFeatures && streams.size() == 1 &&
           cast<RankedTensorType>(tensor.getType()).getRank() == rank + 1;
  }
};

/// The node before a conversion to a wider type, if it is one.
const ElementNode *skipExtension(const ElementNode *node);

/// One term of a sum: a factor, or two of them.
struct StreamTerm {
  enum Step { First, Fused, Added };
  Step step;
  SmallVector<const ElementNode *, 2> factors;
};

/// Whether the node adds, by an op of its own or fused with a product.
bool isSum(const ElementNode *node);

/// The terms in the order in which they are added up. False where they are not added one by one.
bool readTerms(const ElementNode *node, Type arithmetic, SmallVectorImpl<StreamTerm> &terms);

/// The stream of `x` that a factor is.
std::optional<int64_t> getStream(const ElementNode *factor, Value x, unsigned rank);

/// The streams that one of the factors is a part of.
Value findStreams(ArrayRef<StreamTerm> terms, unsigned rank);

/// The tensor that all weights come from, as they are read one by one: weight [i] is that of stream i, and weight
/// [i, j] that of the mix from i to j, or of its transposition.
class WeightReader {
public:
  WeightReader(unsigned rank, int64_t count) : rank(rank), count(count) {}

  /// Whether the factor is the weight of these streams, in a tensor where all that were read before are too.
  bool read(const ElementNode *factor, ArrayRef<int64_t> streams);
  /// Null where none was read.
  StreamWeights getResult() const { return candidates.empty() ? StreamWeights() : candidates.front(); }

private:
  bool hasShape(const StreamPart &part, unsigned streams) const;

  unsigned rank;
  int64_t count;
  bool isFirst = true;
  SmallVector<StreamWeights> candidates;
};

} // namespace mlir::resid

#endif // RESID_PASSES_RAISE_STREAMTERMS_H
