// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "References.h"
#include "Numbers.h"

#include <algorithm>
#include <cmath>

namespace {

/// The arrays of a call by name, and the largest error so far.
struct Call {
  const Block &block;
  const std::vector<std::vector<unsigned char>> &arrays;
  int64_t rows, width;
  double largest = 0;

  std::vector<double> read(const char *name) const {
    auto at = size_t(block.find(name));
    const Array &array = block.arrays[at];
    std::vector<double> numbers(size_t(array.getElements(rows, width)));
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = getNumber(array, arrays[at].data(), int64_t(i));
    return numbers;
  }

  /// Compares each row of a result with what it should be.
  void compare(const char *name, const std::vector<double> &expected) {
    std::vector<double> found = read(name);
    double precision = getPrecision(block.arrays[size_t(block.find(name))]);
    auto columns = size_t(width);
    for (size_t row = 0; row < found.size(); row += columns) {
      double most = 0, error = 0;
      for (size_t i = row; i < row + columns; ++i) {
        most = std::max(most, std::fabs(expected[i]));
        // A maximum would lose NaN.
        double difference = std::fabs(found[i] - expected[i]);
        error = std::isnan(difference) ? INFINITY : std::max(error, difference);
      }
      if (error > 0)
        largest = std::max(largest, error / (most * precision));
    }
  }

  static double getPrecision(const Array &array) {
    return std::ldexp(1, array.getElementBytes() == 4 ? -24 : array.type == std::string("bf16") ? -8 : -11);
  }
};

/// y of s as it was stored: the rounding of the sum is not the norm's.
void compareNorm(Call &call, bool isLayer) {
  std::vector<double> s = call.read("s"), gamma = call.read("gamma"), beta = call.read("beta"), y(s.size());
  auto width = size_t(call.width);
  for (size_t row = 0; row < s.size(); row += width) {
    double mean = 0, squares = 0;
    for (size_t i = 0; isLayer && i < width; ++i)
      mean += s[row + i] / double(width);
    for (size_t i = 0; i < width; ++i)
      squares += (s[row + i] - mean) * (s[row + i] - mean);
    double rstd = 1 / std::sqrt(squares / double(width) + (isLayer ? 1e-5 : 1e-6));
    for (size_t i = 0; i < width; ++i)
      y[row + i] = (s[row + i] - mean) * rstd * gamma[i] + (isLayer ? beta[i] : 0);
  }
  call.compare("y", y);
}

/// dx, dgamma and dbeta by the statistics that were given. With z = (x - mean) * rstd and g = dy * gamma, dx is
/// rstd * (g - mean(g) - z * mean(g * z)) + dsum, without mean(g) in RMS norms.
void compareGradient(Call &call, bool isLayer) {
  std::vector<double> dy = call.read("dy"), x = call.read("x"), dsum = call.read("dsum"), gamma = call.read("gamma");
  std::vector<double> rstd = call.read("rstd"), mean(rstd.size()), correction(rstd.size());
  if (isLayer) {
    mean = call.read("mean");
    correction = call.read("correction");
  }
  auto width = size_t(call.width);
  std::vector<double> dx(x.size()), dgamma(width), dbeta(width), z(width);
  for (size_t r = 0; r < rstd.size(); ++r) {
    size_t row = r * width;
    double sum = 0, product = 0;
    for (size_t i = 0; i < width; ++i) {
      z[i] = (x[row + i] - mean[r] - correction[r]) * rstd[r];
      sum += isLayer ? dy[row + i] * gamma[i] : 0;
      product += dy[row + i] * gamma[i] * z[i];
      dgamma[i] += dy[row + i] * z[i];
      dbeta[i] += dy[row + i];
    }
    for (size_t i = 0; i < width; ++i)
      dx[row + i] = rstd[r] * (dy[row + i] * gamma[i] - (sum + z[i] * product) / double(width)) + dsum[row + i];
  }
  call.compare("dx", dx);
  call.compare("dgamma", dgamma);
  call.compare("dbeta", dbeta);
}

} // namespace

double getLargestError(const Block &block, const std::vector<std::vector<unsigned char>> &arrays, int64_t rows,
                       int64_t width) {
  Call call{block, arrays, rows, width};
  bool isLayer = block.reference == Reference::LayerNorm || block.reference == Reference::LayerNormGradient;
  bool isNorm = block.reference == Reference::LayerNorm || block.reference == Reference::RMSNorm;
  (isNorm ? compareNorm : compareGradient)(call, isLayer);
  return call.largest;
}
