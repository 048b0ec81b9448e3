// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparisons (setp, set) and choices (selp, slct).

#include "test/ptx/FloatTypes.h"
#include "test/ptx/IntegerTypes.h"

#include "llvm/ADT/StringSwitch.h"

using namespace resid::ptx;

namespace {

enum class Compare { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };

template <Compare C, typename T> bool compareOrdered(T a, T b) {
  switch (C) {
  case Compare::Eq:
  case Compare::Equ:
    return a == b;
  case Compare::Ne:
  case Compare::Neu:
    return a != b;
  case Compare::Lt:
  case Compare::Ltu:
    return a < b;
  case Compare::Le:
  case Compare::Leu:
    return a <= b;
  case Compare::Gt:
  case Compare::Gtu:
    return a > b;
  case Compare::Ge:
  case Compare::Geu:
    return a >= b;
  case Compare::Num:
    return true;
  case Compare::Nan:
    return false;
  }
}

template <Compare C, typename T> bool compare(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return compareOrdered<C>(a, b);
  } else {
    double x = widen(a), y = widen(b);
    if (std::isnan(x) || std::isnan(y))
      return C >= Compare::Equ && C != Compare::Num;
    return compareOrdered<C>(x, y);
  }
}

enum class Join { None, And, Or, Xor };

/// p = (a C b) join c, and its counterpart q = !(a C b) join c.
template <Compare C, typename T> const Instruction *setPredicate(const Instruction *i, Thread &t) {
  bool found = compare<C>(t.read<T>(i->slots[2]), t.read<T>(i->slots[3])), other = !found;
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
template <Compare C, typename T> const Instruction *setPredicates(const Instruction *i, Thread &t) {
  auto a = t.read<Both<T>>(i->slots[2]), b = t.read<Both<T>>(i->slots[3]);
  t.write<bool>(i->slots[0], compare<C>(a.low, b.low));
  t.write<bool>(i->slots[1], compare<C>(a.high, b.high));
  return i + 1;
}

/// The common case: one predicate, nothing joined.
template <Compare C, typename T> bool isTrue(T a, T b) { return compare<C>(a, b); }
template <Compare C, typename T> uint32_t mask(T a, T b) { return compare<C>(a, b) ? ~0u : 0; }
template <Compare C, typename T> float oneOrZero(T a, T b) { return compare<C>(a, b) ? 1 : 0; }

template <Compare C, typename Make> Handler forCompared(Type type, Make make) {
  bool onlyFloat = C >= Compare::Equ, onlyEqual = C == Compare::Eq || C == Compare::Ne;
  if (isFloat(type))
    return forScalarFloat(type, [&]<typename T>() { return make.template operator()<C, T>(); });
  if (onlyFloat)
    return nullptr;
  if (Handler run = onlyEqual ? forBits(type, [&]<typename T>() { return make.template operator()<C, T>(); }) : nullptr)
    return run;
  return forInteger(type, [&]<typename T>() { return make.template operator()<C, T>(); });
}

template <typename Make> Handler forCompare(llvm::StringRef name, Type type, Make make) {
  // lo, ls, hi, hs are other names for unsigned integers.
  if (name == "eq")
    return forCompared<Compare::Eq>(type, make);
  if (name == "ne")
    return forCompared<Compare::Ne>(type, make);
  if (name == "lt" || name == "lo")
    return forCompared<Compare::Lt>(type, make);
  if (name == "le" || name == "ls")
    return forCompared<Compare::Le>(type, make);
  if (name == "gt" || name == "hi")
    return forCompared<Compare::Gt>(type, make);
  if (name == "ge" || name == "hs")
    return forCompared<Compare::Ge>(type, make);
  if (name == "equ")
    return forCompared<Compare::Equ>(type, make);
  if (name == "neu")
    return forCompared<Compare::Neu>(type, make);
  if (name == "ltu")
    return forCompared<Compare::Ltu>(type, make);
  if (name == "leu")
    return forCompared<Compare::Leu>(type, make);
  if (name == "gtu")
    return forCompared<Compare::Gtu>(type, make);
  if (name == "geu")
    return forCompared<Compare::Geu>(type, make);
  if (name == "num")
    return forCompared<Compare::Num>(type, make);
  if (name == "nan")
    return forCompared<Compare::Nan>(type, make);
  return nullptr;
}

llvm::StringRef takeCompare(Decoder &d) {
  return d.takeAny({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu",
                    "geu", "num", "nan"});
}

/// `setp.lt.f16x2 %p|%q, %a, %b`
void decodePairSetp(Decoder &d, llvm::StringRef name, Type type) {
  const Operand &result = d.statement().operands[0];
  auto make = []<Compare C, typename T>() -> Handler { return setPredicates<C, T>; };
  Handler run = forCompare(name, type, make);
  if (!run || result.kind != Operand::Pair)
    return d.fail("unknown instruction");
  uint32_t a = d.in(1), b = d.in(2);
  d.emit(run, {d.out(result.parts[0]), d.out(result.parts[1]), a, b});
}

void decodeSetp(Decoder &d) {
  llvm::StringRef name = takeCompare(d), joinName = d.takeAny({"and", "or", "xor"});
  auto type = d.takeType();
  bool joins = !joinName.empty();
  if (!type || !refuseFlush(d) || !d.hasOperands(joins ? 4 : 3))
    return type ? void() : d.fail("unknown type");
  const Operand &result = d.statement().operands[0];
  if (!joins && (type == Type::F16x2 || type == Type::BF16x2))
    return decodePairSetp(d, name, type == Type::F16x2 ? Type::F16 : Type::BF16);
  if (!joins && result.kind != Operand::Pair)
    return d.emitPure(forCompare(name, *type, []<Compare C, typename T>() { return pure<isTrue<C, T>>; }), 3);
  Handler run = forCompare(name, *type, []<Compare C, typename T>() -> Handler { return setPredicate<C, T>; });
  if (!run)
    return d.fail("unknown instruction");
  bool isPair = result.kind == Operand::Pair;
  uint32_t a = d.in(1), b = d.in(2), c = joins ? d.in(3) : 0;
  uint32_t p = d.out(isPair ? result.parts[0] : result), q = isPair ? d.out(result.parts[1]) : 0;
  Join join = joinName == "and" ? Join::And : joinName == "or" ? Join::Or : joins ? Join::Xor : Join::None;
  d.emit(run, {p, q, a, b, c}, uint64_t(join));
}

void decodeSet(Decoder &d) {
  llvm::StringRef name = takeCompare(d);
  auto to = d.takeType(), from = d.takeType();
  if (!to || !from || !refuseFlush(d))
    return d.fail("unknown type");
  Handler run = nullptr;
  if (*to == Type::U32 || *to == Type::S32)
    run = forCompare(name, *from, []<Compare C, typename T>() { return pure<mask<C, T>>; });
  else if (*to == Type::F32)
    run = forCompare(name, *from, []<Compare C, typename T>() { return pure<oneOrZero<C, T>>; });
  d.emitPure(run, 3);
}

template <typename T> T choose(T a, T b, bool first) { return first ? a : b; }
template <typename T> T chooseBySign(T a, T b, int32_t c) { return c >= 0 ? a : b; }
/// -0 counts as 0, and NaN chooses the second.
template <typename T> T chooseByFloat(T a, T b, float c) { return c >= 0 ? a : b; }

template <typename Make> Handler forSize(std::optional<Type> type, Make make) {
  if (!type)
    return nullptr;
  switch (bytesOf(*type)) {
  case 2:
    return make.template operator()<uint16_t>();
  case 4:
    return make.template operator()<uint32_t>();
  case 8:
    return make.template operator()<uint64_t>();
  default:
    return nullptr;
  }
}

void decodeSelp(Decoder &d) {
  d.emitPure(forSize(d.takeType(), []<typename T>() { return pure<choose<T>>; }), 4);
}

void decodeSlct(Decoder &d) {
  auto type = d.takeType(), by = d.takeType();
  if (!refuseFlush(d))
    return;
  if (by == Type::S32)
    d.emitPure(forSize(type, []<typename T>() { return pure<chooseBySign<T>>; }), 4);
  else
    d.emitPure(by == Type::F32 ? forSize(type, []<typename T>() { return pure<chooseByFloat<T>>; }) : nullptr, 4);
}

} // namespace

void resid::ptx::addCompareRules(Rules &rules) {
  rules["setp"] = decodeSetp;
  rules["set"] = decodeSet;
  rules["selp"] = decodeSelp;
  rules["slct"] = decodeSlct;
}
