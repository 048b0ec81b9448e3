// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/rows/RowProgram.h"

#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/ColumnMoves.h"
#include "codegen/rows/ColumnSums.h"
#include "codegen/rows/SumOrder.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::resid::kernels;
using namespace mlir::resid::rows;

RowProgram::RowProgram(const RowGroup &group, kernels::LocalRowLimits limits) : group(group), limits(limits) {
  collectOutputs();
  collectStatistics();
  plan();
}

void RowProgram::collectOutputs() {
  MLIRContext *context = group.members.front()->getContext();
  for (Operation *member : group.members) {
    bool onRows = group.rowLevel.contains(member) || isStatistics(member), isSum = isColumnSum(member);
    AffineMap map = onRows  ? group.space.getRows(context)
                    : isSum ? group.space.getColumns(context)
                            : group.space.getIdentity(context);
    for (Value result : member->getResults()) {
      bool escapes = llvm::any_of(result.getUsers(), [&](Operation *user) { return !isMember(user); });
      if (escapes)
        outputs.push_back({result, map, /*phase=*/0, group.space.usesColumns(map), isSum});
    }
  }
}

/// The statistics ops that the outputs need, in block order, which is an order of dependence.
void RowProgram::collectStatistics() {
  SetVector<Operation *> live;
  for (const RowOutput &output : outputs)
    live.insert(output.value.getDefiningOp());
  for (unsigned next = 0; next < live.size(); ++next)
    for (const Access &read : getReads(live[next]))
      if (isMember(read.tensor.getDefiningOp()))
        live.insert(read.tensor.getDefiningOp());
  for (Operation *member : group.members)
    if (auto statistic = dyn_cast<StatisticsOpInterface>(member); statistic && live.contains(member))
      statistics.push_back(statistic);
  for (RowOutput &output : outputs)
    output.phase = getLastPhase();
}

//===------------------------------------------- what a phase needs -----------------------------------------------===//

std::optional<RowPlace> RowProgram::getRowOf(const Access &access, unsigned phase) const {
  auto found = kept.find(access.tensor);
  if (found == kept.end() || found->second.phase >= phase || hasMove(access.map))
    return std::nullopt;
  return found->second.row;
}

SmallVector<RowStore> RowProgram::getStores(unsigned phase) const {
  SmallVector<RowStore> stores;
  auto addKept = [&](RowPlace row) {
    for (StatisticsOpInterface statistic : statistics)
      for (Value x : statistic.getRowOperands()) {
        auto found = kept.find(x);
        bool isStored = found != kept.end() && found->second.row == row && found->second.phase == phase;
        bool isOwn = row.kind == RowPlace::Output && outputs[row.position].value == x;
        auto isSame = [&](const RowStore &store) { return store.value == x && store.row == row; };
        if (isStored && !isOwn && llvm::none_of(stores, isSame))
          stores.push_back({x, row});
      }
  };
  for (auto [position, output] : llvm::enumerate(outputs)) {
    RowPlace row{RowPlace::Output, static_cast<unsigned>(position)};
    addKept(row);
    if (output.alongColumns && output.phase == phase)
      stores.push_back({output.value, row});
  }
  for (unsigned position = 0; position < localRows.size(); ++position)
    addKept({RowPlace::Local, position});
  return stores;
}

void RowProgram::recordInput(const Access &access, unsigned phase) {
  auto found = llvm::find(inputs, access);
  unsigned position = found - inputs.begin();
  if (found == inputs.end())
    inputs.push_back(access);
  if (group.space.usesColumns(access.map) && !llvm::is_contained(phases[phase].reads, position))
    phases[phase].reads.push_back(position);
}

void RowProgram::demand(const Access &access, unsigned phase) {
  if (std::optional<RowPlace> row = getRowOf(access, phase)) {
    if (!llvm::is_contained(phases[phase].readsBack, *row))
      phases[phase].readsBack.push_back(*row);
    return;
  }
  Operation *producer = access.tensor.getDefiningOp();
  if (isStatistics(producer) && isMember(producer))
    return;
  bool isComputed = isMember(producer) && !isInlined(access);
  if (!isComputed)
    return visitLeaves(access, [&](const Access &leaf) {
      bool isTensor = !isGenerated(leaf.tensor.getDefiningOp());
      if (isMember(leaf.tensor.getDefiningOp()))
        demand(leaf, phase);
      else if (isTensor)
        recordInput(leaf, phase);
    });
  RowPhase &current = phases[phase];
  bool isMoved = hasMove(access.map);
  if (isMoved ? llvm::is_contained(current.computesMoved, access) : llvm::is_contained(current.computes, access.tensor))
    return;
  if (isMoved)
    current.computesMoved.push_back(access);
  else
    current.computes.push_back(access.tensor);
  for (const Access &read : getReads(producer))
    demand({read.tensor, read.map.compose(access.map)}, phase);
}

void RowProgram::simulate() {
  phases.assign(getLastPhase() + 1, RowPhase());
  inputs.clear();
  AffineMap identity = group.space.getIdentity(group.members.front()->getContext());
  for (unsigned phase = 0; phase <= getLastPhase(); ++phase) {
    if (phase < getLastPhase())
      for (Value x : statistics[getStatisticsOf(phase)].getRowOperands())
        demand({x, identity}, phase);
    for (const RowStore &store : getStores(phase))
      demand({store.value, identity}, phase);
  }
  // Values with one element per row are computed between and after the phases.
  for (const RowOutput &output : outputs)
    if (!output.alongColumns)
      demand({output.value, output.map}, getLastPhase());
}

void RowProgram::visitShapes(function_ref<void(const Access &)> visit) const {
  for (Operation *member : group.members) {
    for (const Access &read : getReads(member))
      visitLeaves({read.tensor, read.map.compose(getDomain(member))}, [&](const Access &leaf) {
        if (!isMember(leaf.tensor.getDefiningOp()))
          visit(leaf);
      });
    if (auto generic = dyn_cast<linalg::GenericOp>(member))
      for (OpOperand &init : generic.getDpsInitsMutable())
        if (!isMember(init.get().getDefiningOp()))
          visit({init.get(), generic.getMatchingIndexingMap(&init).compose(getDomain(member))});
  }
}

//===------------------------------------------- where values are kept --------------------------------------------===//

bool mlir::resid::rows::mayShareBuffer(ShapedType input, ShapedType output) {
  if (input.getElementType() != output.getElementType() || input.getRank() != output.getRank())
    return false;
  return llvm::all_of(llvm::zip(input.getShape(), output.getShape()), [](auto sizes) {
    auto [a, b] = sizes;
    return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
  });
}

/// After a store to an output, no later phase may read an input that the output's buffer could be.
bool RowProgram::isLegal() const {
  for (auto [value, place] : kept) {
    if (place.row.kind == RowPlace::Local)
      continue;
    for (unsigned phase = place.phase + 1; phase < phases.size(); ++phase)
      for (unsigned input : phases[phase].reads)
        if (mayShareBuffer(cast<ShapedType>(inputs[input].tensor.getType()),
                           cast<ShapedType>(outputs[place.row.position].value.getType())))
          return false;
  }
  return true;
}

/// Whether some value is kept in the output's row.
bool RowProgram::isTaken(unsigned output) const {
  RowPlace row{RowPlace::Output, output};
  return llvm::any_of(kept, [&](const auto &entry) { return entry.second.row == row; });
}

bool RowProgram::tryKeep(Value value, KeptValue place) {
  kept[value] = place;
  RowOutput *own = nullptr;
  if (place.row.kind == RowPlace::Output && outputs[place.row.position].value == value)
    own = &outputs[place.row.position];
  unsigned previous = own ? std::exchange(own->phase, place.phase) : 0;
  simulate();
  if (isLegal())
    return true;
  kept.erase(value);
  if (own)
    own->phase = previous;
  simulate();
  return false;
}

/// A value is kept where computing it again is not free.
RowProgram::Repetition RowProgram::judgeRepetition(Value value) const {
  SetVector<Value> chain;
  DenseSet<Value> rowsRead;
  chain.insert(value);
  for (unsigned next = 0; next < chain.size(); ++next) {
    Operation *producer = chain[next].getDefiningOp();
    if (!isMember(producer)) {
      rowsRead.insert(chain[next]);
      continue;
    }
    if (isStatistics(producer) || group.rowLevel.contains(producer))
      continue;
    if (isExpensive(producer))
      return Repetition::Expensive;
    for (const Access &read : getReads(producer))
      if (read.map.isIdentity() && !isInlined(read))
        chain.insert(read.tensor);
  }
  return rowsRead.size() > 1 ? Repetition::Cheap : Repetition::Free;
}

/// How many passes that every row takes compute the value again after `phase`.
int64_t RowProgram::countRepetitions(Value value, unsigned phase) const {
  int64_t passes = 0;
  for (unsigned later = phase + 1; later < phases.size(); ++later) {
    if (!llvm::is_contained(phases[later].computes, value))
      continue;
    bool isFurther = getPass(later) == RowPass::Further;
    passes += isFurther ? StatisticsOpInterface(statistics[getStatisticsOf(later)]).getUsualPasses() - 1 : 1;
  }
  return passes;
}

/// Keeps those operands of a statistics op that are outputs in their own rows, all or none. One alone could not be kept
/// where the others are computed again from inputs that its row may overwrite.
void RowProgram::keepTogether(ValueRange operands, unsigned phase) {
  auto before = std::make_pair(kept, outputs);
  for (auto [position, output] : llvm::enumerate(outputs)) {
    if (!llvm::is_contained(operands, output.value) || kept.contains(output.value) || isTaken(position))
      continue;
    kept[output.value] = {{RowPlace::Output, static_cast<unsigned>(position)}, phase};
    output.phase = phase;
  }
  simulate();
  if (isLegal())
    return;
  std::tie(kept, outputs) = before;
  simulate();
}

/// Finds a row for an operand of the statistics op whose first pass is `phase`.
void RowProgram::keepStatisticsOperand(Value x, unsigned phase) {
  if (!isMember(x.getDefiningOp()))
    return;
  // Two statistics of one value: it is kept from the first on.
  if (auto found = kept.find(x); found != kept.end()) {
    KeptValue before = found->second;
    if (!tryKeep(x, {before.row, phase}))
      tryKeep(x, before);
    return;
  }
  if (!keepInOutput(x, phase))
    keepInLocalRow(x, phase);
}

/// Its own row where it is an output, else that of an output of its type.
bool RowProgram::keepInOutput(Value x, unsigned phase) {
  for (auto [position, output] : llvm::enumerate(outputs))
    if (output.value == x) // A later operand that stands in this row would overwrite a value stored early; then it is
                           // stored last.
      return !isTaken(position) && tryKeep(x, {{RowPlace::Output, static_cast<unsigned>(position)}, phase});
  if (judgeRepetition(x) == Repetition::Free)
    return false;
  Type type = getElementTypeOrSelf(x.getType());
  for (auto [position, output] : llvm::enumerate(outputs)) {
    if (!output.alongColumns || output.isAccumulated || isTaken(position) ||
        getElementTypeOrSelf(output.value.getType()) != type)
      continue;
    if (tryKeep(x, {{RowPlace::Output, static_cast<unsigned>(position)}, phase}))
      return true;
  }
  return false;
}

/// A row of the program's own, where all of them fit into the limit. Rows of an open width have none: nobody knows
/// whether they fit.
void RowProgram::keepInLocalRow(Value x, unsigned phase) {
  Type type = getElementTypeOrSelf(x.getType());
  if (limits.bytes == 0 || !isa<FloatType>(type))
    return;
  Repetition repetition = judgeRepetition(x);
  // To round to a narrow type takes longer than to load.
  bool isCheap = repetition == Repetition::Cheap && type.getIntOrFloatBitWidth() >= 32 &&
                 countRepetitions(x, phase) < limits.leastPasses;
  if (repetition == Repetition::Free || isCheap)
    return;
  int64_t bytes = getElementBytes(type);
  for (Type row : localRows)
    bytes += getElementBytes(row);
  // Targets give rows whole chunks of columns.
  int64_t width = 1;
  for (int64_t size : ArrayRef(group.space.shape).take_back(group.space.columns))
    if (ShapedType::isDynamic(size) || llvm::MulOverflow(width, size, width))
      return;
  if (width > limits.bytes || static_cast<int64_t>(llvm::alignTo(width, kLanes)) * bytes > limits.bytes)
    return;
  localRows.push_back(type);
  tryKeep(x, {{RowPlace::Local, static_cast<unsigned>(localRows.size() - 1)}, phase});
}

/// Stores an output in the first phase that computes it anyway, unless another value stands in its row, or it is kept
/// in a local row.
void RowProgram::storeEarly(RowOutput &output) {
  unsigned position = &output - outputs.begin();
  if (!output.alongColumns || output.isAccumulated || isTaken(position) || kept.contains(output.value))
    return;
  // Further passes run conditionally or more than once; only the first pass over an operand stores.
  for (unsigned statistic = 0; statistic < statistics.size(); ++statistic) {
    unsigned phase = getPhase(statistic, RowPass::First);
    if (llvm::is_contained(phases[phase].computes, output.value) &&
        tryKeep(output.value, {{RowPlace::Output, position}, phase}))
      return;
  }
}

void RowProgram::plan() {
  simulate();
  // From the last on: what is kept late is read by fewer phases, and frees the earlier ones from reading inputs.
  for (unsigned statistic = statistics.size(); statistic > 0; --statistic) {
    unsigned phase = getPhase(statistic - 1, RowPass::First);
    SmallVector<Value> operands = statistics[statistic - 1].getRowOperands();
    if (operands.size() > 1)
      keepTogether(operands, phase);
    for (Value x : operands)
      keepStatisticsOperand(x, phase);
  }
  for (RowOutput &output : outputs)
    storeEarly(output);
}
