// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Planning of row kernels; see RowProgram.h.

#include "codegen/rows/RowProgram.h"

#include "codegen/rows/SourceOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::resid::rows;

RowProgram::RowProgram(const RowGroup &group) : group(group) {
  collectOutputs();
  collectStatistics();
  plan();
}

void RowProgram::collectOutputs() {
  MLIRContext *context = group.members.front()->getContext();
  for (Operation *member : group.members) {
    bool onRows = group.rowLevel.contains(member) || isStatistics(member);
    AffineMap map = onRows ? group.space.getRows(context) : group.space.getIdentity(context);
    for (Value result : member->getResults()) {
      bool escapes = llvm::any_of(result.getUsers(), [&](Operation *user) { return !isMember(user); });
      if (escapes)
        outputs.push_back({result, map, /*phase=*/0, group.space.usesColumns(map)});
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

std::optional<unsigned> RowProgram::getRowOf(Value value, unsigned phase) const {
  auto found = kept.find(value);
  if (found == kept.end() || found->second.phase >= phase)
    return std::nullopt;
  return found->second.output;
}

SmallVector<std::pair<Value, unsigned>> RowProgram::getStores(unsigned phase) const {
  SmallVector<std::pair<Value, unsigned>> stores;
  for (auto [position, output] : llvm::enumerate(outputs)) {
    for (StatisticsOpInterface statistic : statistics)
      for (Value x : statistic.getRowOperands()) {
        auto found = kept.find(x);
        bool isStored = found != kept.end() && found->second.output == position && found->second.phase == phase;
        if (isStored && x != output.value && !llvm::is_contained(stores, std::pair<Value, unsigned>(x, position)))
          stores.push_back({x, position});
      }
    if (output.alongColumns && output.phase == phase)
      stores.push_back({output.value, position});
  }
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
  if (std::optional<unsigned> row = getRowOf(access.tensor, phase)) {
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
      bool isTensor = !isa_and_present<RandomHalvesOp>(leaf.tensor.getDefiningOp());
      if (isMember(leaf.tensor.getDefiningOp()))
        demand(leaf, phase);
      else if (isTensor)
        recordInput(leaf, phase);
    });
  if (llvm::is_contained(phases[phase].computes, access.tensor))
    return;
  phases[phase].computes.push_back(access.tensor);
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
    for (auto [value, position] : getStores(phase))
      demand({value, identity}, phase);
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
      for (Value init : generic.getOutputs())
        if (!isMember(init.getDefiningOp()))
          visit({init, getDomain(member)});
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
  for (auto [value, place] : kept)
    for (unsigned phase = place.phase + 1; phase < phases.size(); ++phase)
      for (unsigned input : phases[phase].reads)
        if (mayShareBuffer(cast<ShapedType>(inputs[input].tensor.getType()),
                           cast<ShapedType>(outputs[place.output].value.getType())))
          return false;
  return true;
}

/// Whether some value is kept in the output's row.
bool RowProgram::isTaken(unsigned output) const {
  return llvm::any_of(kept, [&](const auto &entry) { return entry.second.output == output; });
}

bool RowProgram::tryKeep(Value value, KeptValue place) {
  kept[value] = place;
  RowOutput &output = outputs[place.output];
  unsigned previous = output.phase;
  if (output.value == value)
    output.phase = place.phase;
  simulate();
  if (isLegal())
    return true;
  kept.erase(value);
  output.phase = previous;
  simulate();
  return false;
}

/// A value is kept where computing it again takes random numbers, a division or a math function, or reads more rows of
/// inputs than reading it back would.
bool RowProgram::isWorthKeeping(Value value) const {
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
      return true;
    for (const Access &read : getReads(producer))
      if (read.map.isIdentity() && !isInlined(read))
        chain.insert(read.tensor);
  }
  return rowsRead.size() > 1;
}

/// Finds a row for an operand of the statistics op whose first pass is `phase`.
void RowProgram::keepStatisticsOperand(Value x, unsigned phase) {
  if (!isMember(x.getDefiningOp()))
    return;
  KeptValue place{0, phase};
  // Two statistics of one value: it is kept from the first on.
  if (auto found = kept.find(x); found != kept.end()) {
    KeptValue before = found->second;
    if (!tryKeep(x, {before.output, place.phase}))
      tryKeep(x, before);
    return;
  }
  for (auto [position, output] : llvm::enumerate(outputs))
    if (output.value == x) {
      // A later operand that stands in this row would overwrite a value stored early; then it is stored last.
      if (!isTaken(position))
        tryKeep(x, {static_cast<unsigned>(position), place.phase});
      return;
    }
  if (!isWorthKeeping(x))
    return;
  Type type = getElementTypeOrSelf(x.getType());
  for (auto [position, output] : llvm::enumerate(outputs)) {
    if (!output.alongColumns || isTaken(position) || getElementTypeOrSelf(output.value.getType()) != type)
      continue;
    if (tryKeep(x, {static_cast<unsigned>(position), place.phase}))
      return;
  }
}

/// Stores an output in the first phase that computes it anyway, unless another value stands in its row.
void RowProgram::storeEarly(RowOutput &output) {
  unsigned position = &output - outputs.begin();
  if (!output.alongColumns || isTaken(position))
    return;
  // Further passes run conditionally or more than once; only the first pass over an operand stores.
  for (unsigned statistic = 0; statistic < statistics.size(); ++statistic) {
    unsigned phase = getPhase(statistic, RowPass::First);
    if (llvm::is_contained(phases[phase].computes, output.value) && tryKeep(output.value, {position, phase}))
      return;
  }
}

void RowProgram::plan() {
  simulate();
  // From the last on: what is kept late is read by fewer phases, and frees the earlier ones from reading inputs.
  for (unsigned statistic = statistics.size(); statistic > 0; --statistic)
    for (Value x : statistics[statistic - 1].getRowOperands())
      keepStatisticsOperand(x, getPhase(statistic - 1, RowPass::First));
  for (RowOutput &output : outputs)
    storeEarly(output);
}

//===------------------------------------------- report -----------------------------------------------------------===//

static void printPositions(raw_ostream &stream, StringRef what, StringRef prefix, ArrayRef<unsigned> positions) {
  if (positions.empty())
    return;
  stream << "; " << what << " ";
  llvm::interleaveComma(positions, stream, [&](unsigned position) { stream << prefix << position; });
}

static void printSizes(raw_ostream &stream, ArrayRef<int64_t> sizes) {
  stream << "[";
  llvm::interleaveComma(sizes, stream, [&](int64_t size) {
    if (ShapedType::isDynamic(size))
      stream << "?";
    else
      stream << size;
  });
  stream << "]";
}

/// Values that the phase computes though an earlier one has, by the ops they come from where these are known.
void RowProgram::printComputedAgain(raw_ostream &stream, unsigned phase) const {
  SmallVector<Operation *> ops;
  for (Value value : phases[phase].computes) {
    auto computes = [&](const RowPhase &earlier) { return llvm::is_contained(earlier.computes, value); };
    if (llvm::any_of(ArrayRef(phases).take_front(phase), computes))
      ops.push_back(value.getDefiningOp());
  }
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  SmallVector<std::string> names;
  for (Operation *op : ops) {
    SmallVector<SourceOp> sources = getSourceOps(op->getLoc());
    std::string name = sources.empty() ? op->getName().getStringRef().str() : sources.front().print();
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  }
  if (!names.empty())
    stream << "; computes again " << llvm::join(names, ", ");
}

void RowProgram::print(raw_ostream &stream) const {
  ArrayRef<int64_t> shape = group.space.shape;
  stream << "row program: rows ";
  printSizes(stream, shape.drop_back(group.space.columns));
  stream << " columns ";
  printSizes(stream, shape.take_back(group.space.columns));
  stream << "\n";
  for (auto [position, input] : llvm::enumerate(inputs))
    stream << "  in" << position << ": " << input.tensor.getType()
           << (group.space.usesColumns(input.map) ? (input.map.isIdentity() ? "" : ", shared by rows")
                                                  : ", one per row")
           << "\n";
  for (auto [position, output] : llvm::enumerate(outputs))
    stream << "  out" << position << ": " << output.value.getType() << (output.alongColumns ? "" : ", one per row")
           << "\n";
  for (auto [position, phase] : llvm::enumerate(phases)) {
    bool isLast = position == getLastPhase();
    SmallVector<unsigned> writes, keeps;
    for (auto [value, output] : getStores(position))
      (value == outputs[output].value ? writes : keeps).push_back(output);
    stream << "  phase " << position << ": ";
    if (isLast)
      stream << "results";
    else
      stream << statistics[getStatisticsOf(position)]->getName().stripDialect()
             << (getPass(position) == RowPass::First ? ", first sum" : ", further sums");
    printPositions(stream, "reads", "in", phase.reads);
    printPositions(stream, "reads back", "out", phase.readsBack);
    printComputedAgain(stream, position);
    printPositions(stream, "keeps its operand in", "out", keeps);
    printPositions(stream, "writes", "out", writes);
    stream << "\n";
  }
}
