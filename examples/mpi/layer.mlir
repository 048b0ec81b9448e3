// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The end of a tensor-parallel sub-layer, in MLIR's dialects `shard` and `memref`: the ranks' partial products are summed,
// then each rank adds and normalises its share of the rows by the kernel of kernels.mlir. mlir-opt lowers the sum to MPI.
// The Makefile puts the number of ranks in the place of 2: MLIR 22 wants it when compiling.

module attributes {mpi.dlti = #dlti.map<"MPI:Implementation" = "MPICH">} {
  shard.grid @ranks(shape = 2) {sym_visibility = "private"}

  llvm.func @add_norm(!llvm.ptr, !llvm.ptr, i64, !llvm.ptr, i64, !llvm.ptr, i64, i64, i64, !llvm.ptr, !llvm.ptr) -> i32

  func.func @sum_add_norm(%partial: memref<64x256xf32>, %x: memref<64x256xf32>, %gamma: memref<256xf32>, %seed: i64,
                          %step: i64, %y: memref<64x256xf32>, %s: memref<64x256xf32>) -> i32
      attributes {llvm.emit_c_interface} {
    %sum = shard.all_reduce %partial on @ranks grid_axes = [0] reduction = sum : memref<64x256xf32> -> memref<64x256xf32>

    // Rank i has rows i·64/ranks to (i+1)·64/ranks.
    %rank = shard.process_linear_index on @ranks : index
    %ranks = shard.grid_shape @ranks axes = [0] : index
    %all = arith.constant 64 : index
    %count = arith.divui %all, %ranks : index
    %first = arith.muli %rank, %count : index
    %width = arith.constant 1024 : index // bytes of a row
    %offset = arith.muli %first, %width : index

    %sum_at = call @at(%sum, %offset) : (memref<64x256xf32>, index) -> !llvm.ptr
    %x_at = call @at(%x, %offset) : (memref<64x256xf32>, index) -> !llvm.ptr
    %y_at = call @at(%y, %offset) : (memref<64x256xf32>, index) -> !llvm.ptr
    %s_at = call @at(%s, %offset) : (memref<64x256xf32>, index) -> !llvm.ptr
    %gamma_address = memref.extract_aligned_pointer_as_index %gamma : memref<256xf32> -> index
    %gamma_number = arith.index_cast %gamma_address : index to i64
    %gamma_at = llvm.inttoptr %gamma_number : i64 to !llvm.ptr
    %rows = arith.index_cast %count : index to i64
    %row = arith.index_cast %first : index to i64
    %serial = llvm.mlir.zero : !llvm.ptr
    %status = llvm.call @add_norm(%serial, %x_at, %rows, %sum_at, %rows, %gamma_at, %seed, %step, %row, %y_at, %s_at)
      : (!llvm.ptr, !llvm.ptr, i64, !llvm.ptr, i64, !llvm.ptr, i64, i64, i64, !llvm.ptr, !llvm.ptr) -> i32
    memref.dealloc %sum : memref<64x256xf32>
    return %status : i32
  }

  // The address so many bytes into a buffer.
  func.func private @at(%buffer: memref<64x256xf32>, %bytes: index) -> !llvm.ptr {
    %base = memref.extract_aligned_pointer_as_index %buffer : memref<64x256xf32> -> index
    %sum = arith.addi %base, %bytes : index
    %number = arith.index_cast %sum : index to i64
    %pointer = llvm.inttoptr %number : i64 to !llvm.ptr
    return %pointer : !llvm.ptr
  }
}
