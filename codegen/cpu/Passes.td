// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes that turn bufferized functions into LLVM-dialect code for CPUs.

#ifndef RESID_CODEGEN_CPU_PASSES
#define RESID_CODEGEN_CPU_PASSES

include "mlir/Pass/PassBase.td"

def LowerKernels : Pass<"resid-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "outline each rows.kernel into a function over a range of rows, in loops over vectors of columns";
  let description = [{
    Each rows.kernel on memrefs becomes a private function over the rows [lo, hi), which gets bare pointers, strides and
    scalars, and a call of it. Kernels of the module with the same code share one function; the numbers of their dropout
    sites may differ, and are arguments then. There are two paths with the same bits.

    The vector path makes each phase a loop over steps of a few vectors; the accumulators of the 64 lanes are values that
    the loop carries, the last columns are masked. Where 64 lanes do not fit into four registers, blocks of 1,024 columns
    are swept several times, each time over some of the lanes.

    The scalar path makes each phase blocks of 1,024 columns, chunks of 64, and a loop over the 64 lanes of a chunk, which
    carries what LLVM needs in order to vectorise it: the lanes touch different elements. It is the second opinion, and
    runs where the vector path cannot take a kernel; a remark says which and why.

    On x86-64 the vector path has a second function per kernel, `…__stream`: it writes rows by non-temporal stores, keeps what
    later phases read in scratch rows on the stack (40 KiB at most), and ends with a store fence. Each call chooses once:
    what is written must exceed a quarter of the last-level cache (which the processor is asked for once) and overwrite
    no input. Where bases and rows are not aligned to 64 bytes, each row of at least 64 columns is collected in a scratch
    row, which `resid.write_lines` copies in whole lines behind the phase that completes it; the bytes of a line that the
    next row shares wait for it, and what is left is written by plain stores. That function also prefetches its inputs
    (PrefetchChoice.cpp), and may work on two rows at a time: the last phase of a row and the first one of the next row are
    one loop then (rows/PipelinedRows.cpp, choice/RowOrderChoice.cpp).

    Where rows are worked on in batches (rows/BatchedRows.cpp) and are known to be one chunk of 64 columns at most, a further
    function, `…__row`, is row 0 alone without a loop; a call with one row that writes through the cache takes that.

    Where the enclosing function's first argument is an `!llvm.ptr`, it is the caller's context; with its parallel_for
    hook the rows are cut into tasks of max(1, ceil(32768 / width)) rows. Their number depends on the shape alone.

    Bit-exact: sums are taken in the fixed order, nothing is contracted or reassociated. Does not fire on kernels on
    tensors or on operands whose columns are not contiguous: these are errors.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", /*default=*/"256",
           "width in bits of the vector registers">,
    Option<"maskedBits", "masked-bits", "unsigned", /*default=*/"0",
           "width of the narrowest elements that the target reads and writes under a mask (0: none)">,
    Option<"hasPackedBF16", "packed-bf16", "bool", /*default=*/"false",
           "the target has vcvtne2ps2bf16 (AVX-512 BF16)">,
    Option<"isX86", "x86", "bool", /*default=*/"false",
           "the target is an x86-64: rows may be written by non-temporal stores">,
    Option<"schedule", "schedule", "std::string", /*default=*/"",
           "settings that override the choices made here, as key=value,key=value">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerLoopNests : Pass<"resid-lower-loop-nests", "::mlir::ModuleOp"> {
  let summary = "turn linalg ops into loops, and views of buffers into address arithmetic";
  let description = [{
    The upstream passes for what programs have beside row kernels, with the canonicalizer, which knows more of buffers than
    folding does. They are not run where no op needs them.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def ConvertToLLVM : Pass<"resid-convert-to-llvm", "::mlir::ModuleOp"> {
  let summary = "convert loops, and then all other ops at once, to the LLVM dialect";
  let description = [{
    Ops that have no conversion stay, with casts between their types and LLVM's. A memref that is a cast from a pointer and
    its open sizes gets a descriptor where it is still used. Vector ops other than the broadcast of a
    scalar are broken down by upstream's passes first, which are not run where there are none.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"];
}

def MoveLoopAnnotations : Pass<"resid-move-loop-annotations"> {
  let summary = "make loop annotations that survived the conversion of scf.for part of the branches";
  let description = [{
    The upstream conversions carry `llvm.loop_annotation` of an scf.for along to the branch of the latch as a
    discardable attribute, which the translation to LLVM IR ignores. This pass makes it the branch's own.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def FinishLLVMModule : Pass<"resid-finish-llvm-module", "::mlir::ModuleOp"> {
  let summary = "check that only LLVM operations are left and make private functions internal";
  let description = [{
    An operation of another dialect, or a call of a function that nothing defines, is an error with its name.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def OrderLoops : Pass<"resid-order-loops"> {
  let summary = "let contractions run along contiguous elements";
  let description = [{
    A linalg operation on buffers with reductions, whose output and an input are contiguous along one parallel loop that
    strides through no operand, gets that loop innermost: `out[i,j] += a[i,k]·b[k,j]` runs over j inside of k, and
    vectorises. Bit-exact: each element of the output takes its terms in the same order as before. Does not fire where
    such a loop does not exist, as with a transposed right side.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

#endif
