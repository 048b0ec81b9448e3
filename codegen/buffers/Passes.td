// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes from tensors to buffers, and those on what a program does with buffers beside its kernels.

#ifndef RESID_CODEGEN_BUFFERS_PASSES
#define RESID_CODEGEN_BUFFERS_PASSES

include "mlir/Pass/PassBase.td"

def DecomposeAggregates : Pass<"resid-decompose-aggregates"> {
  let summary = "take apart tensor.concat and tensor.pad into the operations that define them";
  let description = [{
    A concatenation or a padded tensor becomes slices of one tensor. Bufferization writes these where the tensor belongs.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FillSplats : Pass<"resid-fill-splats"> {
  let summary = "fill large constants of one value at run time";
  let description = [{
    A constant tensor of more than `stored-bytes` bytes whose elements are all equal is not stored in the object. linalg
    ops that read it get the scalar, and everything else gets a `linalg.fill`. Bit-exact. Reading a small one costs less
    than filling a buffer in each call, where an object's constants can be read.
  }];
  let options = [Option<"storedBytes", "stored-bytes", "int64_t", /*default=*/"4096", "the most bytes that are stored">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def CopyConstants : Pass<"resid-copy-constants"> {
  let summary = "copy constants into memory for kernels";
  let description = [{
    For devices, whose kernels are given addresses of the device's memory. The code of a loop nest of linalg has the
    constants that it reads. All other ops read a copy, which such a nest makes. Bit-exact.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PackStrided : Pass<"resid-pack-strided"> {
  let summary = "copy strided arrays where only contiguous ones will do";
  let description = [{
    Buffers with open strides come from arguments and results that are `resid.strided`. Row kernels over the last axis
    and linalg ops read and write them in place. Other users of such an argument (a reshape, a loop that carries it, a
    norm over several axes) share one contiguous copy. A result that something else makes is copied when it is done.
    A slice whose last axis is not the array's, a column say, is copied too where a row kernel reads or makes it.
    Bit-exact.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

def TrackDestinations : Pass<"resid-track-destinations"> {
  let summary = "write results through tensors of their buffers, so that bufferization knows what lies there";
  let description = [{
    A result is written to a buffer by `bufferization.materialize_in_destination`, at the end of the function.
    Eliminating empty tensors lets earlier ops compute values in that buffer. The analysis of bufferization does not see
    that the write at the end overwrites these values. So two results that start from one tensor could come out equal.
    This pass writes results to the buffer's tensor first. Then the analysis sees the conflict, and one of the two gets
    a buffer of its own.

    A branch of a condition that makes a result hands on a copy of what others read, too. One buffer could not be that of
    both.

    A `linalg.fill` is repeated for each reader, so that layers which start from the same zeros need no copies. So is a
    `tensor.empty`, so that the memory of one layer's temporaries is free when the layer is done.

    A `tensor.insert_slice` in a loop inserts into a copy, if its destination comes from outside of the loop. The analysis
    of bufferization misses that the next step reads what an op that writes to the slice overwrites.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def SpreadTemporaries : Pass<"resid-spread-temporaries"> {
  let summary = "give each step of a loop memory of its own for its temporaries";
  let description = [{
    A temporary of known size that a step of a loop makes for itself becomes one for all steps, with the number of the
    step as its last dimension. So steps that have nothing else in common may run at the same time. The loop works on
    single elements alone. That is for devices. On a CPU (`on-stack`), temporaries of loops whose steps become lanes of
    vectors are on the stack, where it holds those of two steps; with others, one step has the memory after the other.
    Bit-exact.
  }];
  let options = [Option<"onStack", "on-stack", "bool", /*default=*/"false", "temporaries are on the stack">];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def PlaceStreams : Pass<"resid-place-streams"> {
  let summary = "let kernels write streams to where they are joined";
  let description = [{
    A kernel whose results are streams that a `rows.join_streams` puts together writes each into its part of the joined
    tensor. So joining copies nothing. Streams that other ops made are copied.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def LowerRequire : Pass<"resid-lower-require", "::mlir::func::FuncOp"> {
  let summary = "turn rows.require into a store to the function's status cell";
  let description = [{
    The status cell is the function's last argument, a `memref<i32>` that starts as 0. If the condition is false and no
    status has been stored yet, the status is stored. A rows.require in a function without such an argument is an error.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def LowerCopies : Pass<"resid-lower-copies"> {
  let summary = "turn memref.copy between buffers that are not contiguous into linalg";
  let description = [{
    MLIR lowers such a copy to a call into a run-time library. As a linalg.generic it becomes loops. Copies between
    contiguous buffers stay and become memcpy.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

#endif
