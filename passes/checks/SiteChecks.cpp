// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "passes/checks/DropoutSites.h"
#include "passes/checks/StreamChecks.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

/// The uses of sites in one function.
class FunctionSites {
public:
  /// Adds a use, with a warning if it draws a mask that is drawn already.
  void add(const SiteUse &use);

  std::vector<SiteUse> takeUses() { return std::move(uses); }

private:
  /// Adds `use` to those of one hash, unless `conflicts` holds with one of them that runs in the same forward; returns
  /// that one.
  using Buckets = llvm::DenseMap<size_t, SmallVector<SiteUse, 1>>;
  static std::optional<SiteUse> addTo(Buckets &buckets, size_t hash, const SiteUse &use,
                                      function_ref<bool(const SiteUse &, const SiteUse &)> conflicts);

  /// Each mask once.
  std::vector<SiteUse> uses;
  /// By the mask, and by the loop's counter that the site follows.
  Buckets masks, counters;
};

/// Checks each function once, callees before their callers.
class SiteChecker {
public:
  /// The uses of sites in a function, each mask once.
  const std::vector<SiteUse> &check(func::FuncOp function);

private:
  void addUses(func::CallOp call, FunctionSites &sites);

  llvm::DenseMap<Operation *, std::vector<SiteUse>> checked;
};

} // namespace

static std::string describe(const SiteUse &use) {
  std::string text = "dropout site " + std::to_string(use.statedSite);
  if (auto call = dyn_cast<func::CallOp>(use.place))
    text += " of '" + call.getCallee().str() + "'";
  return text;
}

static void warnRepeated(const SiteUse &first, const SiteUse &second) {
  bool isCall = isa<func::CallOp>(second.place);
  InFlightDiagnostic warning = emitWarning(second.place->getLoc())
                               << describe(second)
                               << " is used a second time in one forward pass: both masks are the same";
  warning.attachNote(first.place->getLoc()) << "the first use is here";
  if (isCall)
    warning.attachNote(second.dropout->getLoc()) << "the dropout is here";
  warning.attachNote() << "mend: "
                       << (isCall ? "give the dropout an origin that the callers pass, another one in each call"
                                  : "give each dropout a site of its own, or another origin");
}

static void warnLoop(const SiteUse &use, Operation *loop) {
  InFlightDiagnostic warning = emitWarning(use.place->getLoc())
                               << describe(use) << " is used in every iteration of a loop: all masks are the same";
  warning.attachNote(loop->getLoc()) << "the loop is here";
  warning.attachNote() << "mend: give the dropout an origin whose site follows the loop's counter";
}

static void warnMeeting(const SiteUse &first, const SiteUse &second) {
  InFlightDiagnostic warning = emitWarning(second.place->getLoc())
                               << describe(second) << " meets site " << first.statedSite
                               << " in another iteration of the loop: their masks are the same there";
  warning.attachNote(first.place->getLoc()) << "the other use is here";
  warning.attachNote() << "mend: let the origin's site advance by more than the sites of one iteration take";
}

/// The outermost loop that runs more than once and whose iterations all draw the mask of `use`.
static Operation *findRepeatingLoop(const SiteUse &use) {
  Operation *found = nullptr;
  for (auto loop = use.place->getParentOfType<LoopLikeOpInterface>(); loop;
       loop = loop->getParentOfType<LoopLikeOpInterface>()) {
    std::optional<APInt> trips = loop.getStaticTripCount();
    if ((!trips || trips->ugt(1)) && !use.variesIn(loop))
      found = loop;
  }
  return found;
}

std::optional<SiteUse> FunctionSites::addTo(Buckets &buckets, size_t hash, const SiteUse &use,
                                            function_ref<bool(const SiteUse &, const SiteUse &)> conflicts) {
  SmallVector<SiteUse, 1> &bucket = buckets[hash];
  for (const SiteUse &other : bucket)
    if (conflicts(other, use) && !insideMutuallyExclusiveRegions(use.place, other.place))
      return other;
  bucket.push_back(use);
  return std::nullopt;
}

void FunctionSites::add(const SiteUse &use) {
  if (Operation *loop = findRepeatingLoop(use))
    warnLoop(use, loop);
  size_t hash = llvm::hash_combine(use.seed, use.step, use.row, use.site);
  bool isNew = llvm::none_of(masks[hash], [&](const SiteUse &other) { return use.isSameMask(other); });
  if (auto other = addTo(masks, hash, use, [](auto &left, auto &right) { return left.isSameMask(right); }))
    return warnRepeated(*other, use);
  if (isNew)
    uses.push_back(use);
  if (!getCountingLoop(use))
    return;
  hash = llvm::hash_combine(use.seed, use.step, use.row, use.site.base.getAsOpaquePointer(), use.site.factor);
  if (auto other = addTo(counters, hash, use, meetInLoop))
    warnMeeting(*other, use);
}

void SiteChecker::addUses(func::CallOp call, FunctionSites &sites) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  if (!callee || callee.isExternal())
    return;
  for (const SiteUse &use : std::vector<SiteUse>(check(callee)))
    if (std::optional<SiteUse> seen = use.seenFrom(call))
      sites.add(*seen);
}

const std::vector<SiteUse> &SiteChecker::check(func::FuncOp function) {
  auto [entry, isNew] = checked.try_emplace(function);
  if (!isNew)
    return entry->second; // of a function that calls itself, what is known so far: nothing
  FunctionSites sites;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (std::optional<SiteUse> use = SiteUse::of(op))
      sites.add(*use);
    else if (auto call = dyn_cast<func::CallOp>(op))
      addUses(call, sites);
  });
  return checked[function] = sites.takeUses();
}

void resid::checkDropoutSites(ModuleOp module) {
  SiteChecker checker;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      checker.check(function);
}
