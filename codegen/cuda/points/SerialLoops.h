// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops that read and write single elements, as kernels: the loops run in order, but for one whose iterations have
// elements of their own, which threads share out. Scatters are such loops.

#ifndef RESID_CODEGEN_CUDA_POINTS_SERIALLOOPS_H
#define RESID_CODEGEN_CUDA_POINTS_SERIALLOOPS_H

#include "codegen/cuda/points/PointKernel.h"
#include "codegen/kernels/TakenValues.h"

namespace mlir::resid::cuda {

/// An scf.for on buffers with no kernel in it.
class SerialLoops : public kernels::TakingOp {
public:
  /// Nothing of other ops, and where the loops take what no kernel can be given.
  static std::optional<SerialLoops> find(Operation *op);
  /// Whether an op stands in such loops, or is them.
  static bool contain(Operation *op);

  scf::ForOp getShared() const { return shared; }
  /// The loops in a function of the device, of which the shared one runs the iteration of `point` alone.
  void rebuild(Code &code, kernels::KernelBody &body, Value point) const;
  void rebuildAround(OpBuilder &builder, kernels::KernelBody &body) const { rebuildBuffers(builder, body); }

private:
  explicit SerialLoops(scf::ForOp loops);

  bool isWritten(Value) const override { return true; }
  void collectMoreFacts(SmallVectorImpl<Attribute> &facts) const override;

  /// The loop that threads share out; null where all run in one thread.
  scf::ForOp shared;
};

/// The outermost loops around an op, or the op itself, that become one kernel: they work on single elements, or on
/// slices at places which are numbers in memory. Null where there are none.
scf::ForOp findSerialLoops(Operation *op);

/// Loops that read or write slices at places which are numbers in memory become loops over elements.
void takeSlicesApart(ModuleOp module);

class SerialLoopsKernel : public PointKernel {
public:
  SerialLoopsKernel(SerialLoops loops, kernels::KernelUse first, SymbolTable &symbols, int64_t &count)
      : PointKernel(std::move(first), symbols, count), loops(std::move(loops)) {}

private:
  Value countPoints(Code &code, kernels::KernelUse &use) override;
  EmitPoint emitKernel(Code &code, kernels::KernelBody &body) override;
  int64_t getMostRegisters() const override { return kMostThreadRegisters; }

  SerialLoops loops;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_POINTS_SERIALLOOPS_H
