// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of accuracy bounds by which compiled results are judged against the evaluator (docs: numerics). Only
// formulas.

#ifndef RESID_REFERENCE_BOUNDS_H
#define RESID_REFERENCE_BOUNDS_H

#include "reference/Numbers.h"
#include <algorithm>
#include <cmath>

namespace mlir::resid::reference::bounds {

// clang-format off
// | what                          | bound                                      | from
// |-------------------------------|--------------------------------------------|-----------------------------------------
// | add, add_bias, dropout, casts | bit-equal                                  | their arithmetic is fixed
// | layer and RMS norm, f32       | 5e-7·max(1, |γ|·max(1, |x̂|) + |β|)         | a bound on x̂ carried through fma
// | layer and RMS norm, f64       | 1e-13 times the same factor                | as above
// | dynamic tanh, f32             | 1e-6·max(1, |γ| + |β|)                     | |tanh| ≤ 1
// | dynamic tanh, f64             | 1e-13 times the same factor                | as above
// | activations but relu, f32     | 5e-7·|x| (gated: 5e-7·|x·up|; sigmoid: 5e-7) | erf, tanh and exp beside 1
// | the same, f64                 | 1e-13 times the same factor                | as above
// | 16-bit results                | max(1 ulp of the result, the f32 bound)    | a value beside a rounding boundary
// | narrow_affine, 16 bits        | the same plus |γ|·(1 ulp of x̂)             | x̂ itself may round the other way
// | rstd                          | 5e-7·rstd (f64: 1e-13·rstd)                | the bound on x̂ = d·rstd at |x̂| = 1
// | mean, mean_correction         | ulp(mean) + 5e-7/rstd (f64: 1e-13/rstd)    | the bound on x̂ times the deviation
// | a sum down the rows, f32       | 5e-6·Σ|terms|, the old element among them  | its order, which is fixed
// | a sum down the rows, f64       | 1e-13 times the same sum                   | as above
// | dx of a norm, f32             | 1e-6·(rstd·max|g|·max(1, |x̂|) + |dsum|)    | a bound on x̂·avg(g·x̂)
// | dx of a norm, f64             | 1e-13 times the same factor                | as above
// | dx of a dynamic tanh, f32     | 1e-6·(2·|α·g| + |dsum|)                    | 1 - t², where t is off as above
// | dx of a dynamic tanh, f64     | 1e-13 times the same factor                | as above
// | dalpha of a dynamic tanh      | that of a sum of the |x·g|                 | as above
// | batch norm                    | batchNorm(), below                         | errors of the mean and the variance
// | dx of a batch norm            | batchNormGrad(), below                     | errors of two sums down the rows
// | dgate                         | that of a sum down the rows                | it is one, of sums of rows
// | dgamma, dbeta                 | that of a sum down the rows                | they are one
// | the same, stored narrower     | 1 ulp of the result more                   | a second rounding
// | loss, logsumexp, f32          | 1e-6·(1 + |m| + |x| + |log S|)             | terms off by 2 ulp and by their distance
// | loss, logsumexp, f64          | 1e-13 times the same factor                | as above
// | dlogits, f32                  | 5e-7·(p·(1 + |x - lse|) + 1)·|dloss|       | exp of a rounded distance
// | dlogits, f64                  | 1e-13 times the same factor                | as above
// | a contraction, exact inputs    | bit-equal                                  | its chain is fixed
// | the same in wide mode, f32     | (K+1)·2⁻²⁴·(|init| + Σ|aᵢ·bᵢ|)             | half an ulp for each of K fma, and to compare
// | the same in wide mode, f64     | (K+1)·2⁻⁵³·(|init| + Σ|aᵢ·bᵢ|)             | as above
// | the same, narrower results     | 1 ulp of the result more                   | both sides round to storage
// | the same, no fma (x86-64-v2)   | 2K in place of K, in both modes            | a product rounds by itself
// | skip_scale, no fma             | that of a contraction of K = 1             | as above
// | attention, exact inputs        | bit-equal                                  | its arithmetic is fixed
// | the same in wide mode          | attention(), attentionSum(), below         | errors of scores, carried through the mean
// | the same, no fma (x86-64-v2)   | three roundings for each one               | two of a product and a sum, one of the evaluator
// | a function of math            | functionUnits · ulp                        | its arithmetic, measured (docs/accuracy.md)
// | everything else               | --rtol, --atol                             | a norm after a norm amplifies an ulp
// clang-format on

/// The relative accuracy of a normalised value in the arithmetic type.
inline double normAccuracy(FloatKind arithmetic) { return arithmetic == FloatKind::F64 ? 1e-13 : 5e-7; }
inline double tanhAccuracy(FloatKind arithmetic) { return arithmetic == FloatKind::F64 ? 1e-13 : 1e-6; }

inline bool isNarrow(FloatKind kind) { return kind == FloatKind::F16 || kind == FloatKind::BF16; }

/// What a normalised value is made of.
struct Normalized {
  double value, xhat, gamma, beta;
};

/// The larger of the bound in the arithmetic type and, in 16 bits, one unit in the last place of the result.
inline double storedBound(FloatKind result, bool narrowAffine, const Normalized &n, double arithmeticBound) {
  if (!isNarrow(result))
    return arithmeticBound;
  double bound = std::max(unitInLastPlace(result, n.value), arithmeticBound);
  return narrowAffine ? bound + std::fabs(n.gamma) * unitInLastPlace(result, n.xhat) : bound;
}

inline double norm(FloatKind arithmetic, FloatKind result, bool narrowAffine, const Normalized &n) {
  double factor = std::max(1.0, std::fabs(n.gamma) * std::max(1.0, std::fabs(n.xhat)) + std::fabs(n.beta));
  return storedBound(result, narrowAffine, n, normAccuracy(arithmetic) * factor);
}

/// An element of dx. `normalized` is |x̂| with what cancels in it, `mean` its mean over the row.
struct NormGradient {
  double value, rstd, largest, normalized, mean, dsum;
};

/// x̂·avg(g·x̂) is at most |x̂|·avg|x̂|·max|g|, and avg|x̂| is at most 1 where the statistics are those of x.
inline double normGrad(FloatKind arithmetic, FloatKind result, const NormGradient &n) {
  double factor = std::max(1.0, n.normalized) * std::max(1.0, n.mean);
  double scale = std::fabs(n.rstd) * n.largest * factor + std::fabs(n.dsum) + smallestNormal(arithmetic);
  double bound = tanhAccuracy(arithmetic) * scale;
  return isNarrow(result) ? std::max(unitInLastPlace(result, n.value), bound) : bound;
}

inline double dyt(FloatKind arithmetic, FloatKind result, bool narrowAffine, const Normalized &n) {
  double factor = std::max(1.0, std::fabs(n.gamma) + std::fabs(n.beta));
  return storedBound(result, narrowAffine, n, tanhAccuracy(arithmetic) * factor);
}

/// An element of dx of a dynamic tanh, where `scaled` is α·g.
inline double dytGrad(FloatKind arithmetic, FloatKind result, double value, double scaled, double dsum) {
  double scale = 2.0 * std::fabs(scaled) + std::fabs(dsum) + smallestNormal(arithmetic);
  double bound = tanhAccuracy(arithmetic) * scale;
  return isNarrow(result) ? std::max(unitInLastPlace(result, value), bound) : bound;
}

/// Of an activation of `value`, where `x` is the element, times that of a gated kind. A subnormal rounds by more than
/// its share.
inline double activation(FloatKind arithmetic, FloatKind result, double value, double x) {
  double bound = normAccuracy(arithmetic) * (std::fabs(x) + smallestNormal(arithmetic));
  return isNarrow(result) ? std::max(unitInLastPlace(result, value), bound) : bound;
}

inline double rstd(FloatKind arithmetic, double rstd) { return normAccuracy(arithmetic) * std::fabs(rstd); }

inline double columnSum(FloatKind kind, double magnitudes) {
  return (kind == FloatKind::F64 ? 1e-13 : 5e-6) * magnitudes;
}

/// dgamma or dbeta: a sum down the rows, and where it is stored narrower, a second rounding.
inline double parameterGrad(FloatKind arithmetic, FloatKind result, double value, double magnitudes) {
  double bound = columnSum(arithmetic, magnitudes);
  return result == arithmetic ? bound : bound + unitInLastPlace(result, std::fabs(value) + bound);
}

/// A loss, of a logit `x` and the logarithm `log` of the sum; or a logsumexp, of no logit.
inline double logSumExp(FloatKind arithmetic, double largest, double x, double log) {
  return tanhAccuracy(arithmetic) * (1.0 + std::fabs(largest) + std::fabs(x) + std::fabs(log));
}

/// An element of dlogits. `distance` is that of the logit from the logsumexp.
inline double logitGrad(FloatKind arithmetic, FloatKind result, double value, double distance, double dloss) {
  double p = std::exp(distance), spread = p == 0.0 ? 0.0 : p * (1.0 + std::fabs(distance));
  double bound = normAccuracy(arithmetic) * (spread + 1.0) * std::fabs(dloss) + smallestNormal(arithmetic);
  return isNarrow(result) ? std::max(unitInLastPlace(result, value), bound) : bound;
}

/// Statistics of a column: the means of d and of d² are off by what sums down the rows may be off.
inline double batchMean(FloatKind arithmetic, double mean, double rstd) {
  return unitInLastPlace(arithmetic, mean) + columnSum(arithmetic, 1.0 / rstd);
}
inline double batchVariance(FloatKind arithmetic, double variance) {
  return columnSum(arithmetic, variance) + smallestNormal(arithmetic);
}
inline double batchRstd(FloatKind arithmetic, double rstd) { return columnSum(arithmetic, rstd); }

/// An element of a batch norm, whose x̂ is off by its mean and by half of what its variance is off.
inline double batchNorm(FloatKind arithmetic, FloatKind result, const Normalized &n, bool isFixed) {
  double off = isFixed ? 0.0 : columnSum(arithmetic, 1.0 + 0.5 * std::fabs(n.xhat));
  return norm(arithmetic, result, /*narrowAffine=*/false, n) + std::fabs(n.gamma) * off;
}

/// An element of dx of a batch norm, where `scaled` is γ·rstd times the magnitudes of what u is made of.
inline double batchNormGrad(FloatKind arithmetic, FloatKind result, double value, double scaled, double dsum) {
  double bound = columnSum(arithmetic, std::fabs(scaled)) + tanhAccuracy(arithmetic) * std::fabs(dsum) +
                 tanhAccuracy(arithmetic) * smallestNormal(arithmetic);
  return isNarrow(result) ? std::max(unitInLastPlace(result, value), bound) : bound;
}

/// A contraction's result before it is rounded to storage.
struct Contracted {
  double value;
  /// Of the initial value and all products, summed.
  double magnitude;
  /// How often the chain rounds.
  double roundings;
};

/// A subnormal sum rounds by more than its share: half of the least number, as much as the smallest normal one does.
inline double contraction(FloatKind arithmetic, FloatKind result, const Contracted &contracted) {
  double half = std::ldexp(1.0, arithmetic == FloatKind::F64 ? -53 : -24);
  double bound = (contracted.roundings + 1) * half * (contracted.magnitude + smallestNormal(arithmetic));
  return result == arithmetic ? bound : bound + unitInLastPlace(result, std::fabs(contracted.value) + bound);
}

inline double mean(FloatKind arithmetic, double mean, double rstd) {
  return unitInLastPlace(arithmetic, mean) + normAccuracy(arithmetic) / rstd;
}

/// How many units in the last place a compiled function may be off. f64 counts the evaluator's own error; 16 bits are
/// computed in f32 and rounded once more. The polynomials of exp, tanh and erf, and 1/sqrt(x), are in f32 themselves.
enum class FunctionFamily { InDouble, Exponential, ReciprocalRoot, TanhOrErf };
inline double functionUnits(FunctionFamily family, FloatKind kind) {
  if (kind == FloatKind::F64)
    return 4;
  if (isNarrow(kind) || family == FunctionFamily::InDouble)
    return 1;
  return family == FunctionFamily::TanhOrErf ? 4 : 2;
}

//===------------------------------------------- attention --------------------------------------------------------===//
//
// y is a mean of the values v_j with weights w_j = exp(s_j - m). Where w_j is off by a factor between exp(-r_j) and
// exp(r_j), y moves by Σ w_j·(exp(r_j)-1)·(|v_j|+|y|) / Σ w_j·exp(-r_j) at most. r_j has the error of the score, one
// rounding of s_j - m for each unit between the two, and the errors of E, once for the key and once for each chunk. To
// that come the roundings of the sums: of a chunk's chain and of S, and two for each chunk that joins.

/// Half a unit in the last place of 1, and a thousandth more for products of errors.
inline double unitRoundoff(FloatKind arithmetic) { return std::ldexp(1.001, arithmetic == FloatKind::F64 ? -53 : -24); }

/// What a score is made of: Σ|q·k| before and after the scale, and the addend of the mask. A cap of 0 is none.
struct Score {
  double products, scaled, addend;
  int64_t size;
  double cap = 0.0;
};

/// Where the arithmetic type may overflow nothing is known of the row: a key whose score is -Inf would be absent, and
/// one of +Inf makes a NaN.
inline bool mayOverflow(FloatKind arithmetic, const Score &s) {
  double limit = overflowValue(arithmetic) * (1 - 0x1p-25);
  return std::max(s.products, s.scaled) * (1 + 0x1p-10) + s.addend >= limit;
}

/// Of the chain, of the scale and its product, and of the mask's addition. A cap's tanh has no slope above 1, and adds
/// its own error, that of its argument, and roundings of products; quotients may be subnormal.
inline double score(FloatKind arithmetic, double roundings, const Score &s) {
  double bent = s.cap == 0.0 ? 0.0 : std::min(s.scaled, s.cap);
  double own =
      bent * (2 * functionUnits(FunctionFamily::TanhOrErf, arithmetic) + 3) + 4 * s.cap * smallestNormal(arithmetic);
  return roundings * unitRoundoff(arithmetic) * (static_cast<double>(s.size + 3) * s.scaled + s.addend + own);
}

/// `factors` counts the roundings of dropout: of its scale, and of each product with a weight.
struct AttentionRow {
  FloatKind arithmetic, result;
  double roundings, keys, chunks, factors = 0;
};

/// The r_j of a key whose score is off by `error` and lies `distance` below the largest.
inline double weight(const AttentionRow &row, double error, double distance) {
  double exponential = 2 * functionUnits(FunctionFamily::Exponential, row.arithmetic);
  return error + row.roundings * unitRoundoff(row.arithmetic) * (distance + exponential * (1 + row.chunks));
}

/// The same of the weight's share of the sum, where no r_j is above `largest`: the sum, and a division.
inline double share(const AttentionRow &row, double error, double largest) {
  return error + largest + row.roundings * unitRoundoff(row.arithmetic) * (13 + 2 * row.chunks);
}

/// A number, and by how much it may be off.
struct Judged {
  double value, error = 0.0;
  double most() const { return std::fabs(value) + error; }
};

/// What a key takes part with in the gradients of its row (docs/numerics.md): its share p of the weights, the product
/// of dy and its value, the mean of these products, and what a cap multiplies by, which is 1 without one.
struct KeyGradient {
  Judged share, product, mean, slope;
};

/// The error of p·(dp - mean)·slope·scale, with at most 5 roundings of `unit`.
inline double scoreGradient(const KeyGradient &g, double scale, double unit) {
  double distance = g.product.most() + g.mean.most();
  double moved = g.share.error * distance + std::fabs(g.share.value) * (g.product.error + g.mean.error);
  return std::fabs(scale) * (moved + g.share.most() * distance * (g.slope.error + 5 * unit));
}

/// `total` is the sum of the weights, `moved` by how much their errors move it, and `shift` the error of the maximum.
struct AttendedSum {
  double value, total, moved, shift;
};
inline double attentionSum(const AttentionRow &row, const AttendedSum &sum) {
  double error = (sum.total + sum.moved) * std::exp(sum.shift) - sum.total;
  double rounded = row.roundings * unitRoundoff(row.arithmetic) * (12 + 2 * row.chunks) * (sum.value + error);
  return error + rounded + row.keys * 2 * smallestNormal(row.arithmetic) + unitInLastPlace(row.arithmetic, sum.value);
}

/// `moved` is by how much the errors of weights move the value, `magnitude` the mean of all |v|, `largest` their
/// largest.
struct Attended {
  double value, moved, magnitude, largest;
};

/// Weights that are flushed to 0 are off by the smallest normal number, beside a sum of 1 at least. Both sides are
/// means of the values, so that they are no further apart than these. Sums of large values may overflow before they are
/// divided.
inline double attention(const AttentionRow &row, const Attended &a) {
  if (row.keys * a.largest >= overflowValue(row.arithmetic))
    return HUGE_VAL;
  double flushed = row.keys * 2 * smallestNormal(row.arithmetic) * (a.largest + std::fabs(a.value) + 1);
  double roundings = (std::min(row.keys, 256.0) + 2 * row.chunks + 1 + row.factors) * a.magnitude;
  roundings += (12 + 2 * row.chunks) * std::fabs(a.value);
  double rounded = row.roundings * unitRoundoff(row.arithmetic) * roundings;
  double bound = std::min(a.moved + flushed, 2 * a.largest) + rounded;
  return bound + unitInLastPlace(row.result, std::fabs(a.value) + bound);
}

} // namespace mlir::resid::reference::bounds

#endif
