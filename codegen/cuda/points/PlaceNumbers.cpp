// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// resid-cuda-place-numbers: scalars that are computed from elements of arrays stay in the memory of the device. A
// scalar that the host would carry from one op to another gets a memref of rank 0, and is loaded where it is needed.

#include "codegen/cuda/points/PlaceNumbers.h"
#include "codegen/cuda/Passes.h"
#include "codegen/cuda/points/SerialLoops.h"
#include "codegen/kernels/KernelOpInterface.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::resid::cuda {
#define GEN_PASS_DEF_PLACENUMBERS
#include "codegen/cuda/Passes.h.inc"
} // namespace mlir::resid::cuda

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cuda;

//===------------------------------------------- ops of the host --------------------------------------------------===//

/// Whether the host runs an op: around it are loops and branches alone.
static bool isOfHost(Operation *op) {
  Operation *around = op->getParentOp();
  while (around && isa_and_present<scf::SCFDialect>(around->getDialect()))
    around = around->getParentOp();
  return isa_and_present<func::FuncOp>(around);
}

template <typename OpTy> static SmallVector<OpTy> collect(ModuleOp module, function_ref<bool(OpTy)> isOne) {
  SmallVector<OpTy> ops;
  module.walk<WalkOrder::PreOrder>([&](OpTy op) {
    if (isOne(op) && isOfHost(op))
      ops.push_back(op);
  });
  return ops;
}

/// Whether a loop or a branch works on single elements and nothing else, conditions on indices aside.
static bool hasElementsAlone(Operation *op) {
  return op->getNumRegions() > 0 && isa_and_present<scf::SCFDialect>(op->getDialect()) &&
         !op->walk([](Operation *inner) {
              bool isElement = isa<memref::LoadOp, memref::StoreOp>(inner) || isIndexCondition(inner) ||
                               isa_and_present<scf::SCFDialect>(inner->getDialect());
              bool isPure = isMemoryEffectFree(inner) && !isa_and_present<memref::MemRefDialect>(inner->getDialect());
              return isElement || isPure ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

static bool hasStores(Operation *op) {
  return op->walk([](memref::StoreOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Whether SerialLoops takes a loop, conditions on indices aside.
static bool runsInOrder(scf::ForOp loop) {
  bool hasOther = loop->walk([](Operation *op) {
                        bool isOther = isa_and_present<scf::SCFDialect>(op->getDialect()) &&
                                       !isa<scf::ForOp, scf::IfOp, scf::YieldOp>(op);
                        return isOther ? WalkResult::interrupt() : WalkResult::advance();
                      })
                      .wasInterrupted();
  return (!hasOther && hasElementsAlone(loop) && hasStores(loop)) || findSerialLoops(loop);
}

/// Whether a loop or a branch computes scalars from elements and nothing else.
static bool computesScalars(Operation *op) {
  return op->getNumResults() > 0 && hasElementsAlone(op) && !hasStores(op) &&
         llvm::all_of(op->getResultTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); });
}

SmallVector<Value> cuda::collectNumbers(Operation *op) {
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  return llvm::to_vector(llvm::make_filter_range(
      used, [](Value value) { return !isa<MemRefType>(value.getType()) && isFromMemory(value); }));
}

static bool readsNumbers(Operation *op) {
  bool loads = op->walk([](memref::LoadOp) { return WalkResult::interrupt(); }).wasInterrupted();
  return loads || !collectNumbers(op).empty();
}

/// What runs on the device answers no call.
static void dropConditions(Operation *op) {
  op->walk([](Operation *inner) {
    if (isIndexCondition(inner))
      inner->erase();
  });
}

/// Moves what computes a scalar in the body of a nest before it; null where it hangs on the element.
static Value hoist(Value value, Operation *nest) {
  llvm::SetVector<Operation *> slice = collectSlice(value);
  auto isOuter = [&](Value operand) {
    return !nest->getRegion(0).isAncestor(operand.getParentRegion()) || slice.contains(operand.getDefiningOp());
  };
  bool isKnown = isOuter(value) && llvm::all_of(slice, [&](Operation *op) {
                   return !isa<memref::LoadOp>(op) && llvm::all_of(op->getOperands(), isOuter);
                 });
  if (!isKnown)
    return {};
  OpBuilder builder(nest);
  IRMapping mapping;
  for (Operation *op : slice)
    builder.clone(*op, mapping);
  return mapping.lookupOrDefault(value);
}

/// The host checks what it knows.
static void hoistConditions(linalg::LinalgOp nest) {
  SmallVector<rows::RequireOp> conditions;
  nest->walk([&](rows::RequireOp require) { conditions.push_back(require); });
  for (rows::RequireOp require : conditions) {
    if (Value condition = hoist(require.getCondition(), nest)) {
      Value number = require.getValue() ? hoist(require.getValue(), nest) : Value();
      OpBuilder builder(nest);
      rows::RequireOp::create(builder, require.getLoc(), condition, require.getStatus(), require.getText(), number);
      require.erase();
    }
  }
  dropConditions(nest);
}

static Value createPlace(OpBuilder &builder, Location loc, Type type) {
  return memref::AllocOp::create(builder, loc, MemRefType::get({}, type));
}

static Value loadNumber(OpBuilder &builder, Location loc, Value place) {
  return memref::LoadOp::create(builder, loc, place, ValueRange());
}

//===------------------------------------------- numbers ----------------------------------------------------------===//

Value NumberCopies::keep(memref::LoadOp load) {
  Value &place = copies[load];
  if (place)
    return place;
  OpBuilder builder(load);
  place = createPlace(builder, load.getLoc(), load.getType());
  builder.setInsertionPointAfter(load);
  writeNumber(builder, load.getLoc(), load, place);
  return place;
}

Value NumberCopies::compute(Value number, Operation *place) {
  OpBuilder builder(place);
  IRMapping mapping;
  for (Operation *op : collectSlice(number)) {
    auto load = dyn_cast<memref::LoadOp>(op);
    if (load && !isSameAt(load, place))
      mapping.map(load.getResult(), loadNumber(builder, load.getLoc(), keep(load)));
    else
      builder.clone(*op, mapping);
  }
  return mapping.lookup(number);
}

void NumberCopies::computeAll(Operation *op) {
  for (Value number : collectNumbers(op)) {
    Value here = compute(number, op);
    number.replaceUsesWithIf(here, [&](OpOperand &use) { return op->isAncestor(use.getOwner()); });
  }
}

namespace {

class NumberPlaces {
public:
  explicit NumberPlaces(ModuleOp module) : module(module) {}

  void run();

private:
  void dropConditionsInLoops();
  void sinkScalars();
  void carryThroughLoops();
  bool carry(scf::ForOp loop);
  bool carry(Operation *branch);
  void runInOrder();
  void giveToKernels();
  void giveToNests();

  ModuleOp module;
  NumberCopies copies;
  /// Of scalars that kernels take.
  DenseMap<Value, Value> places;
};

} // namespace

/// Those of loops that become kernels.
void NumberPlaces::dropConditionsInLoops() {
  for (auto loop : collect<scf::ForOp>(module, [](scf::ForOp loop) { return loop.getNumResults() == 0; }))
    if (runsInOrder(loop))
      dropConditions(loop);
}

/// What computes scalars alone becomes the body of a nest without loops.
void NumberPlaces::sinkScalars() {
  SmallVector<Operation *> found;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    // A kernel of a loop computes its scalars itself.
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && loop.getNumResults() == 0 && runsInOrder(loop))
      return WalkResult::skip();
    if (!computesScalars(op) || !isOfHost(op))
      return WalkResult::advance();
    found.push_back(op);
    return WalkResult::skip();
  });
  for (Operation *op : found) {
    // What one computes may make another's numbers from memory.
    if (!readsNumbers(op))
      continue;
    dropConditions(op);
    OpBuilder builder(op);
    Location loc = op->getLoc();
    SmallVector<Value> results;
    for (Type type : op->getResultTypes())
      results.push_back(createPlace(builder, loc, type));
    SmallVector<AffineMap> maps(results.size(), AffineMap::get(0, 0, op->getContext()));
    linalg::GenericOp::create(builder, loc, ValueRange(), results, maps, ArrayRef<utils::IteratorType>(),
                              [&](OpBuilder &inner, Location, ValueRange) {
                                linalg::YieldOp::create(inner, loc, inner.clone(*op)->getResults());
                              });
    for (auto [result, place] : llvm::zip_equal(op->getResults(), results))
      result.replaceAllUsesWith(loadNumber(builder, loc, place));
    op->erase();
  }
}

//===------------------------------------------- loops and branches -----------------------------------------------===//

/// A number that stands where one from memory did, which nothing reads.
static Value createUnused(OpBuilder &builder, Location loc, Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

/// One scalar that a loop hands from step to step; whether there was one.
bool NumberPlaces::carry(scf::ForOp loop) {
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    Value first = loop.getInitArgs()[i], next = yield->getOperand(i);
    if (isa<MemRefType>(argument.getType()) || (!isFromMemory(first) && !isFromMemory(next)))
      continue;
    OpBuilder builder(loop);
    Location loc = loop.getLoc();
    Value place = createPlace(builder, loc, argument.getType()),
          unused = createUnused(builder, loc, argument.getType());
    memref::StoreOp::create(builder, loc, first, place);
    loop.getInitArgsMutable()[i].set(unused);
    builder.setInsertionPointToStart(loop.getBody());
    argument.replaceAllUsesWith(loadNumber(builder, loc, place));
    builder.setInsertionPoint(yield);
    memref::StoreOp::create(builder, loc, yield->getOperand(i), place);
    yield->setOperand(i, unused);
    builder.setInsertionPointAfter(loop);
    loop.getResult(i).replaceAllUsesWith(loadNumber(builder, loc, place));
    return true;
  }
  return false;
}

/// The same for what the regions of a branch yield.
bool NumberPlaces::carry(Operation *branch) {
  SmallVector<Operation *> yields;
  for (Region &region : branch->getRegions())
    if (!region.empty())
      yields.push_back(region.back().getTerminator());
  for (OpResult result : branch->getResults()) {
    unsigned i = result.getResultNumber();
    auto isNumber = [&](Operation *yield) { return isFromMemory(yield->getOperand(i)); };
    if (isa<MemRefType>(result.getType()) || llvm::none_of(yields, isNumber))
      continue;
    OpBuilder builder(branch);
    Location loc = branch->getLoc();
    Value place = createPlace(builder, loc, result.getType()), unused = createUnused(builder, loc, result.getType());
    for (Operation *yield : yields) {
      builder.setInsertionPoint(yield);
      memref::StoreOp::create(builder, loc, yield->getOperand(i), place);
      yield->setOperand(i, unused);
    }
    builder.setInsertionPointAfter(branch);
    result.replaceAllUsesWith(loadNumber(builder, loc, place));
    return true;
  }
  return false;
}

/// What one hands on may make another's a number from memory.
void NumberPlaces::carryThroughLoops() {
  bool isChanged = true;
  while (isChanged) {
    isChanged = false;
    for (auto loop : collect<scf::ForOp>(module, [](scf::ForOp loop) { return !findSerialLoops(loop); }))
      while (carry(loop))
        isChanged = true;
    auto isBranch = [](Operation *op) { return isa<scf::IfOp, scf::IndexSwitchOp, scf::ExecuteRegionOp>(op); };
    for (Operation *branch : collect<Operation *>(module, isBranch))
      while (carry(branch))
        isChanged = true;
  }
}

//===------------------------------------------- who needs numbers ------------------------------------------------===//

/// Loops over elements, and stores at places in memory: a loop of one step around them has the numbers too.
void NumberPlaces::runInOrder() {
  SmallVector<Operation *> found;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto store = dyn_cast<memref::StoreOp>(op);
    bool isPlaced = store && llvm::any_of(store.getIndices(), isFromMemory);
    bool isLoop = isa<scf::ForOp>(op) && findSerialLoops(op) == op;
    if (!isLoop && !isPlaced)
      return WalkResult::advance();
    if (isOfHost(op) && !collectNumbers(op).empty() && (isLoop || !findSerialLoops(op)))
      found.push_back(op);
    return WalkResult::skip();
  });
  for (Operation *op : found) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); };
    Value zero = index(0), one = index(1);
    auto once = scf::ForOp::create(builder, loc, zero, one, one);
    op->moveBefore(once.getBody()->getTerminator());
    copies.computeAll(op);
  }
}

/// Kernels take a scalar as the place where it lies.
void NumberPlaces::giveToKernels() {
  for (auto kernel : collect<kernels::KernelOpInterface>(module, [](auto) { return true; })) {
    for (Value number : collectNumbers(kernel)) {
      Location loc = number.getLoc();
      auto load = number.getDefiningOp<memref::LoadOp>();
      bool isPlaced = load && load.getMemRefType().getRank() == 0 && load.getMemRefType().getLayout().isIdentity() &&
                      isSameAt(load, kernel);
      Value &place = places[number];
      if (!isPlaced && !place) {
        Operation *next = number.getDefiningOp()->getNextNode();
        OpBuilder builder(next);
        place = createPlace(builder, loc, number.getType());
        writeNumber(builder, loc, copies.compute(number, next), place);
      }
      OpBuilder builder(kernel);
      Value here = loadNumber(builder, loc, isPlaced ? load.getMemRef() : place);
      number.replaceUsesWithIf(here, [&](OpOperand &use) { return kernel->isAncestor(use.getOwner()); });
    }
  }
}

/// Nests compute what they need themselves, and stores become nests.
void NumberPlaces::giveToNests() {
  auto isNest = [](Operation *op) { return isa<linalg::LinalgOp, memref::StoreOp>(op) && !findSerialLoops(op); };
  IRRewriter rewriter(module.getContext());
  for (Operation *nest : collect<Operation *>(module, isNest)) {
    copies.computeAll(nest);
    auto named = dyn_cast<linalg::LinalgOp>(nest);
    rewriter.setInsertionPoint(nest);
    if (named && !isa<linalg::GenericOp>(nest) && !collectNumbers(nest).empty())
      (void)linalg::generalizeNamedOp(rewriter, named);
  }
}

void NumberPlaces::run() {
  dropIndexConditions(module);
  for (auto nest : collect<linalg::LinalgOp>(module, [](auto) { return true; }))
    hoistConditions(nest);
  dropConditionsInLoops();
  sinkScalars();
  carryThroughLoops();
  dropIndexConditions(module); // of numbers that are in memory since then
  moveSlices(module, copies);
  runInOrder();
  giveToKernels();
  giveToNests();
  moveLoads(module);
}

namespace {
struct PlaceNumbers : cuda::impl::PlaceNumbersBase<PlaceNumbers> {
  void runOnOperation() override { NumberPlaces(getOperation()).run(); }
};
} // namespace
