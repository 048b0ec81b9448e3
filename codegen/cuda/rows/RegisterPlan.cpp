// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/cuda/rows/RegisterPlan.h"

#include "codegen/kernels/ElementMemory.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;

/// Columns of the widest row: one span has at most 32 threads of two lanes, and a block of threads has 1,024.
static constexpr int64_t kMostColumns = 32768;
/// Threads of the widest row of open width: the first number that leaves enough registers. Code for 512 threads may
/// have 128, too few for dropout where bounds of columns are known at run time only.
static constexpr int64_t kOpenThreads[] = {256, 128};
/// Bytes that an access of a row of open width begins with: bounds of columns take registers too, and the width has to
/// be a multiple.
static constexpr int64_t kOpenAccessBytes = 8;
/// What the threads of a block may have together on every chip.
static constexpr int64_t kBlockRegisters = 65536;
/// What addresses, lanes and a phase take at least.
static constexpr int64_t kOtherRegisters = 32;
/// What an operand of a row kernel takes where there are many: a pointer and what belongs to a row, such as its part of
/// a mix. In a loop over rows, pointers stay.
static constexpr int64_t kOperandRegisters = 4, kOperandRegistersWithSums = 6;
/// Of more kept rows, registers are wanted for widened elements too, which LLVM keeps from one use to the next.
static constexpr size_t kFewKeptRows = 3;
/// What rows may take, and rows with sums down the rows: those would go through memory for every row else.
static constexpr int64_t kMostKeptRegisters = 96, kMostKeptRegistersWithSums = 128;
/// What a thread may have with sums down the rows.
static constexpr int64_t kMostRegistersWithSums = 208;
/// What rows of open width need beside their elements: for addresses and bounds of columns, for the number of a row in
/// a block of several, and for the words of random numbers: docs/measurements/gpu-sass.md.
static constexpr int64_t kOpenRegisters = 48, kSharedBlockRegisters = 8, kRandomRegisters = 48;
/// Operations in the bodies of phases, times the columns of a thread, up to which code is unrolled.
static constexpr int64_t kMostOperations = 16384;
/// The most threads of a block, and of one with a row of few.
static constexpr int64_t kMostBlockThreads = 1024, kMostFewRowsThreads = 512;
/// A launch with fewer rows leaves processors with one row, or none.
static constexpr int64_t kFewRows = 2 * kFewestBlocks;
static constexpr int64_t kRegisterBytes = 4;

int64_t RegisterPlan::getChunks() const { return llvm::divideCeil(std::min(width, rows::kSpanColumns), rows::kLanes); }

int64_t RegisterPlan::getFullChunks() const {
  if (isOpen())
    return getSpans() == 1 ? leastWidth / rows::kLanes : 0;
  int64_t last = width - (getSpans() - 1) * rows::kSpanColumns;
  return last / rows::kLanes;
}

int64_t RegisterPlan::getAccessBytes(Type element) const { return lanes * kernels::getElementBytes(element); }

bool cuda::isOwnRow(rows::KernelOp kernel, unsigned number) {
  if (!kernel.isAlongColumns(number))
    return false;
  // Of a single row, all is its own: results may lie in any argument.
  unsigned rowRank = kernel.getRowDims().size();
  return rowRank == 0 || llvm::any_of(kernel.getIndexingMap(number).getResults(), [&](AffineExpr result) {
           auto dimension = dyn_cast<AffineDimExpr>(result);
           return dimension && dimension.getPosition() < rowRank;
         });
}

/// The product of sizes, where it is known.
static std::optional<int64_t> multiplyKnown(ValueRange sizes) {
  int64_t all = 1;
  for (Value size : sizes) {
    APInt number;
    if (!matchPattern(size, m_ConstantInt(&number)))
      return std::nullopt;
    all *= number.getSExtValue();
  }
  return all;
}

namespace {

/// What the phases of a kernel do, as far as the choice hangs on it.
struct Work {
  /// Whether accesses stand where the emitter expects them, nothing is wider than f32, and elements are in memory what
  /// they are computed with.
  bool isSimple = true;
  /// Of the rows that every row of the grid has for itself, along the columns.
  int64_t widestBytes = 1;
  /// Bytes of an element, of rows that more than one phase uses, and of rows that all rows share.
  SmallVector<int64_t> keptBytes, weightBytes;
  /// The same of those of them that may be loaded again.
  SmallVector<int64_t> againBytes;
  /// The same of rows that one phase alone loads, by phase.
  llvm::MapVector<Operation *, SmallVector<int64_t>> phaseBytes;
  /// The same of rows that all rows share.
  llvm::MapVector<Operation *, SmallVector<int64_t>> sharedBytes;
  /// Sums down the rows, of f32.
  int64_t sums = 0;
  bool hasRandom = false;
  /// For pointers and numbers of a row, of which several streams and their mix have many; 0 where they are few.
  int64_t operandRegisters = 0;
  /// Whether more than one phase uses a row that all rows share.
  bool hasSharedAgain = false;
  int64_t operations = 0;
};

} // namespace

/// Phases stand in the body of the kernel and in branches, and accesses of columns and random numbers in phases alone.
static bool isPlaceSimple(Operation *op) {
  if (isa<rows::PhaseOp>(op)) {
    Operation *parent = op->getParentOp();
    while (isa<scf::IfOp>(parent))
      parent = parent->getParentOp();
    return isa<rows::KernelOp>(parent);
  }
  // A sum leaves the loop over rows in registers, so that its terms stand in every row.
  if (isa<rows::AccumulateOp>(op))
    return isa<rows::PhaseOp>(op->getParentOp()) && isa<rows::KernelOp>(op->getParentOp()->getParentOp());
  bool isAccess = isa<rows::RandomHalfOp>(op);
  if (auto load = dyn_cast<rows::LoadOp>(op))
    isAccess = bool(load.getColumn());
  if (auto store = dyn_cast<rows::StoreOp>(op))
    isAccess = bool(store.getColumn());
  return !isAccess || isa<rows::PhaseOp>(op->getParentOp());
}

static bool hasWideFloats(Operation *op) {
  return llvm::any_of(op->getResultTypes(), [](Type type) { return type.isF64(); });
}

bool cuda::hasManyOperands(rows::KernelOp kernel) {
  constexpr size_t fewOperands = 16;
  return kernel.getIndexingMaps().size() > fewOperands;
}

bool cuda::mayLoadAgain(rows::KernelOp kernel, Value row) {
  Operation *last = nullptr;
  for (auto phase : kernel.getBody().getOps<rows::PhaseOp>())
    last = phase;
  bool isStored = llvm::any_of(row.getUsers(), [](Operation *user) { return isa<rows::StoreOp>(user); });
  auto isEarly = [&](rows::StoreOp store) {
    return store.getColumn() && store->getParentOp() != last ? WalkResult::interrupt() : WalkResult::advance();
  };
  return !isStored && !kernel.getBody().walk(isEarly).wasInterrupted();
}

bool cuda::isLoaded(Value row) {
  return llvm::any_of(row.getUsers(), [](Operation *user) { return isa<rows::LoadOp>(user); });
}

static Work collectWork(rows::KernelOp kernel) {
  Work work;
  llvm::MapVector<Value, llvm::SmallPtrSet<Operation *, 4>> users;
  kernel.getBody().walk([&](Operation *op) {
    work.isSimple &= isPlaceSimple(op) && !hasWideFloats(op);
    work.hasRandom |= isa<rows::RandomHalfOp>(op);
    if (op->getParentOfType<rows::PhaseOp>())
      ++work.operations;
    auto load = dyn_cast<rows::LoadOp>(op);
    auto store = dyn_cast<rows::StoreOp>(op);
    if (load && load.getColumn())
      users[load.getRow()].insert(op->getParentOp());
    if (store && store.getColumn())
      users[store.getRow()].insert(op->getParentOp());
  });
  unsigned operands = kernel.getInputs().size() + kernel.getInits().size();
  for (unsigned i = 0; i < operands; ++i)
    work.sums += kernel.isAccumulated(i);
  if (hasManyOperands(kernel))
    work.operandRegisters = (work.sums > 0 ? kOperandRegistersWithSums : kOperandRegisters) * operands;
  for (auto &[row, phases] : users) {
    auto argument = dyn_cast<BlockArgument>(row);
    Type element = cast<rows::RowType>(row.getType()).getElementType();
    work.isSimple &= kernels::getMemoryType(element) == element; // a bit, say, is a byte
    int64_t bytes = kernels::getElementBytes(element);
    if (argument && !isOwnRow(kernel, argument.getArgNumber() - 1)) {
      work.weightBytes.push_back(bytes);
      work.hasSharedAgain |= phases.size() > 1;
      for (Operation *phase : phases)
        work.sharedBytes[phase].push_back(bytes);
      continue;
    }
    work.widestBytes = std::max(work.widestBytes, bytes);
    if (phases.size() > 1 && mayLoadAgain(kernel, row))
      work.againBytes.push_back(bytes);
    if (phases.size() > 1)
      work.keptBytes.push_back(bytes);
    else if (isLoaded(row))
      work.phaseBytes[*phases.begin()].push_back(std::max(bytes, kRegisterBytes));
  }
  if (work.keptBytes.size() > kFewKeptRows || hasManyOperands(kernel))
    for (int64_t &bytes : work.keptBytes)
      bytes = std::max(bytes, kRegisterBytes);
  return work;
}

/// The lanes to begin with.
static int64_t chooseLanes(int64_t width, const Work &work, const RowSchedule &schedule) {
  if (schedule.lanes > 0)
    return schedule.lanes;
  const LaneChoice *choice = llvm::find_if(getLaneTable(), [&](const LaneChoice &each) {
    return work.widestBytes >= each.elementBytes && width <= each.mostColumns;
  });
  return choice->lanes;
}

bool cuda::endsInWholeChunk(int64_t width) {
  int64_t end = width % rows::kSpanColumns;
  return end == 0 || end >= rows::kLanes;
}

/// A row of several spans has whole warps; one of open width may have a last warp that is not whole.
static bool hasWholeWarps(const RegisterPlan &plan) {
  constexpr int64_t warpThreads = 32;
  return plan.getSpans() == 1 || plan.getLeastRowThreads() % warpThreads == 0;
}

static int64_t chooseBlockRows(const RegisterPlan &plan, const RowSchedule &schedule) {
  if (plan.getSpans() > 1)
    return 1;
  int64_t rows = schedule.blockRows > 0 ? schedule.blockRows : kSharedBlockThreads / plan.getSpanThreads();
  return std::min(rows, kMostBlockThreads / plan.getSpanThreads());
}

/// What is left for rows and sums of the registers that a thread may have.
static int64_t countFreeRegisters(const RegisterPlan &plan, const Work &work) {
  int64_t most = std::min(kMostThreadRegisters, kBlockRegisters / plan.getBlockThreads());
  return std::min(plan.sums > 0 ? kMostKeptRegistersWithSums : kMostKeptRegisters,
                  most - kOtherRegisters - work.operandRegisters);
}

/// Registers for a thread's columns of rows with elements of so many bytes.
static int64_t countRegisters(const RegisterPlan &plan, ArrayRef<int64_t> rows) {
  int64_t registers = 0;
  for (int64_t bytes : rows)
    registers += llvm::divideCeil(plan.getChunks() * plan.lanes * bytes, kRegisterBytes);
  return registers;
}

static int64_t countKeptRegisters(const RegisterPlan &plan, const Work &work) {
  return work.sums * plan.getChunks() * plan.lanes + countRegisters(plan, work.keptBytes) -
         (plan.loadsAgain ? countRegisters(plan, work.againBytes) : 0) +
         (plan.keptWeights > 0 ? countRegisters(plan, work.weightBytes) : 0);
}

/// Bounds of columns, and sums of each column, leave no registers for rows of f32.
static bool loadsAgain(const RegisterPlan &plan, const Work &work) {
  return plan.isOpen() && plan.sums > 0 && work.widestBytes >= kRegisterBytes;
}

/// Whether there is room for what one phase loads of the rows that all rows share: ptxas loads all of it ahead.
static bool hasRoomForShared(const RegisterPlan &plan, const Work &work) {
  int64_t most = kMostThreadRegisters - kOtherRegisters;
  return plan.sums > 0 || plan.isOpen() || llvm::all_of(work.sharedBytes, [&](const auto &phase) {
           return plan.keptRegisters + countRegisters(plan, phase.second) <= most;
         });
}

/// The same for random numbers, beside sums down the rows.
static bool hasRoomForRandom(const RegisterPlan &plan, const Work &work) {
  return plan.sums == 0 || !work.hasRandom || plan.keptRegisters + kRandomRegisters <= kMostKeptRegistersWithSums;
}

/// In a loop over rows, always; else where what a phase loads would not fit into the registers of a thread, such as the
/// streams of a row. Two rows are added as they come.
static bool passesRows(const RegisterPlan &plan, const Work &work) {
  constexpr size_t kAddedRows = 2;
  int64_t most = std::min(kMostThreadRegisters, kBlockRegisters / plan.getBlockThreads()) - kOtherRegisters -
                 work.operandRegisters;
  return plan.sums > 0 || llvm::any_of(work.phaseBytes, [&](const auto &phase) {
           return phase.second.size() > kAddedRows && plan.keptRegisters + countRegisters(plan, phase.second) > most;
         });
}

/// The most registers of a thread, or 0 to leave them to ptxas. For rows of a known width without sums, ptxas finds the
/// fewest by itself, and takes more if it is given a number. Each register too many costs a multiprocessor some warps.
static int64_t chooseMostRegisters(const RegisterPlan &plan, const Work &work) {
  if (plan.sums > 0)
    return kMostRegistersWithSums;
  if (!plan.isOpen())
    return 0;
  // One row is there whole even where no phase finds it again.
  int64_t row = llvm::divideCeil(plan.getChunks() * plan.lanes * work.widestBytes, kRegisterBytes);
  int64_t registers = std::max(plan.keptRegisters, row) + kOpenRegisters;
  if (plan.blockRows > 1)
    registers += kSharedBlockRegisters;
  if (work.hasRandom)
    registers += kRandomRegisters;
  // Where phases share a row such as gamma, LLVM keeps it from one to the next, with what they compute from it and the
  // row: the normalised row, and its product.
  if (work.hasSharedAgain)
    registers += 3 * plan.getChunks() * plan.lanes;
  // Of parameters in several phases, ptxas loads the later ones ahead as far as it has registers, and more.
  if (work.sharedBytes.size() > 1)
    return kMostThreadRegisters;
  // Beside narrow rows, two accesses of each parameter are on their way, whose elements are widened.
  if (work.widestBytes < kRegisterBytes)
    registers += 2 * plan.lanes * int64_t(work.weightBytes.size());
  return std::min(registers, kMostThreadRegisters);
}

/// In a loop over rows, a row then waits for memory once. In place of a few chunks ahead, a copy's share of the speed
/// goes from 0.47 to 0.64 for bf16, and from 0.71 to 0.86 for f32 (add and layer norm, 4,096 columns, H200:
/// docs/measurements/gpu.md). Rows of open width lack registers for it, and so do narrow rows of eight lanes, which are
/// as fast with the next row prefetched.
static bool loadsEarly(const RegisterPlan &plan, const Work &work) {
  constexpr int64_t mostLanes = 4;
  int64_t registers = plan.keptRegisters + (plan.blockRows > 1 ? kSharedBlockRegisters : 0) + kRandomRegisters;
  for (const auto &phase : work.phaseBytes)
    registers += countRegisters(plan, phase.second);
  bool hasRoom = !work.hasRandom || registers <= kMostRegistersWithSums;
  return plan.sums > 0 && !plan.isOpen() && plan.lanes <= mostLanes && hasRoom;
}

/// Narrow elements leave less on the way to memory: with the next row prefetched, a copy's share of the speed goes from
/// 0.64 to 0.73 for bf16, and from 0.86 to 0.73 for f32 (add and layer norm, 4,096 columns, H200:
/// docs/measurements/gpu.md). Rows of open width lack registers for it.
static bool prefetchesRows(const RegisterPlan &plan, const Work &work) {
  return plan.sums > 0 && !plan.isOpen() && work.widestBytes < kRegisterBytes;
}

/// The plan for rows of `leastWidth` to `width` columns with as many lanes as `lanes`, or fewer. `getWidth`: the most
/// columns of a plan with so many lanes.
static std::optional<RegisterPlan> chooseFor(const Work &work, const RowSchedule &schedule, int64_t lanes,
                                             int64_t leastWidth, function_ref<int64_t(int64_t)> getWidth) {
  int64_t weights = schedule.weights == WeightKind::Registers ? int64_t(work.weightBytes.size()) : 0;
  for (; lanes >= 2; lanes /= 2) {
    int64_t width = getWidth(lanes);
    RegisterPlan plan{width, leastWidth, lanes, int64_t(work.keptBytes.size()), weights, work.sums, 0, 1, 0};
    plan.blockRows = chooseBlockRows(plan, schedule);
    plan.loadsAgain = loadsAgain(plan, work);
    plan.keptRegisters = countKeptRegisters(plan, work);
    plan.mostRegisters = chooseMostRegisters(plan, work);
    plan.loadsEarly = loadsEarly(plan, work);
    plan.passesRows = passesRows(plan, work);
    plan.computesAgain = work.sums == 0 && work.operandRegisters > 0 && work.keptBytes.size() > kFewKeptRows;
    plan.prefetchesRows = prefetchesRows(plan, work);
    if (width % lanes == 0 && hasWholeWarps(plan) && plan.keptRegisters <= countFreeRegisters(plan, work) &&
        (lanes == 2 || (hasRoomForShared(plan, work) && hasRoomForRandom(plan, work))) &&
        plan.getChunks() * lanes * work.operations <= kMostOperations)
      return plan;
  }
  return std::nullopt;
}

/// For few rows, where the schedule does not say how they are dealt out: as many threads for each as there can be, and
/// a block of its own. Their sums have the same order. Sums down the rows have units of rows.
static std::optional<RegisterPlan> chooseForFewRows(const Work &work, const RowSchedule &schedule,
                                                    const RegisterPlan &plan) {
  constexpr int64_t fewestLanes = 2;
  if (work.sums > 0 || schedule.lanes > 0 || schedule.blockRows != 0 ||
      (plan.lanes == fewestLanes && plan.blockRows == 1))
    return std::nullopt;
  RowSchedule spread{fewestLanes, /*blockRows=*/1, schedule.weights};
  std::optional<RegisterPlan> few =
      chooseFor(work, spread, fewestLanes, plan.leastWidth, [&](int64_t) { return plan.width; });
  if (!few || few->getBlockThreads() > kMostFewRowsThreads)
    return std::nullopt;
  few->mostRows = kFewRows - 1;
  return few;
}

SmallVector<RegisterPlan, 2> RegisterPlan::choose(rows::KernelOp kernel, const RowSchedule &schedule) {
  SmallVector<RegisterPlan, 2> plans;
  Work work = collectWork(kernel);
  auto add = [&](int64_t lanes, int64_t leastWidth, function_ref<int64_t(int64_t)> getWidth) {
    std::optional<RegisterPlan> plan = chooseFor(work, schedule, lanes, leastWidth, getWidth);
    if (plan)
      plans.push_back(*plan);
    return bool(plan);
  };
  if (!work.isSimple)
    return plans;
  if (std::optional<int64_t> width = multiplyKnown(kernel.getColumnDims())) {
    if (*width < rows::kLanes || *width > kMostColumns || !endsInWholeChunk(*width) ||
        !add(chooseLanes(*width, work, schedule), *width, [&](int64_t) { return *width; }))
      return plans;
    std::optional<int64_t> rows = multiplyKnown(kernel.getRowDims());
    std::optional<RegisterPlan> few = chooseForFewRows(work, schedule, plans.front());
    if (!few || (rows && *rows >= kFewRows))
      return plans;
    if (rows)
      plans.clear(), few->mostRows = 0;
    plans.push_back(*few);
    return plans;
  }
  int64_t lanes = schedule.lanes > 0 ? schedule.lanes : kOpenAccessBytes / work.widestBytes;
  add(lanes, rows::kLanes, [](int64_t) { return rows::kSpanColumns; });
  for (int64_t threads : kOpenThreads)
    if (add(lanes, rows::kSpanColumns + rows::kLanes, [threads](int64_t lanes) {
          return std::min(kMostColumns, threads * lanes / rows::kLanes * rows::kSpanColumns);
        }))
      break;
  return plans;
}
