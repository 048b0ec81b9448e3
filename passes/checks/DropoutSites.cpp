// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/checks/DropoutSites.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/stream/Ancestry.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid;

static int64_t multiply(int64_t left, int64_t right) {
  return static_cast<int64_t>(static_cast<uint64_t>(left) * static_cast<uint64_t>(right));
}

static int64_t add(int64_t left, int64_t right) {
  return static_cast<int64_t>(static_cast<uint64_t>(left) + static_cast<uint64_t>(right));
}

static std::optional<int64_t> getConstant(Value value) {
  IntegerAttr integer;
  if (!matchPattern(value, m_Constant(&integer)) || integer.getValue().getBitWidth() > 64)
    return std::nullopt;
  return integer.getValue().getSExtValue();
}

/// One step from `value` towards its base: value = factor·base + offset.
static std::optional<LinearValue> takeStep(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return LinearValue{op->getOperand(0), 1, 0};
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  Value base = op->getOperand(0);
  std::optional<int64_t> constant = getConstant(op->getOperand(1));
  if (!constant && !isa<arith::SubIOp>(op)) {
    base = op->getOperand(1);
    constant = getConstant(op->getOperand(0));
  }
  if (!constant)
    return std::nullopt;
  if (isa<arith::MulIOp>(op))
    return LinearValue{base, *constant, 0};
  return LinearValue{base, 1, isa<arith::SubIOp>(op) ? multiply(*constant, -1) : *constant};
}

LinearValue LinearValue::of(Value value) {
  LinearValue form{value, 1, 0};
  while (form.base) {
    if (std::optional<int64_t> constant = getConstant(form.base))
      return form.substitute({Value(), 0, *constant});
    std::optional<LinearValue> step = takeStep(form.base);
    if (!step)
      return form;
    form = form.substitute(*step);
  }
  return {};
}

LinearValue LinearValue::substitute(const LinearValue &other) const {
  int64_t newFactor = multiply(factor, other.factor);
  return {newFactor == 0 ? Value() : other.base, newFactor, add(multiply(factor, other.offset), offset)};
}

template <typename OpTy> static std::optional<SiteUse> readSite(OpTy op, uint64_t statedSite) {
  if (int64_t threshold = op.getThreshold(); threshold == 0 || threshold == dropoutDropsAll)
    return std::nullopt;
  LinearValue site = LinearValue::of(op.getOriginSite());
  site.offset = add(site.offset, static_cast<int64_t>(statedSite));
  return SiteUse{op,
                 statedSite,
                 op,
                 LinearValue::of(op.getSeed()),
                 LinearValue::of(op.getStep()),
                 LinearValue::of(op.getOriginRow()),
                 site,
                 LinearValue::of(op.getOriginCol()),
                 LinearValue::of(op.getExtentLocal()),
                 LinearValue::of(op.getExtentGlobal())};
}

std::optional<SiteUse> SiteUse::of(Operation *op) {
  if (auto dropout = dyn_cast<DropoutOp>(op))
    return readSite(dropout, dropout.getSite());
  if (auto attention = dyn_cast<AttentionOp>(op); attention && attention.hasDropout())
    return readSite(attention, *attention.getSite());
  return std::nullopt;
}

static std::optional<LinearValue> seeFrom(func::CallOp call, const LinearValue &value) {
  if (value.isConstant())
    return value;
  auto argument = dyn_cast<BlockArgument>(value.base);
  if (!argument || !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
    return std::nullopt;
  return value.substitute(LinearValue::of(call.getOperand(argument.getArgNumber())));
}

std::optional<SiteUse> SiteUse::seenFrom(func::CallOp call) const {
  SiteUse seen = *this;
  seen.place = call;
  for (LinearValue *value : {&seen.seed, &seen.step, &seen.row, &seen.site, &seen.col, &seen.local, &seen.global}) {
    std::optional<LinearValue> known = seeFrom(call, *value);
    if (!known)
      return std::nullopt;
    *value = *known;
  }
  return seen;
}

/// Whether `value` depends on what `loop` gives each iteration.
static bool varies(const LinearValue &value, LoopLikeOpInterface loop) {
  if (value.isConstant())
    return false;
  return llvm::any_of(findAncestry(value.base).arguments, [&](Value argument) {
    return llvm::is_contained(loop.getLoopRegions(), argument.getParentRegion());
  });
}

bool SiteUse::variesIn(LoopLikeOpInterface loop) const {
  return varies(site, loop) || llvm::any_of(getRest(), [&](const LinearValue &value) { return varies(value, loop); });
}

scf::ForOp resid::getCountingLoop(const SiteUse &use) {
  auto counter = dyn_cast_or_null<BlockArgument>(use.site.base);
  auto loop = counter ? dyn_cast<scf::ForOp>(counter.getOwner()->getParentOp()) : nullptr;
  return loop && counter == loop.getInductionVar() ? loop : nullptr;
}

bool resid::meetInLoop(const SiteUse &left, const SiteUse &right) {
  scf::ForOp loop = getCountingLoop(left);
  if (!loop || left.site.base != right.site.base || left.site.factor != right.site.factor ||
      left.getRest() != right.getRest() ||
      llvm::any_of(left.getRest(), [&](const LinearValue &value) { return varies(value, loop); }))
    return false;
  std::optional<int64_t> step = getConstant(loop.getStep());
  uint64_t advance = step ? llvm::AbsoluteValue(multiply(left.site.factor, *step)) : 0;
  uint64_t difference = llvm::AbsoluteValue(add(left.site.offset, multiply(right.site.offset, -1)));
  if (advance == 0 || difference == 0 || difference % advance != 0)
    return false;
  std::optional<APInt> trips = loop.getStaticTripCount();
  return !trips || trips->ugt(difference / advance);
}

llvm::hash_code resid::hash_value(const LinearValue &value) {
  return llvm::hash_combine(value.base.getAsOpaquePointer(), value.factor, value.offset);
}
