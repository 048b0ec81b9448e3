// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves linalg ops and equal kernels on buffers into functions that get pointers, sizes and scalars.

#include "codegen/attention/AttentionDialect.h"
#include "codegen/contractions/ContractionDialect.h"
#include "codegen/cpu/Passes.h"
#include "codegen/kernels/CallerContext.h"
#include "codegen/kernels/DisjointBuffers.h"
#include "codegen/kernels/TakenValues.h"
#include "codegen/rows/RowsDialect.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::resid::cpu {
#define GEN_PASS_DEF_OUTLINEOPS
#include "codegen/cpu/Passes.h.inc"
} // namespace mlir::resid::cpu

using namespace mlir;
using namespace mlir::resid;

namespace {

/// An op on buffers that becomes a function of its own.
class OutlinedOp : public kernels::TakingOp {
public:
  /// Nothing where the op has no loops, or takes what no function can be given.
  static std::optional<OutlinedOp> find(Operation *op);

  /// Kernels call functions already. They are moved where several share all of what calls these.
  bool isKernel() const { return isa<kernels::KernelOpInterface, contraction::RowBlocksOp>(op); }
  /// The function with the op.
  void emit(OpBuilder &builder, kernels::KernelBody &body) const;

private:
  explicit OutlinedOp(Operation *op) : TakingOp(op) {}

  StringRef chooseMark(Value start) const override;
};

} // namespace

//===------------------------------------------- what an op takes -------------------------------------------------===//

/// The constants that are numbers of dropout sites and nothing else. Layers differ in them only.
static llvm::SmallPtrSet<Value, 2> findSites(Operation *op) {
  llvm::SmallPtrSet<Value, 2> sites;
  SmallVector<Value> others;
  op->walk([&](Operation *inner) {
    auto half = dyn_cast<rows::RandomHalfOp>(inner);
    for (OpOperand &operand : inner->getOpOperands())
      if (half && &operand == &half.getSiteMutable())
        sites.insert(operand.get());
      else
        others.push_back(operand.get());
  });
  for (Value other : others)
    sites.erase(other);
  return sites;
}

/// Whether all that is in the op computes, or reads buffers element by element.
static bool readsAtMost(Operation *op) {
  return !op->walk([&](Operation *inner) {
              bool reads = inner == op || isMemoryEffectFree(inner) || isa<memref::LoadOp>(inner);
              return reads ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

std::optional<OutlinedOp> OutlinedOp::find(Operation *op) {
  OutlinedOp outlined(op);
  auto enclosing = op->getParentOfType<func::FuncOp>();
  if (!enclosing)
    return std::nullopt;
  if (auto nest = dyn_cast<linalg::LinalgOp>(op)) {
    if (!nest.hasPureBufferSemantics() || nest.getNumLoops() == 0 || !readsAtMost(op))
      return std::nullopt;
  } else if (isa<contraction::RowBlocksOp>(op->getParentOp())) {
    return std::nullopt; // they go together
  } else if (outlined.isKernel() && op->getNumResults() == 0) {
    // Without one, the function's first pointer would be taken for it.
    outlined.context = kernels::findContext(enclosing);
    if (!outlined.context)
      return std::nullopt;
  } else {
    return std::nullopt;
  }
  outlined.sites = findSites(op);
  return outlined.takeAll() ? std::optional(outlined) : std::nullopt;
}

/// Functions that call kernels are told which buffers are temporaries.
StringRef OutlinedOp::chooseMark(Value start) const {
  if (!isKernel())
    return TakingOp::chooseMark(start);
  return kernels::isOfCaller(start) ? "" : kernels::kTemporaryAttribute;
}

//===------------------------------------------- the function -----------------------------------------------------===//

void OutlinedOp::emit(OpBuilder &builder, kernels::KernelBody &body) const {
  auto function = cast<func::FuncOp>(body.entry->getParentOp());
  // Where it were inlined, each place would be compiled again.
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  rebuildBuffers(builder, body);
  builder.clone(*op, body.mapping)->setDiscardableAttrs(builder.getDictionaryAttr({}));
}

//===------------------------------------------- the pass ---------------------------------------------------------===//

/// Views that only ops needed whose functions make them anew.
static void eraseDeadOps(Operation *root) {
  root->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

namespace {

/// Ops that are equal.
struct OutlinedCode {
  bool takeIn(kernels::KernelUse &use) {
    bool isSame = functions.takeIn(use);
    uses += isSame;
    return isSame;
  }
  void outline() {
    function = functions.outline(first.isKernel() ? "__kernel" : "__loops", {},
                                 [&](OpBuilder &builder, kernels::KernelBody &body) { first.emit(builder, body); });
  }

  OutlinedOp first;
  kernels::SharedFunctions functions;
  unsigned uses = 1;
  func::FuncOp function = {};
};

struct OutlineOps : public cpu::impl::OutlineOpsBase<OutlineOps> {
  void runOnOperation() override {
    SmallVector<OutlinedOp> found;
    getOperation().walk([&](Operation *op) {
      if (std::optional<OutlinedOp> outlined = OutlinedOp::find(op))
        found.push_back(*outlined);
    });
    SymbolTable symbols(getOperation());
    kernels::SharedCodes<OutlinedCode> codes;
    std::vector<std::pair<kernels::KernelUse, OutlinedCode *>> uses;
    for (OutlinedOp &outlined : found) {
      kernels::KernelUse use = outlined.createUse();
      OutlinedCode *code = codes.find(use);
      if (!code)
        code = &codes.add(use, std::make_unique<OutlinedCode>(OutlinedCode{outlined, {use, symbols}}));
      uses.emplace_back(std::move(use), code);
    }
    for (const auto &code : codes.getAll())
      if (!code->first.isKernel() || code->uses > 1)
        code->outline();
    SetVector<func::FuncOp> changed;
    for (auto &[use, code] : uses) {
      changed.insert(use.enclosing);
      if (!code->function)
        continue;
      OpBuilder builder(use.op);
      func::CallOp::create(builder, use.op->getLoc(), code->function, code->functions.getArguments(builder, use));
      use.op->erase();
    }
    for (func::FuncOp function : changed)
      eraseDeadOps(function);
  }
};
} // namespace
