// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Grouping of row-wise ops; see RowGroups.h.

#include "codegen/rows/RowGroups.h"

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

  /// Whether making one node of `op` and `groups` would make a cycle: whether something outside that `op` or a member
  /// depends on depends on a member in turn.
  bool wouldCycle(Operation *op, ArrayRef<int> groups) const;

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

bool Dependencies::wouldCycle(Operation *op, ArrayRef<int> groups) const {
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
    if (isInside(node))
      return true;
    if (!visited.insert(node).second)
      continue;
    llvm::append_range(stack, dependsOn[node]);
    if (groupOf[node] < 0)
      continue;
    for (unsigned other = 0; other < ops.size(); ++other)
      if (groupOf[other] == groupOf[node])
        stack.push_back(other);
  }
  return false;
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
  void assign(Operation *op);
  bool tryJoin(Operation *op, ArrayRef<int> candidates, bool rowLevel);
  bool isConnected(Operation *op, const RowGroup &group, bool rowLevel) const;
  std::optional<RowGroup> unite(Operation *op, ArrayRef<int> candidates, bool rowLevel) const;
  void startGroup(Operation *op);

  Dependencies dependencies;
  SmallVector<RowGroup> groups;
};

} // namespace

static bool agree(int64_t a, int64_t b) { return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b); }

/// How many dimensions an op declares as columns, if it does.
static std::optional<unsigned> getDeclaredColumns(Operation *op) {
  if (auto layer = dyn_cast<LayerStatisticsOp>(op))
    return layer.getNormRank();
  if (auto rms = dyn_cast<RMSStatisticsOp>(op))
    return rms.getNormRank();
  std::optional<unsigned> columns;
  for (const Access &read : getReads(op))
    visitLeaves(read, [&](const Access &leaf) {
      if (isa_and_present<RandomHalvesOp>(leaf.tensor.getDefiningOp()))
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

/// Whether every read fits the space, and members' values are read where they are made.
static bool readsFit(const RowGroup &group) {
  bool fit = group.space.columns <= group.space.getRank();
  for (Operation *member : group.members)
    for (const Access &read : getReads(member))
      visitLeaves({read.tensor, read.map.compose(group.getDomain(member))}, [&](const Access &leaf) {
        Operation *producer = leaf.tensor.getDefiningOp();
        AffineMap natural;
        if (isa_and_present<RandomHalvesOp>(producer))
          natural = group.space.getIdentity(leaf.map.getContext());
        else if (producer && llvm::is_contained(group.members, producer))
          natural = isStatistics(producer) ? group.space.getRows(leaf.map.getContext()) : group.getDomain(producer);
        fit &= group.space.fits(leaf.map) && (!natural || leaf.map == natural);
      });
  return fit;
}

/// Whether the group's space is the op's: they share a full tensor (or row, for an op on rows), or all sizes are known.
bool Grouping::isConnected(Operation *op, const RowGroup &group, bool rowLevel) const {
  SmallVector<int64_t> shape = getLoopShape(op);
  unsigned rank = rowLevel ? group.space.getNumRows() : group.space.getRank();
  if (shape.size() != rank || (rowLevel && !group.columnsFixed))
    return false;
  if (!llvm::all_of(llvm::zip(shape, group.space.shape),
                    [](auto pair) { return agree(std::get<0>(pair), std::get<1>(pair)); }))
    return false;
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
  return sharesFull || (readsMember && isStatic(shape) && isStatic(group.space.shape));
}

/// Norms of one kernel at most. Each phase recomputes what it needs of the norms before it and no row holds, so work
/// and code grow with the square of their number; beyond this a tensor in between is cheaper.
constexpr int64_t kMaxStatistics = 4;

static bool hasFewNorms(const RowGroup &group) { return llvm::count_if(group.members, isStatistics) <= kMaxStatistics; }

/// The group that `op` and the candidates would be, if their reads fit one space.
std::optional<RowGroup> Grouping::unite(Operation *op, ArrayRef<int> candidates, bool rowLevel) const {
  RowGroup united = groups[candidates.front()];
  for (int candidate : candidates.drop_front()) {
    const RowGroup &other = groups[candidate];
    llvm::append_range(united.members, other.members);
    united.rowLevel.insert(other.rowLevel.begin(), other.rowLevel.end());
    if (other.columnsFixed && !declareColumns(united, other.space.columns))
      return std::nullopt;
  }
  united.members.push_back(op);
  if (rowLevel)
    united.rowLevel.insert(op);
  else if (!declareColumns(united, getDeclaredColumns(op)))
    return std::nullopt;
  for (Operation *member : united.members)
    for (auto [dim, size] : llvm::enumerate(getLoopShape(member)))
      if (!ShapedType::isDynamic(size))
        united.space.shape[dim] = size;
  if (!hasFewNorms(united) || !readsFit(united))
    return std::nullopt;
  return united;
}

bool Grouping::tryJoin(Operation *op, ArrayRef<int> candidates, bool rowLevel) {
  bool connected = llvm::all_of(candidates, [&](int group) { return isConnected(op, groups[group], rowLevel); });
  if (!connected || dependencies.wouldCycle(op, candidates))
    return false;
  std::optional<RowGroup> united = unite(op, candidates, rowLevel);
  if (!united)
    return false;
  int into = candidates.front();
  for (int candidate : candidates.drop_front()) {
    dependencies.mergeGroups(candidate, into);
    groups[candidate].members.clear();
  }
  llvm::sort(united->members, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  groups[into] = std::move(*united);
  dependencies.setGroup(op, into);
  return true;
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

void Grouping::assign(Operation *op) {
  SmallVector<int> producers, sharers;
  for (const Access &read : getReads(op)) {
    Operation *producer = read.tensor.getDefiningOp();
    int group = producer ? dependencies.getGroup(producer) : -1;
    if (group >= 0 && !isInlined(read) && !llvm::is_contained(producers, group))
      producers.push_back(group);
    for (Operation *user : read.tensor.getUsers()) {
      int sharer = dependencies.getGroup(user);
      if (sharer >= 0 && !llvm::is_contained(sharers, sharer))
        sharers.push_back(sharer);
    }
  }
  llvm::sort(producers);
  llvm::sort(sharers, std::greater<>());
  for (bool rowLevel : {false, true}) {
    if (isStatistics(op) && rowLevel)
      break;
    if (!producers.empty() && tryJoin(op, producers, rowLevel))
      return;
    for (int group : llvm::reverse(producers))
      if (producers.size() > 1 && tryJoin(op, group, rowLevel))
        return;
  }
  for (int group : sharers)
    if (tryJoin(op, group, /*rowLevel=*/false))
      return;
  startGroup(op);
}

SmallVector<RowGroup> Grouping::run(Block &block) {
  for (Operation *op : dependencies.getOps())
    if (isRowWise(op))
      assign(op);
  dependencies.sortBlock(block);
  llvm::erase_if(groups, [](const RowGroup &group) { return group.members.empty(); });
  llvm::sort(groups, [](const RowGroup &a, const RowGroup &b) {
    return a.members.front()->isBeforeInBlock(b.members.front());
  });
  return std::move(groups);
}

SmallVector<RowGroup> rows::groupRowWiseOps(Block &block) { return Grouping(block).run(block); }
