// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparisons (setp, set) and choices (selp, slct).

#include "test/ptx/Handlers.h"

using namespace resid::ptx;

namespace {

/// A comparison is the set of outcomes of which it is true.
enum Outcome : unsigned { Less = 1, Equal = 2, Greater = 4, Unordered = 8 };

std::optional<unsigned> takeCompare(Decoder &d) {
  // lo, ls, hi, hs are other names for unsigned integers.
  return d.takeOne<unsigned>({{"eq", Equal},
                              {"ne", Less | Greater},
                              {"lt", Less},
                              {"le", Less | Equal},
                              {"gt", Greater},
                              {"ge", Greater | Equal},
                              {"lo", Less},
                              {"ls", Less | Equal},
                              {"hi", Greater},
                              {"hs", Greater | Equal},
                              {"equ", Unordered | Equal},
                              {"neu", Unordered | Less | Greater},
                              {"ltu", Unordered | Less},
                              {"leu", Unordered | Less | Equal},
                              {"gtu", Unordered | Greater},
                              {"geu", Unordered | Greater | Equal},
                              {"num", Less | Equal | Greater},
                              {"nan", Unordered}});
}

template <typename T> bool compare(T a, T b, unsigned outcomes) {
  if constexpr (std::is_integral_v<T>) {
    return outcomes & (a < b ? Less : a == b ? Equal : Greater);
  } else {
    double x = widen(a), y = widen(b);
    return outcomes & (x < y ? Less : x == y ? Equal : x > y ? Greater : Unordered);
  }
}

/// Those of floats alone are "num" and those that are true without an order; types without a sign have two.
template <typename Make> Handler forCompared(unsigned outcomes, Type type, Make make) {
  if (isFloat(type))
    return forScalarFloat(type, make);
  if (outcomes & Unordered || outcomes == (Less | Equal | Greater))
    return nullptr;
  bool isEquality = outcomes == Equal || outcomes == (Less | Greater);
  Handler run = isEquality ? forBits(type, make) : nullptr;
  return run ? run : forInteger(type, make);
}

enum class Join { None, And, Or, Xor };

/// p = (a C b) join c, and its counterpart q = !(a C b) join c. Slot 5 is the comparison.
template <typename T> const Instruction *setPredicate(const Instruction *i, Thread &t) {
  bool found = compare(t.read<T>(i->slots[2]), t.read<T>(i->slots[3]), i->slots[5]), other = !found;
  if (i->immediate) {
    bool with = t.read<bool>(i->slots[4]);
    Join join = Join(i->immediate);
    auto joined = [&](bool x) { return join == Join::And ? x && with : join == Join::Or ? x || with : x != with; };
    found = joined(found);
    other = joined(other);
  }
  t.write<bool>(i->slots[0], found);
  if (i->slots[1])
    t.write<bool>(i->slots[1], other);
  return i + 1;
}

/// p of the low halves, q of the high ones.
template <typename T> const Instruction *setPredicates(const Instruction *i, Thread &t) {
  auto a = t.read<Both<T>>(i->slots[2]), b = t.read<Both<T>>(i->slots[3]);
  t.write<bool>(i->slots[0], compare(a.low, b.low, i->slots[5]));
  t.write<bool>(i->slots[1], compare(a.high, b.high, i->slots[5]));
  return i + 1;
}

/// The immediate is the number for what is true.
template <typename T> const Instruction *setNumber(const Instruction *i, Thread &t) {
  bool found = compare(t.read<T>(i->slots[1]), t.read<T>(i->slots[2]), i->slots[5]);
  t.write(i->slots[0], found ? i->immediate : 0);
  return i + 1;
}

void decodeSetp(Decoder &d) {
  auto outcomes = takeCompare(d);
  Join join = d.takeOne<Join>({{"and", Join::And}, {"or", Join::Or}, {"xor", Join::Xor}}).value_or(Join::None);
  auto type = d.takeType();
  if (!outcomes || !type)
    return d.fail("unknown instruction");
  if (!d.hasOperands(join == Join::None ? 3 : 4))
    return;
  const Operand &result = d.statement().operands[0];
  bool isPair = result.kind == Operand::Pair, isOfPairs = type == Type::F16x2 || type == Type::BF16x2;
  Handler run = !isOfPairs ? forCompared(*outcomes, *type, []<typename T>() -> Handler { return setPredicate<T>; })
                : isPair && join == Join::None
                    ? forNarrowFloat(type == Type::F16x2 ? Type::F16 : Type::BF16,
                                     []<typename T>() -> Handler { return setPredicates<T>; })
                    : nullptr;
  if (!run)
    return d.fail("unknown instruction");
  uint32_t a = d.in(1), b = d.in(2), c = join == Join::None ? 0 : d.in(3);
  uint32_t p = d.out(isPair ? result.parts[0] : result), q = isPair ? d.out(result.parts[1]) : 0;
  d.emit(run, {p, q, a, b, c, *outcomes}, uint64_t(join));
}

void decodeSet(Decoder &d) {
  auto outcomes = takeCompare(d);
  auto to = d.takeType(), from = d.takeType();
  if (!outcomes || !from || (to != Type::U32 && to != Type::S32 && to != Type::F32))
    return d.fail("unknown type");
  Handler run = forCompared(*outcomes, *from, []<typename T>() -> Handler { return setNumber<T>; });
  if (!run || !d.hasOperands(3))
    return d.fail("unknown instruction");
  uint32_t a = d.in(1), b = d.in(2);
  d.emit(run, {d.out(size_t(0)), a, b, 0, 0, *outcomes}, to == Type::F32 ? llvm::bit_cast<uint32_t>(1.0f) : ~0u);
}

uint64_t choose(uint64_t a, uint64_t b, bool first) { return first ? a : b; }
uint64_t chooseBySign(uint64_t a, uint64_t b, int32_t c) { return c >= 0 ? a : b; }
/// -0 counts as 0, and NaN chooses the second.
uint64_t chooseByFloat(uint64_t a, uint64_t b, float c) { return c >= 0 ? a : b; }

void decodeSelp(Decoder &d) {
  auto type = d.takeType();
  d.emitPure(type && bytesOf(*type) > 1 ? pure<choose> : Pure());
}

void decodeSlct(Decoder &d) {
  auto type = d.takeType(), by = d.takeType();
  bool isKnown = type && bytesOf(*type) > 1 && (by == Type::S32 || by == Type::F32);
  d.emitPure(!isKnown ? Pure() : by == Type::S32 ? pure<chooseBySign> : pure<chooseByFloat>);
}

} // namespace

void resid::ptx::addCompareRules(Rules &rules) {
  rules.any["setp"] = decodeSetp;
  rules.any["set"] = decodeSet;
  rules.any["selp"] = decodeSelp;
  rules.any["slct"] = decodeSlct;
}
