// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of one attention, as the tests of the reference evaluator run them.

#ifndef RESID_TEST_UNIT_ATTENTIONTEST_H
#define RESID_TEST_UNIT_ATTENTIONTEST_H

#include "test/unit/ReferenceTest.h"

#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <random>

namespace mlir::resid::reference {

/// One attention, with all sizes but that of the heads open.
struct AttentionProgram {
  int64_t batch = 1, heads = 1, keyHeads = 1, queries = 1, keys = 1, size = 1;
  std::string q = "f32", k = "f32", v = "f32", result = "f32", mask, attributes, sink;
  SmallVector<int64_t> maskShape;
  /// 0 where there is none.
  int64_t window = 0;
  double cap = 0;
  std::optional<int64_t> past;
  /// Dropout's p.
  std::optional<double> dropped;
  static constexpr int64_t seed = 0x123456789ABCDEF, step = 7, row = 5, site = 11;

  SmallVector<int64_t> queryShape() const { return {batch, heads, queries, size}; }
  SmallVector<int64_t> keyShape() const { return {batch, keyHeads, keys, size}; }
  bool isWide() const { return q == "f64" || k == "f64" || v == "f64" || mask == "f64" || sink == "f64"; }

  static std::string type(ArrayRef<int64_t> shape, const std::string &element) {
    std::string text = "tensor<";
    for (int64_t size : shape)
      text += (size == 1 ? "1" : "?") + std::string("x");
    return text + element + ">";
  }
  std::string heads4(const std::string &element) const {
    return "tensor<?x?x?x" + std::to_string(size) + "x" + element + ">";
  }

  /// The result, max and sum of @f.
  std::string text() const {
    std::string types = heads4(q) + ", " + heads4(k) + ", " + heads4(v), arguments, clauses;
    arguments = "%q: " + heads4(q) + ", %k: " + heads4(k) + ", %v: " + heads4(v);
    if (!mask.empty()) {
      clauses += " mask(%mask)";
      arguments += ", %mask: " + type(maskShape, mask);
      types += ", " + type(maskShape, mask);
    }
    if (!sink.empty()) {
      clauses += " sink(%sink)";
      arguments += ", %sink: tensor<?x" + sink + ">";
      types += ", tensor<?x" + sink + ">";
    }
    if (past) {
      clauses += " past(%past)";
      arguments += ", %past: i64";
    }
    std::string listed = attributes;
    auto list = [&](const std::string &attribute) { listed += (listed.empty() ? "" : ", ") + attribute; };
    if (window != 0)
      list("window = " + std::to_string(window));
    if (cap != 0)
      list("cap = " + llvm::formatv("{0:e}", cap).str());
    if (dropped) {
      clauses += " dropout(%seed, %step) origin(%row, %site)";
      arguments += ", %seed: i64, %step: i64, %row: i64, %site: i64";
      list("site = 3, p = " + std::to_string(*dropped));
    }
    std::string statistic = isWide() ? "tensor<?x?x?xf64>" : "tensor<?x?x?xf32>";
    std::string results = heads4(result) + ", " + statistic + ", " + statistic;
    return "func.func @f(" + arguments + ") -> (" + results + ") {\n  %y, %max, %sum = resid.attention %q, %k, %v" +
           clauses + " {" + listed + "} : " + types + " -> " + results + "\n  return %y, %max, %sum : " + results +
           "\n}";
  }
};

/// Arguments for attentions, and attentions of all kinds.
class Attention : public ReferenceTest {
protected:
  /// Of a normal distribution. `special` are strewn in, a few for each head, so that not all rows are spoilt.
  Array random(const std::string &element, ArrayRef<int64_t> shape, double scale, ArrayRef<double> special = {}) {
    Array array = Array::zeros(parseType("tensor<" + element + ">", &context), shape);
    std::normal_distribution<double> normal(0, scale);
    int64_t rarity = 4;
    if (shape.size() > 1)
      rarity += shape[shape.size() - 2] * shape.back() / 2;
    for (double &value : array.mutableFloats()) {
      value = roundTo(array.floatKind(), normal(generator));
      if (!special.empty() && generator() % rarity == 0)
        value = special[generator() % special.size()];
    }
    return array;
  }
  SmallVector<Array> makeArguments(const AttentionProgram &program, double scale = 1, bool isSpecial = false) {
    static const double specials[] = {infinity, -infinity, nan, -0.0, 3e38, 1e-40};
    ArrayRef<double> special = isSpecial ? ArrayRef<double>(specials) : ArrayRef<double>();
    SmallVector<Array> arguments = {random(program.q, program.queryShape(), scale),
                                    random(program.k, program.keyShape(), scale, special.take_back(3)),
                                    random(program.v, program.keyShape(), 1, special)};
    if (program.mask == "i1") {
      Array mask = Array::zeros(parseType("tensor<i1>", &context), program.maskShape);
      for (int64_t &value : mask.mutableIntegers())
        value = generator() % 3 != 0;
      arguments.push_back(mask);
    } else if (!program.mask.empty()) {
      arguments.push_back(random(program.mask, program.maskShape, 3, special.empty() ? special : special.slice(0, 3)));
    }
    if (!program.sink.empty())
      arguments.push_back(random(program.sink, {program.heads}, 2, special.empty() ? special : special.take_front(2)));
    if (program.past)
      arguments.push_back(integer(*program.past));
    if (program.dropped)
      for (int64_t word : {program.seed, program.step, program.row, program.site})
        arguments.push_back(integer(word));
    return arguments;
  }

  AttentionProgram draw() {
    auto pick = [&](ArrayRef<const char *> names) { return names[generator() % names.size()]; };
    auto below = [&](int64_t limit) { return static_cast<int64_t>(generator() % limit); };
    AttentionProgram program;
    program.batch = 1 + below(2), program.keyHeads = 1 + below(2), program.heads = program.keyHeads * (1 + below(3));
    program.queries = below(5), program.keys = std::array<int64_t, 5>{3, 70, 256, 300, 530}[below(5)];
    program.size = std::array<int64_t, 4>{1, 4, 7, 32}[below(4)];
    program.q = pick({"f32", "bf16", "f16"}), program.k = program.v = pick({"f32", "bf16", "f16"});
    program.result = pick({"f32", "bf16", "f16", "f64"});
    if (below(4) == 0)
      program.v = "f64";
    program.mask = pick({"", "f32", "i1", "bf16", "f64"});
    SmallVector<int64_t> scores = {program.batch, program.heads, program.queries, program.keys};
    if (!program.mask.empty())
      for (int64_t size : ArrayRef(scores).take_back(below(5)))
        program.maskShape.push_back(below(3) == 0 ? 1 : size);
    if (below(2) == 0 && program.keys >= program.queries)
      program.past = below(program.keys - program.queries + 1);
    if (below(3) == 0)
      program.dropped = std::array<double, 4>{0.1, 0.5, 0.000001, 1.0}[below(4)];
    if (below(3) == 0)
      program.window = std::array<int64_t, 5>{1, 2, 60, 257, INT64_MAX}[below(5)];
    if (below(3) == 0)
      program.cap = std::array<double, 4>{0.5, 20, 1e-37, 1e37}[below(4)];
    if (below(3) == 0)
      program.sink = pick({"f32", "bf16", "f64"});
    program.attributes = pick({"", "causal", "scale = -0.3", "causal, scale = -0.3"});
    return program;
  }

  std::mt19937 generator{1};
};

} // namespace mlir::resid::reference

#endif
