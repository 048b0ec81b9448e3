// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention in the reference evaluator: beside plain loops, and on keys that were worked out.

#include "reference/Exponential.h"
#include "test/embed/Inputs/attention_loops.h"
#include "test/unit/AttentionTest.h"

namespace mlir::resid::reference {
namespace {

using Program = AttentionProgram;

//===------------------------------------------- plain loops ------------------------------------------------------===//

template <typename T> std::vector<T> convert(const Array &array) {
  return std::vector<T>(array.floats().begin(), array.floats().end());
}

/// The three results of attention_loops.h, in the arithmetic type.
template <typename T> std::array<std::vector<T>, 3> runLoops(const Program &program, ArrayRef<Array> arguments) {
  std::vector<T> q = convert<T>(arguments[0]), k = convert<T>(arguments[1]), v = convert<T>(arguments[2]), addends;
  std::unique_ptr<bool[]> choices;
  std::array<std::vector<T>, 3> results;
  int64_t rows = program.batch * program.heads * program.queries;
  results[0].resize(rows * program.size), results[1].resize(rows), results[2].resize(rows);
  AttentionArrays<T> a{program.batch, program.heads, program.keyHeads, program.queries, program.keys,
                       program.size,  program.size,  q.data(),         k.data(),        v.data()};
  if (program.mask == "i1") {
    choices = std::make_unique<bool[]>(arguments[3].size());
    llvm::copy(arguments[3].integers(), choices.get());
    a.choices = choices.get();
  } else if (!program.mask.empty()) {
    addends = convert<T>(arguments[3]);
    a.addends = addends.data();
  }
  int64_t stride = 1, rank = program.maskShape.size();
  for (int64_t i = rank - 1; i >= 0; --i) {
    a.maskStrides[4 - rank + i] = program.maskShape[i] == 1 ? 0 : stride;
    stride *= program.maskShape[i];
  }
  a.past = program.past.value_or(-1);
  a.causal = StringRef(program.attributes).contains("causal");
  a.window = program.window, a.cap = static_cast<T>(program.cap);
  std::vector<T> sink;
  if (!program.sink.empty())
    sink = convert<T>(arguments[program.mask.empty() ? 3 : 4]), a.sink = sink.data();
  a.scale = StringRef(program.attributes).contains("scale") ? static_cast<T>(-0.3)
                                                            : static_cast<T>(1 / std::sqrt(double(program.size)));
  a.threshold = static_cast<uint32_t>(std::lround(program.dropped.value_or(0) * 65536));
  a.firstRow = Program::row, a.random = {Program::seed, Program::step, Program::site + 3};
  a.y = results[0].data(), a.max = results[1].data(), a.sum = results[2].data();
  attend(a);
  return results;
}

template <typename T> void expectBits(const Array &found, const std::vector<T> &expected, const Program &program) {
  ASSERT_EQ(found.size(), static_cast<int64_t>(expected.size()));
  for (int64_t i = 0; i != found.size(); ++i) {
    FloatKind kind = found.floatKind();
    double value = found.floats()[i], other = roundTo(kind, expected[i]);
    ASSERT_EQ(encodeFloat(kind, value), encodeFloat(kind, other))
        << value << " and " << other << ", element " << i << " of\n"
        << program.text();
  }
}

class AttentionLoops : public Attention {
protected:
  void check(const Program &program, double scale = 1, bool isSpecial = false) {
    SmallVector<Array> arguments = makeArguments(program, scale, isSpecial);
    SmallVector<Array> results = run(program.text(), arguments);
    ASSERT_EQ(results.size(), 3u) << message << program.text();
    for (size_t i = 0; i != 3; ++i) {
      EXPECT_FALSE(results[i].getAccuracy());
      if (program.isWide())
        expectBits(results[i], runLoops<double>(program, arguments)[i], program);
      else
        expectBits(results[i], runLoops<float>(program, arguments)[i], program);
    }
  }
};

/// Types, masks of every rank, caches, grouped heads, chunks, on ordinary and on special numbers: to the bit.
TEST_F(AttentionLoops, AreWhatPlainLoopsGive) {
  for (int i = 0; i != 150; ++i) {
    Program program = draw();
    check(program, std::array<double, 3>{1, 6, 0.1}[i % 3], i % 2 == 1);
    if (HasFatalFailure())
      return;
  }
}

/// E, whose argument is never positive: all exponents of it, the border to 0, and NaN.
TEST(Exponential, IsWhatPlainOperationsGive) {
  auto weigh = [](auto x) {
    auto y = exponential(x);
    return y < std::numeric_limits<decltype(x)>::min() ? 0 : y;
  };
  for (uint32_t bits = 0x80000000; bits < 0xFF800000; bits += 4099) {
    float x;
    memcpy(&x, &bits, sizeof(x));
    ASSERT_EQ(weigh(x), flushedExp(x)) << x;
  }
  for (int i = 0; i != 200000; ++i) {
    float single = -87.3f - 1e-5f * static_cast<float>(i % 20000);
    double wide = -750.0 / 200000 * i;
    ASSERT_EQ(weigh(single), flushedExp(single)) << single;
    ASSERT_EQ(weigh(wide), flushedExp(wide)) << wide;
  }
  EXPECT_TRUE(std::isnan(exponential(std::nanf(""))) && std::isnan(exponential(nan)));
  EXPECT_EQ(exponential(-HUGE_VALF), 0.0f);
  EXPECT_EQ(exponential(HUGE_VALF), HUGE_VALF);
  EXPECT_EQ(exponential(-0.0), 1.0);
}

/// The tanh of a cap: from 0 to where it is 1, of both signs.
TEST(Exponential, HasATangentOfPlainOperations) {
  auto check = [](auto x, FloatKind kind, double found) {
    ASSERT_EQ(hyperbolicTangent(x), cappedTanh(x)) << x;
    double exact = std::tanh(static_cast<double>(x));
    ASSERT_NEAR(found, exact, 4 * unitInLastPlace(kind, exact)) << x;
  };
  for (int i = -60000; i != 60000; ++i) {
    double x = std::ldexp(1 + i % 512 / 512.0, i / 512) * (i % 2 == 0 ? 1 : -1);
    auto single = static_cast<float>(x);
    check(single, FloatKind::F32, hyperbolicTangent(single));
    check(x, FloatKind::F64, hyperbolicTangent(x));
    if (HasFatalFailure())
      return;
  }
  EXPECT_TRUE(std::isnan(hyperbolicTangent(std::nanf(""))) && std::isnan(hyperbolicTangent(nan)));
  EXPECT_EQ(hyperbolicTangent(-HUGE_VALF), -1.0f);
  EXPECT_EQ(hyperbolicTangent(HUGE_VAL), 1.0);
  EXPECT_TRUE(std::signbit(hyperbolicTangent(-0.0)));
}

/// Two units in the last place of f32, and four of f64, as of math.exp.
TEST(Exponential, IsNearTheExponential) {
  for (int i = 0; i != 100000; ++i) {
    double x = -0.00087 * i;
    double single = std::exp(static_cast<double>(static_cast<float>(x)));
    ASSERT_NEAR(exponential(static_cast<float>(x)), single, 2 * unitInLastPlace(FloatKind::F32, single)) << x;
    ASSERT_NEAR(exponential(x), std::exp(x), 4 * unitInLastPlace(FloatKind::F64, std::exp(x))) << x;
  }
}

//===------------------------------------------- worked numbers ---------------------------------------------------===//

/// Heads of size 1 with queries of 0, so that all present keys weigh the same, and the values 1, 2, 4, … .
class UniformAttention : public Attention {
protected:
  std::vector<double> attend(Program program, ArrayRef<double> mask = {}) {
    SmallVector<Array> arguments = {tensor("tensor<f32>", program.queryShape(), {0}),
                                    tensor("tensor<f32>", program.keyShape(), {1}),
                                    tensor("tensor<f32>", program.keyShape(), {1, 2, 4, 8, 16, 32})};
    if (program.mask == "i1") {
      arguments.push_back(Array::zeros(parseType("tensor<i1>", &context), program.maskShape));
      llvm::copy(mask, arguments.back().mutableIntegers().begin());
    } else if (!program.mask.empty()) {
      arguments.push_back(tensor("tensor<f32>", program.maskShape, mask));
    }
    if (program.past)
      arguments.push_back(integer(*program.past));
    results = run(program.text(), arguments);
    return results.empty() ? std::vector<double>() : results.front().floats().vec();
  }
  Program program(int64_t queries, int64_t keys) {
    Program one;
    one.queries = queries, one.keys = keys;
    return one;
  }
  SmallVector<Array> results;
};

TEST_F(UniformAttention, TakesTheMeanOfAllKeys) {
  EXPECT_EQ(attend(program(1, 3)), std::vector<double>{static_cast<float>(7.0 / 3)}) << message;
  EXPECT_EQ(results[1].floats().vec(), std::vector<double>{0});
  EXPECT_EQ(results[2].floats().vec(), std::vector<double>{3});
}

TEST_F(UniformAttention, HidesKeysBehindTheQuery) {
  Program one = program(3, 3);
  one.attributes = "causal";
  EXPECT_EQ(attend(one), (std::vector<double>{1, 1.5, static_cast<float>(7.0 / 3)})) << message;
}

/// Three places are filled, one of them before the call; the fourth stays out.
TEST_F(UniformAttention, StopsAtTheEndOfTheCache) {
  Program one = program(2, 4);
  one.past = 1;
  EXPECT_EQ(attend(one), std::vector<double>(2, static_cast<float>(7.0 / 3))) << message;
  one.attributes = "causal";
  EXPECT_EQ(attend(one), (std::vector<double>{1.5, static_cast<float>(7.0 / 3)})) << message;
}

TEST_F(UniformAttention, GivesZerosWithoutAPresentKey) {
  Program one = program(2, 2);
  one.mask = "i1", one.maskShape = {2, 2};
  EXPECT_EQ(attend(one, {0, 0, 0, 1}), (std::vector<double>{0, 2})) << message;
  EXPECT_FALSE(std::signbit(results[0].floats()[0]));
  EXPECT_EQ(results[1].floats().vec(), (std::vector<double>{-infinity, 0}));
  EXPECT_EQ(results[2].floats().vec(), (std::vector<double>{0, 1}));
  one.mask = "f32";
  EXPECT_EQ(attend(one, {-infinity, -infinity, 5, -infinity}), (std::vector<double>{0, 1})) << message;
  EXPECT_EQ(results[1].floats().vec(), (std::vector<double>{-infinity, 5}));
  Program none = program(2, 0);
  EXPECT_EQ(attend(none), (std::vector<double>{0, 0})) << message;
  EXPECT_TRUE(attend(program(0, 3)).empty());
  EXPECT_EQ(message, "");
}

/// A NaN takes part, an infinity in a score is a NaN, and the next row knows of neither.
TEST_F(UniformAttention, SpoilsRowsOfNaNs) {
  Program one = program(3, 2);
  one.mask = "f32", one.maskShape = {3, 2};
  std::vector<double> y = attend(one, {nan, 0, infinity, 0, 0, 0});
  ASSERT_EQ(y.size(), 3u) << message;
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]) && y[2] == 1.5);
  EXPECT_TRUE(std::isnan(results[1].floats()[0]) && std::isnan(results[2].floats()[0]));
  EXPECT_EQ(results[1].floats()[1], infinity);
}

/// Heads 0 and 1 read the first head of keys, heads 2 and 3 the second.
TEST_F(UniformAttention, SharesKeysAmongHeads) {
  Program one = program(1, 2);
  one.heads = 4, one.keyHeads = 2;
  EXPECT_EQ(attend(one), (std::vector<double>{1.5, 1.5, 6, 6})) << message;
}

/// Ones in a chunk of 256 keys and zeros in the next: both weigh by their keys.
TEST_F(UniformAttention, JoinsChunks) {
  Program one = program(1, 258);
  one.mask = "f32", one.maskShape = {258};
  std::vector<double> mask(258, 0.0);
  mask[256] = mask[257] = 100;
  attend(one, mask);
  ASSERT_EQ(results.size(), 3u) << message;
  // Values repeat after six keys: keys 256 and 257 have 16 and 32. What 100 less weighs is below half a unit.
  EXPECT_EQ(results[0].floats().vec(), std::vector<double>{24});
  EXPECT_EQ(results[1].floats().vec(), std::vector<double>{100});
  EXPECT_EQ(results[2].floats().vec(), std::vector<double>{2});
}

/// Absent keys do not matter, and neither do their values; of a present key an infinite value does, though it weighs 0.
TEST_F(Attention, MultipliesWithPresentValuesOnly) {
  Program program;
  program.keys = 2, program.mask = "f32", program.maskShape = {2};
  auto attend = [&](double addend) {
    return floats(program.text(),
                  {tensor("tensor<f32>", program.queryShape(), {1}), tensor("tensor<f32>", program.keyShape(), {1}),
                   tensor("tensor<f32>", program.keyShape(), {3, infinity}), tensor("tensor<f32>", {2}, {0, addend})});
  };
  EXPECT_EQ(attend(-infinity), std::vector<double>{3}) << message;
  std::vector<double> y = attend(-1000);
  EXPECT_TRUE(y.size() == 1 && std::isnan(y[0]));
}

/// Neither a largest score of -0 nor a sum that underflows to -0 is handed out as such.
TEST_F(Attention, GivesPositiveZeros) {
  Program program;
  program.keys = 2, program.attributes = "scale = -0.3", program.mask = "f32", program.maskShape = {2};
  // Both scores are -0; with a mask of -2, the second key weighs 0.135, and its smallest value becomes -0.
  for (double addend : {-0.0, -2.0}) {
    SmallVector<Array> results =
        run(program.text(),
            {tensor("tensor<f32>", program.queryShape(), {0}), tensor("tensor<f32>", program.keyShape(), {1}),
             tensor("tensor<f32>", program.keyShape(), {0, addend == 0.0 ? 0 : -0x1p-149}),
             tensor("tensor<f32>", {2}, {-0.0, addend})});
    ASSERT_EQ(results.size(), 3u) << message;
    for (const Array &result : results)
      EXPECT_FALSE(std::signbit(result.floats()[0]));
    EXPECT_TRUE(results[0].floats()[0] == 0.0 && results[1].floats()[0] == 0.0);
  }
}

/// exp(-87) is 1.6e-38, and exp(-88) would be subnormal: in a chunk, and where chunks are joined in either order.
TEST_F(Attention, FlushesSubnormalWeights) {
  for (int64_t distance : {1, 256, -256}) {
    Program program;
    program.keys = 1 + std::abs(distance), program.mask = "f32", program.maskShape = {program.keys};
    std::vector<double> mask(program.keys, -infinity), values(program.keys, 0.0);
    double &low = distance > 0 ? mask.back() : mask.front();
    mask.front() = mask.back() = 0;
    (distance > 0 ? values.back() : values.front()) = 0x1p127;
    auto attend = [&] {
      return floats(program.text(),
                    {tensor("tensor<f32>", program.queryShape(), {0}), tensor("tensor<f32>", program.keyShape(), {1}),
                     tensor("tensor<f32>", program.keyShape(), values), tensor("tensor<f32>", {program.keys}, mask)});
    };
    low = -88;
    EXPECT_EQ(attend(), std::vector<double>{0}) << message;
    low = -87;
    std::vector<double> y = attend();
    ASSERT_EQ(y.size(), 1u) << message;
    EXPECT_NEAR(y[0], std::exp(-87) * 0x1p127, 1e-5);
  }
}

//===------------------------------------------- other definitions ------------------------------------------------===//

/// The formula in linalg, with a softmax of its own rounding.
TEST_F(Attention, IsASoftmaxBetweenTwoProducts) {
  const char *text = R"(func.func @f(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>, %v: tensor<1x2x5x4xf32>,
                                     %mask: tensor<3x5xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) {
    %zero = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %es = tensor.empty() : tensor<1x2x3x5xf32>
    %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
    %s = linalg.contract indexing_maps = [affine_map<(b, h, i, j, d) -> (b, h, i, d)>,
        affine_map<(b, h, i, j, d) -> (b, h, j, d)>, affine_map<(b, h, i, j, d) -> (b, h, i, j)>]
      ins(%q, %k : tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>) outs(%zs : tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
    %t = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (i, j)>,
                                          affine_map<(b, h, i, j) -> (b, h, i, j)>],
                         iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%s, %mask : tensor<1x2x3x5xf32>, tensor<3x5xf32>) outs(%es : tensor<1x2x3x5xf32>) {
    ^bb0(%a: f32, %m: f32, %o: f32):
      %scaled = arith.mulf %a, %half : f32
      %sum = arith.addf %scaled, %m : f32
      linalg.yield %sum : f32
    } -> tensor<1x2x3x5xf32>
    %p = linalg.softmax dimension(3) ins(%t : tensor<1x2x3x5xf32>) outs(%es : tensor<1x2x3x5xf32>)
        -> tensor<1x2x3x5xf32>
    %ey = tensor.empty() : tensor<1x2x3x4xf32>
    %zy = linalg.fill ins(%zero : f32) outs(%ey : tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
    %y = linalg.contract indexing_maps = [affine_map<(b, h, i, d, j) -> (b, h, i, j)>,
        affine_map<(b, h, i, d, j) -> (b, h, j, d)>, affine_map<(b, h, i, d, j) -> (b, h, i, d)>]
      ins(%p, %v : tensor<1x2x3x5xf32>, tensor<1x2x5x4xf32>) outs(%zy : tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
    %z = resid.attention %q, %k, %v mask(%mask)
        : tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>, tensor<3x5xf32>
    return %y, %z : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  })";
  SmallVector<Array> results = run(text, {random("f32", {1, 2, 3, 4}, 1), random("f32", {1, 2, 5, 4}, 1),
                                          random("f32", {1, 2, 5, 4}, 1), random("f32", {3, 5}, 1)});
  ASSERT_EQ(results.size(), 2u) << message;
  expectNear(results[0].floats(), results[1].floats(), 1e-6);
}

//===------------------------------------------- refusals ---------------------------------------------------------===//

TEST_F(UniformAttention, NamesWhatDoesNotFit) {
  auto expectRefusal = [&](const Program &program, ArrayRef<Array> arguments, StringRef expected) {
    run(program.text(), arguments);
    EXPECT_EQ(std::exchange(message, ""), ("'resid.attention' op expected " + expected).str());
  };
  auto array = [&](ArrayRef<int64_t> shape) { return tensor("tensor<f32>", shape, {1}); };
  Program plain, cached, masked;
  cached.past = 0;
  masked.mask = "f32", masked.maskShape = {4, 4};
  expectRefusal(plain, {array({1, 3, 2, 1}), array({1, 2, 2, 1}), array({1, 2, 2, 1})},
                "a number of heads in k that divides that of q but got 2 and 3");
  expectRefusal(plain, {array({1, 3, 2, 1}), array({1, 0, 2, 1}), array({1, 0, 2, 1})},
                "a number of heads in k that divides that of q but got 0 and 3");
  expectRefusal(plain, {array({1, 2, 2, 1}), array({1, 2, 2, 1}), array({1, 2, 3, 1})},
                "k and v of one batch, heads and keys but got 1x2x2x1xf32 and 1x2x3x1xf32");
  expectRefusal(plain, {array({2, 2, 2, 1}), array({1, 2, 2, 1}), array({1, 2, 2, 1})},
                "q and k of one batch but got 2x2x2x1xf32 and 1x2x2x1xf32");
  expectRefusal(cached, {array({1, 1, 2, 1}), array({1, 1, 4, 1}), array({1, 1, 4, 1}), integer(-1)},
                "a past of 0 or more keys but got -1");
  expectRefusal(cached, {array({1, 1, 2, 1}), array({1, 1, 4, 1}), array({1, 1, 4, 1}), integer(3)},
                "a cache of at least past + new keys, 3 + 2, but got 4");
  expectRefusal(cached, {array({1, 1, 2, 1}), array({1, 1, 4, 1}), array({1, 1, 4, 1}), integer(INT64_MAX)},
                "a cache of at least past + new keys, 9223372036854775807 + 2, but got 4");
  expectRefusal(masked, {array({1, 1, 2, 1}), array({1, 1, 4, 1}), array({1, 1, 4, 1}), array({3, 4})},
                "mask to have size 2 in dimension 0 but got 3");
}

} // namespace
} // namespace mlir::resid::reference
