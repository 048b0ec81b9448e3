// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/rows/RowGroups.h"

#include "codegen/rows/ColumnSums.h"
#include "codegen/rows/GroupLimits.h"
#include "codegen/rows/ReadsFit.h"
#include "codegen/rows/SourceOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <queue>

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::rows;

AffineMap RowGroup::getDomain(Operation *member) const {
  MLIRContext *context = member->getContext();
  return rowLevel.contains(member) ? space.getRows(context) : space.getIdentity(context);
}

namespace {

/// The ops of a block as nodes: what each depends on, and the group each belongs to (-1: none). A group counts as one
/// node. An op with side effects depends on the one before it.
class Dependencies {
public:
  explicit Dependencies(Block &block);

  ArrayRef<Operation *> getOps() const { return ops; }
  int getGroup(Operation *op) const {
    auto found = index.find(op);
    return found == index.end() ? -1 : groupOf[found->second];
  }
  void setGroup(Operation *op, int group) { groupOf[index.lookup(op)] = group; }
  void mergeGroups(int from, int into) { llvm::replace(groupOf, from, into); }

  /// What stands in the way of making one node of `op` and `groups`: something outside that `op` or a member depends on
  /// and that depends on a member in turn. Null if nothing does.
  Operation *findBetween(Operation *op, ArrayRef<int> groups) const;

  /// Reorders the block: groups contiguous, otherwise as little as possible changed.
  void sortBlock(Block &block) const;

private:
  void addOperands(unsigned node, Operation *op, Block &block);

  SmallVector<Operation *> ops;
  DenseMap<Operation *, unsigned> index;
  SmallVector<SmallVector<unsigned>> dependsOn;
  SmallVector<int> groupOf;
};

} // namespace

Dependencies::Dependencies(Block &block) {
  std::optional<unsigned> lastEffect;
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    unsigned node = ops.size();
    ops.push_back(&op);
    index[&op] = node;
    groupOf.push_back(-1);
    dependsOn.emplace_back();
    op.walk([&](Operation *nested) { addOperands(node, nested, block); });
    if (isMemoryEffectFree(&op))
      continue;
    if (lastEffect)
      dependsOn[node].push_back(*lastEffect);
    lastEffect = node;
  }
}

void Dependencies::addOperands(unsigned node, Operation *op, Block &block) {
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    Operation *ancestor = producer ? block.findAncestorOpInBlock(*producer) : nullptr;
    auto found = ancestor ? index.find(ancestor) : index.end();
    if (found != index.end() && found->second != node)
      dependsOn[node].push_back(found->second);
  }
}

Operation *Dependencies::findBetween(Operation *op, ArrayRef<int> groups) const {
  auto isInside = [&](unsigned node) { return groupOf[node] >= 0 && llvm::is_contained(groups, groupOf[node]); };
  SmallVector<unsigned> stack;
  auto pushOutside = [&](unsigned node) {
    llvm::append_range(stack, llvm::make_filter_range(dependsOn[node], [&](unsigned next) { return !isInside(next); }));
  };
  pushOutside(index.lookup(op));
  for (unsigned node = 0; node < ops.size(); ++node)
    if (isInside(node))
      pushOutside(node);
  DenseSet<unsigned> visited;
  while (!stack.empty()) {
    unsigned node = stack.pop_back_val();
    if (!visited.insert(node).second)
      continue;
    if (llvm::any_of(dependsOn[node], isInside))
      return ops[node];
    llvm::append_range(stack, dependsOn[node]);
    if (groupOf[node] < 0)
      continue;
    for (unsigned other = 0; other < ops.size(); ++other)
      if (groupOf[other] == groupOf[node])
        stack.push_back(other);
  }
  return nullptr;
}

void Dependencies::sortBlock(Block &block) const {
  // One key per node: an op alone is itself, a group is its last member.
  DenseMap<int, unsigned> groupKey;
  for (unsigned node = 0; node < ops.size(); ++node)
    if (groupOf[node] >= 0)
      groupKey[groupOf[node]] = node;
  auto keyOf = [&](unsigned node) { return groupOf[node] < 0 ? node : groupKey.lookup(groupOf[node]); };

  SmallVector<DenseSet<unsigned>> users(ops.size());
  SmallVector<unsigned> waiting(ops.size(), 0);
  SmallVector<SmallVector<unsigned>> members(ops.size());
  for (unsigned node = 0; node < ops.size(); ++node) {
    members[keyOf(node)].push_back(node);
    for (unsigned dependency : dependsOn[node])
      if (keyOf(dependency) != keyOf(node) && users[keyOf(dependency)].insert(keyOf(node)).second)
        ++waiting[keyOf(node)];
  }
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> ready;
  for (unsigned node = 0; node < ops.size(); ++node)
    if (keyOf(node) == node && waiting[node] == 0)
      ready.push(node);
  Operation *terminator = block.mightHaveTerminator() ? block.getTerminator() : nullptr;
  while (!ready.empty()) {
    unsigned key = ready.top();
    ready.pop();
    for (unsigned node : members[key])
      ops[node]->moveBefore(&block, terminator ? terminator->getIterator() : block.end());
    for (unsigned user : users[key])
      if (--waiting[user] == 0)
        ready.push(user);
  }
}

namespace {

/// Assigns the ops of one block to groups, in block order.
class Grouping {
public:
  explicit Grouping(Block &block) : dependencies(block) {}
  SmallVector<RowGroup> run(Block &block);

private:
  /// Why an op is not in a group; empty where it is.
  using Reason = std::string;

  void assign(Operation *op);
  bool assignToProducers(Operation *op);
  bool assignToSharers(Operation *op);
  Reason tryJoin(Operation *op, ArrayRef<int> candidates, bool rowLevel);
  Reason findGap(Operation *op, const RowGroup &group, bool rowLevel) const;
  Reason unite(Operation *op, ArrayRef<int> candidates, bool rowLevel, RowGroup &united) const;
  void startGroup(Operation *op);
  void recordRefusals();

  Dependencies dependencies;
  SmallVector<RowGroup> groups;
  /// (op, the other one, reason); groups may still come together.
  SmallVector<std::tuple<Operation *, Operation *, Reason>> refusals;
};

} // namespace

static bool agree(int64_t a, int64_t b) { return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b); }

/// How many dimensions an op declares as columns, if it does.
static std::optional<unsigned> getDeclaredColumns(Operation *op) {
  if (auto statistics = dyn_cast<StatisticsOpInterface>(op))
    return statistics.getColumnCount();
  if (isColumnSum(op))
    return cast<linalg::GenericOp>(op).getNumParallelLoops();
  std::optional<unsigned> columns;
  for (const Access &read : getReads(op))
    visitLeaves(read, [&](const Access &leaf) {
      if (isGenerated(leaf.tensor.getDefiningOp()))
        columns = 1;
    });
  return columns;
}

/// Sets how many dimensions are columns; false where the group already has another number.
static bool declareColumns(RowGroup &group, std::optional<unsigned> columns) {
  if (!columns)
    return true;
  if (group.columnsFixed && group.space.columns != *columns)
    return false;
  group.columnsFixed = true;
  group.space.columns = *columns;
  return true;
}

/// Why the group's space is not known to be the op's: it is where they share a full tensor (or row, for an op on rows),
/// or where all sizes are known.
Grouping::Reason Grouping::findGap(Operation *op, const RowGroup &group, bool rowLevel) const {
  SmallVector<int64_t> shape = getLoopShape(op);
  unsigned rank = rowLevel ? group.space.getNumRows() : group.space.getRank();
  if (shape.size() != rank || (rowLevel && !group.columnsFixed))
    return ("expected " + Twine(rank) + " dimensions as in its kernel, but got " + Twine(shape.size())).str();
  if (!llvm::all_of(llvm::zip(shape, group.space.shape),
                    [](auto pair) { return agree(std::get<0>(pair), std::get<1>(pair)); }))
    return "expected the sizes of its kernel, but got others";
  bool readsMember = false, sharesFull = false;
  for (const Access &read : getReads(op)) {
    Operation *producer = read.tensor.getDefiningOp();
    bool isMember = producer && llvm::is_contained(group.members, producer);
    readsMember |= isMember;
    if (!read.map.isIdentity() || isInlined(read))
      continue;
    sharesFull |= isMember || (!rowLevel && llvm::any_of(group.members, [&](Operation *member) {
                    return !group.rowLevel.contains(member) && llvm::is_contained(getReads(member), read);
                  }));
  }
  auto isStatic = [](ArrayRef<int64_t> sizes) { return llvm::none_of(sizes, ShapedType::isDynamic); };
  bool isConnected = sharesFull || (readsMember && isStatic(shape) && isStatic(group.space.shape));
  return isConnected ? "" : "expected to read a tensor of its kernel element by element, but got none";
}

/// Makes the group that `op` and the candidates would be, if their reads fit one space.
Grouping::Reason Grouping::unite(Operation *op, ArrayRef<int> candidates, bool rowLevel, RowGroup &united) const {
  static constexpr char otherColumns[] = "expected the columns of its kernel, but got a norm, or dropout, over others";
  united = groups[candidates.front()];
  for (int candidate : candidates.drop_front()) {
    const RowGroup &other = groups[candidate];
    llvm::append_range(united.members, other.members);
    united.rowLevel.insert(other.rowLevel.begin(), other.rowLevel.end());
    if (other.columnsFixed && !declareColumns(united, other.space.columns))
      return otherColumns;
  }
  united.members.push_back(op);
  if (rowLevel)
    united.rowLevel.insert(op);
  else if (!declareColumns(united, getDeclaredColumns(op)))
    return otherColumns;
  for (Operation *member : united.members)
    for (auto [dim, size] : llvm::enumerate(getLoopShape(member)))
      if (!ShapedType::isDynamic(size))
        united.space.shape[dim] = size;
  if (Reason excess = findExcess(united); !excess.empty())
    return excess;
  if (!areSumsLast(united.members))
    return "expected no sum down the rows that one row needs, but got one";
  return readsFit(united) ? "" : "expected operands along the rows and columns of its kernel, but got another layout";
}

/// What the op is called in the program as it is written, where that is known.
static std::string getUserName(Operation *op) {
  SmallVector<SourceOp> sources = getSourceOps(op->getLoc());
  return sources.empty() ? op->getName().getStringRef().str() : sources.front().name;
}

Grouping::Reason Grouping::tryJoin(Operation *op, ArrayRef<int> candidates, bool rowLevel) {
  for (int group : candidates)
    if (Reason gap = findGap(op, groups[group], rowLevel); !gap.empty())
      return gap;
  if (Operation *between = dependencies.findBetween(op, candidates))
    return "expected nothing in between, but got " + getUserName(between) +
           ", which reads one of them and is read by the other";
  RowGroup united;
  if (Reason obstacle = unite(op, candidates, rowLevel, united); !obstacle.empty())
    return obstacle;
  int into = candidates.front();
  for (int candidate : candidates.drop_front()) {
    dependencies.mergeGroups(candidate, into);
    groups[candidate].members.clear();
  }
  llvm::sort(united.members, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  groups[into] = std::move(united);
  dependencies.setGroup(op, into);
  return "";
}

void Grouping::startGroup(Operation *op) {
  RowGroup group;
  group.space.shape = getLoopShape(op);
  if (group.space.shape.empty())
    return;
  declareColumns(group, getDeclaredColumns(op));
  group.members.push_back(op);
  if (!readsFit(group))
    return;
  dependencies.setGroup(op, groups.size());
  groups.push_back(std::move(group));
}

/// Puts the op into the kernel of what it reads: of all of it, else of the last of it that takes it.
bool Grouping::assignToProducers(Operation *op) {
  SmallVector<int> producers;
  SmallVector<Operation *> ops;
  for (const Access &read : getReads(op)) {
    Operation *producer = read.tensor.getDefiningOp();
    int group = producer ? dependencies.getGroup(producer) : -1;
    if (group < 0 || isInlined(read) || llvm::is_contained(producers, group))
      continue;
    producers.push_back(group);
    ops.push_back(producer);
  }
  llvm::sort(producers);
  if (producers.empty())
    return false;
  Reason first;
  auto joins = [&](ArrayRef<int> candidates, bool rowLevel) {
    Reason reason = tryJoin(op, candidates, rowLevel);
    // What the first try says is why not all is one kernel.
    if (first.empty())
      first = reason;
    return reason.empty();
  };
  auto refuse = [&] {
    for (Operation *producer : ops)
      refusals.push_back({op, producer, first});
  };
  for (bool rowLevel : {false, true}) {
    if (rowLevel && (isStatistics(op) || isColumnSum(op)))
      break;
    if (joins(producers, rowLevel))
      return true;
    for (int group : llvm::reverse(producers))
      if (producers.size() > 1 && joins(group, rowLevel)) {
        refuse();
        return true;
      }
  }
  refuse();
  return false;
}

/// Puts the op into a kernel that reads a tensor which it reads too, the latest first.
bool Grouping::assignToSharers(Operation *op) {
  SmallVector<std::pair<int, Operation *>> sharers;
  for (const Access &read : getReads(op))
    for (Operation *user : read.tensor.getUsers())
      if (int group = dependencies.getGroup(user);
          group >= 0 && !llvm::is_contained(llvm::make_first_range(sharers), group))
        sharers.push_back({group, user});
  llvm::sort(sharers, [](const auto &a, const auto &b) { return a.first > b.first; });
  for (auto [group, user] : sharers) {
    // Sharing a parameter is no reason for one kernel.
    if (!findGap(op, groups[group], /*rowLevel=*/false).empty())
      continue;
    Reason reason = tryJoin(op, group, /*rowLevel=*/false);
    if (reason.empty())
      return true;
    refusals.push_back({op, user, reason});
  }
  return false;
}

void Grouping::assign(Operation *op) {
  if (!assignToProducers(op) && !assignToSharers(op))
    startGroup(op);
}

/// Tells the groups what kept their members out of others.
void Grouping::recordRefusals() {
  for (auto &[op, other, reason] : refusals) {
    int group = dependencies.getGroup(op);
    if (group >= 0 && group != dependencies.getGroup(other))
      groups[group].refusals.push_back({op->getLoc(), other->getLoc(), reason});
  }
}

SmallVector<RowGroup> Grouping::run(Block &block) {
  for (Operation *op : dependencies.getOps())
    if (isRowWise(op))
      assign(op);
  recordRefusals();
  dependencies.sortBlock(block);
  llvm::erase_if(groups, [](const RowGroup &group) { return group.members.empty(); });
  llvm::sort(groups, [](const RowGroup &a, const RowGroup &b) {
    return a.members.front()->isBeforeInBlock(b.members.front());
  });
  return std::move(groups);
}

SmallVector<RowGroup> rows::groupRowWiseOps(Block &block) { return Grouping(block).run(block); }
