// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that leaves the resid dialect, and the one that prepares loops for buffers.

#ifndef RESID_CODEGEN_LINALG_PASSES
#define RESID_CODEGEN_LINALG_PASSES

include "mlir/Pass/PassBase.td"

def ResidToLinalg : Pass<"resid-to-linalg"> {
  let summary = "lower resid ops to elementwise linalg and row statistics on tensors";
  let description = [{
    Rewrites every resid op into elementwise `linalg.generic`. Conversions between storage and arithmetic type are
    written out. Some things have ops of their own:
    - `rows.layer_statistics` and `rows.rms_statistics` are the sums of a norm.
    - `rows.random_halves` are the random numbers of a dropout site.
    - `rows.require` is a run-time condition on step, site and row. `cf.assert` becomes one too, and so does what an
      `scf.for` needs of its step. A loop whose step is refused has no iterations. Slices, and indices of
      `tensor.extract` and `tensor.insert`, must lie in their tensor: where it does not follow from sizes and loops, that
      is a condition too, and the op stays inside where it does not hold.

    An `add_norm` becomes what its expansion becomes.

    Class: bit-exact. Each op rounds its results to storage once, as the op's definition says.

    Before:
    ```mlir
    %s = resid.add %x, %f : tensor<?x768xbf16>
    ```
    After:
    ```mlir
    %s = linalg.generic … ins(%x, %f) { extf, extf, addf, truncf }
    ```
    Every resid op is illegal afterwards: one that has no lowering is an error that names it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::resid::attention::AttentionDialect", "::mlir::resid::rows::RowsDialect", "::mlir::tensor::TensorDialect"];
}

def LowerImportedOps : Pass<"resid-lower-imported-ops", "::mlir::ModuleOp"> {
  let summary = "rewrite ops that exporters of models write into ops that the other passes know";
  let description = [{
    Runs before sizes are worked out:
    - `tensor.gather` and `tensor.generate` become loops over their results (`linalg.generic`), with `tensor.extract` for
      what is looked up.
    - `tensor.scatter` becomes a loop of insertions (`tensor.insert_slice`).
    - `tensor.reshape` becomes `tensor.collapse_shape` and `tensor.expand_shape`, where its shape is that of its type or
      made of scalars, be it by vectors of them, but for one size that the number of elements tells. A shape in an array
      is not read then.
    - `tensor.bitcast` becomes `arith.bitcast`.
    - `ml_program.global_load` and `global_load_const` become constants. A program that stores to a global is refused,
      since compiled functions keep nothing between calls. Globals that nothing reads are dropped.
    - `scf.while` is refused, and so is `tensor.pad` by a negative number.

    Class: bit-exact. Indices are checked in `resid-to-linalg`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def DecomposeSoftmax : Pass<"resid-decompose-softmax"> {
  let summary = "take linalg.softmax apart into maximum, exponentials, sum and quotient";
  let description = [{
    MLIR defines linalg.softmax by these four, and leaves the order of the sum open. Over the last dimension, in f32 and
    f64, they become one row kernel, whose sum has the order of sums in rows (docs/numerics.md). Else the parts are
    those of MLIR: the exponentials and the quotient become row kernels, and the maximum and the sum are what such ops of
    programs are.

    Class: bit-exact, the order of that sum aside.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::resid::rows::RowsDialect", "::mlir::tensor::TensorDialect"];
}

def AbsorbGroupReshapes : Pass<"resid-absorb-group-reshapes"> {
  let summary = "let elementwise ops around the norms of groups go over groups too";
  let description = [{
    A group norm is lowered to a layer norm of a reshaped tensor, whose rows are the groups. This pass moves those reshapes
    past the elementwise ops around the norm, which then share its kernel. Reshapes of the user stay where they are.

    Class: bit-exact. Before:
    ```mlir
    %s = linalg.generic … : tensor<?x768xf32>
    %g = tensor.expand_shape %s … : tensor<?x768xf32> into tensor<?x8x96xf32>
    ```
    After:
    ```mlir
    %x8 = tensor.expand_shape %x …
    %g = linalg.generic … : tensor<?x8x96xf32>
    ```
    An op stays as it is where it depends on random numbers or on the statistics of whole rows.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def DropUnitColumns : Pass<"resid-drop-unit-columns"> {
  let summary = "let elementwise ops go along groups of single columns";
  let description = [{
    Weights of n streams are rows of one column, n of which are a group. An elementwise op on them goes along the group
    after this pass, so that it has n columns, and shares a kernel with what makes them of rows.

    Class: bit-exact. Before:
    ```mlir
    %w = linalg.generic … : tensor<?x4x1xf32>
    ```
    After:
    ```mlir
    %c = linalg.generic … : tensor<?x4xf32>
    %w = tensor.expand_shape %c [[0], [1, 2]] … : tensor<?x4xf32> into tensor<?x4x1xf32>
    ```
    An op that draws random numbers stays as it is, since they are drawn by row and column.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def LowerPacks : Pass<"resid-lower-packs"> {
  let summary = "lower linalg.pack and linalg.unpack to padding, reshapes and transposes";
  let description = [{
    Works on tensors, after contractions have taken the panels that they read (`resid-pack-weights`).

    Class: bit-exact. Before:
    ```mlir
    %p = linalg.pack %w padding_value(%zero : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] …
    ```
    After:
    ```mlir
    %0 = tensor.pad %w …
    %1 = tensor.expand_shape %0 …
    %p = linalg.transpose ins(%1 …) …
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def CarryLoopTensors : Pass<"resid-carry-loop-tensors"> {
  let summary = "keep each tensor that a loop carries in one buffer";
  let description = [{
    Writes what an `scf.for` yields into the tensor that the iteration was given, so that bufferization keeps one buffer
    for all iterations where it would otherwise make a new one in each.

    Class: bit-exact. Before:
    ```mlir
    scf.for … iter_args(%h = %x) { … scf.yield %y }
    ```
    After:
    ```mlir
    scf.for … iter_args(%h = %x) { … %z = bufferization.materialize_in_destination %y in %h … scf.yield %z }
    ```
    Where an iteration reads the old value after the new one is made, bufferization adds a copy. Where tensors change
    places (`scf.yield %b, %a`), one old value is copied here.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

#endif
