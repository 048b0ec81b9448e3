// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes that turn bufferized functions into LLVM-dialect code for CPUs.

#ifndef RESID_CODEGEN_CPU_PASSES
#define RESID_CODEGEN_CPU_PASSES

include "mlir/Pass/PassBase.td"

def OutlineOps : Pass<"resid-outline-ops", "::mlir::ModuleOp"> {
  let summary = "move linalg ops and repeated kernels on buffers into functions, one for all that are equal";
  let description = [{
    Each linalg op on buffers becomes a call of a private function, which is given pointers, open sizes and strides, and
    scalars. Ops that are equal but for where their operands lie call one function: the same op with the same types,
    static sizes, strides and constants. So equal layers of a model are compiled once. Kernels are moved where two or
    more are equal. What differs in the numbers of dropout sites is equal, for these are arguments.

    A pointer is `llvm.noalias` where nothing else that the function is given overlaps it, or neither of both is
    written. That is known of arguments, constants and temporaries. Two names of one buffer are no such pointers. An
    operand that is written in place is one pointer. A pointer that a kernel is given is `rows.temporary` where the
    caller of the program does not know it.

    The functions are not inlined. Ops without loops stay, and so do those that take other values than buffers, numbers
    and constants from around them.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect"];
}

// The options are what kernels ask for (choice/CPUFacts.def); LowerKernels.cpp reads them.
def LowerKernels : Pass<"resid-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "outline each kernel into functions over a range of its work, and call them";
  let description = [{
    Kernels of the module with the same code share functions.

    **rows.kernel.** Each one on memrefs becomes a private function over the rows [lo, hi), and a call of it. The
    function gets bare pointers, strides and scalars. The numbers of dropout sites may differ between kernels that
    share it, and are arguments then. A phase can run on two paths, which give the same bits.

    The vector path makes each phase a loop over steps of a few vectors. The loop carries the accumulators of the 64
    lanes, and the last columns are masked. If 64 lanes do not fit into four registers, blocks of 1,024 columns are
    swept several times, each time over some of the lanes.

    The scalar path cuts each phase into blocks of 1,024 columns and chunks of 64. A loop over the 64 lanes of a
    chunk tells LLVM that lanes touch different elements, so that LLVM can vectorise it. Tests compare this path
    with the vector path. It also runs where the vector path cannot take a kernel. A remark then says which and why.

    On x86-64 the vector path has a second function per kernel, `…__stream`. It writes rows by non-temporal stores,
    and ends with a store fence. What later phases read stays in scratch rows on the stack (40 KiB at most). Each
    call chooses between the two functions once, by the caller's hint. Without one, `…__stream` is for results of
    more than 8 MiB that overwrite no input (StoreChoice.cpp). The processor is asked for the sizes of its caches
    once.

    Bases and rows may not be aligned to 64 bytes. Then each row of at least 64 columns is collected in a scratch
    row. After the phase that completes the row, `resid.write_lines` copies it in whole lines. The bytes of a line
    that the next row shares wait for that row. Plain stores write what is left.

    `…__stream` also prefetches its inputs (PrefetchChoice.cpp). It may work on two rows at a time: the last phase
    of a row and the first phase of the next row are then one loop (rows/PipelinedRows.cpp,
    choice/KernelPlan.cpp).

    Rows may be worked on in batches (rows/BatchedRows.cpp). If they are known to be one chunk of 64 columns at
    most, there is a further function, `…__row`. It is row 0 alone, without a loop. A call with one row that writes
    through the cache takes it.

    If the enclosing function's first argument is an `!llvm.ptr`, it is the caller's context. Its parallel_for hook
    then gets the rows as tasks of max(1, ceil(32768 / width)) rows. Their number depends on the shape alone.

    Bit-exact: sums are taken in the fixed order, and nothing is contracted or reassociated. A kernel on tensors, or
    on operands whose columns are not contiguous, is an error.

    **contraction.kernel.** Each one on memrefs becomes calls of private functions: those that pack its factors,
    where they do not lie as they are read, and one that computes cells of the product. A cell is a block of rows
    times a group of panels of 16 columns. All share the micro-kernels.

    A micro-kernel keeps the sums of some rows and panels in registers (MicroKernelShape.cpp has the table). Per
    contracted term it loads the columns of the panels, spreads a number of each row over a register, and does a
    fused multiply-add for each pair. Sums are in the arithmetic type, and go on from block to block of the terms.
    When a row is complete, the kernel's body runs on it and stores it.

    Cells are cut into 64 tasks at most, by shape alone.

    The kernels of a `contraction.row_blocks` run by blocks of 128 rows. A task takes some blocks, and runs all
    kernels on one of them before it begins the next. Temporaries between them use the memory of the task's first
    block again and again. That is done where there are 32 blocks at least (`--schedule=product-row-blocks=`). With
    fewer rows, each kernel runs whole, since a product can be cut by its columns, too.

    Bit-exact: each element is one chain of fused multiply-adds in the order of the contracted loops, whatever the
    blocks, registers and threads are.

    **attention.kernel.** Each one on memrefs becomes calls of a private function over units of its work: blocks of
    256 rows of one head of keys. A row is a query of one of the heads that read these keys.

    For a unit, the queries are copied in the arithmetic type. For each chunk of 256 keys, keys and values are
    packed in panels of 16. Per block of rows, micro-kernels compute the scores, which stay in the first level of
    the cache; their softmax is taken; micro-kernels add the weighted values to the state of each row. Chunks that
    causality or the cache's length hides from all rows are skipped.

    Units are cut into 64 tasks at most, by shape alone, each with a slot of scratch memory of its own. Bit-exact.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", /*default=*/"256",
           "width in bits of the vector registers">,
    Option<"maskedBits", "masked-bits", "unsigned", /*default=*/"0",
           "width of the narrowest elements that the target reads and writes under a mask (0: none)">,
    Option<"hasPackedBF16", "packed-bf16", "bool", /*default=*/"false",
           "the target has vcvtne2ps2bf16 (AVX-512 BF16)">,
    Option<"integerBits", "integer-bits", "unsigned", /*default=*/"128",
           "width in bits of the vectors of integers">,
    Option<"hasByteDot", "byte-dot", "bool", /*default=*/"false",
           "the target adds four products of bytes to a number">,
    Option<"hasByteMatrices", "byte-matrices", "bool", /*default=*/"false",
           "the target multiplies two rows of eight bytes by two columns">,
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
    Runs MLIR's passes on what programs have beside row kernels. It also runs the canonicalizer, which knows more of
    buffers than folding does. None of them runs where no op needs it.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
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
    Works on a linalg operation on buffers with reductions. If its output and an input are contiguous along one parallel
    loop, and no operand has a stride there, this loop becomes the innermost one. `out[i,j] += a[i,k]·b[k,j]` then runs
    over j inside of k, and vectorises. Bit-exact: each element of the output takes its terms in the same order as
    before. Does not fire where such a loop does not exist, as with a transposed right side.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

#endif
