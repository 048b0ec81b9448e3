// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes that make factors, gains and shifts a part of weights, and those that centre weights.

#ifndef RESID_PASSES_WEIGHTS_PASSES
#define RESID_PASSES_WEIGHTS_PASSES

include "passes/PassOptions.td"

def FoldDeepNorm : Pass<"resid-fold-deepnorm", "::mlir::ModuleOp"> {
  let summary = "folds skip_scale before a norm into branch_scale and epsilon";
  let description = [{
    Class: **exact in real arithmetic**.

    DeepNorm is plain post-norm with other numbers. For a > 0, N(a·x + B(f)) = N'(x + B(f)/a), where N' has epsilon/a²
    in place of epsilon. For `resid.dyt`, alpha·a takes the place of alpha.

    Before and after:
    ```mlir
    func.func @before(%x: tensor<4x512xf32>, %gamma: tensor<512xf32>) -> tensor<4x512xf32> {
      %y = resid.block post %x norm(rms gamma %gamma : tensor<512xf32> epsilon = 4.0e-6)
          {skip_scale = 2.0} : tensor<4x512xf32> {
      ^bb0(%h: tensor<4x512xf32>):
        %f = math.tanh %h : tensor<4x512xf32>
        resid.yield %f : tensor<4x512xf32>
      }
      return %y : tensor<4x512xf32>
    }

    func.func @after(%x: tensor<4x512xf32>, %gamma: tensor<512xf32>) -> tensor<4x512xf32> {
      %y = resid.block post %x norm(rms gamma %gamma : tensor<512xf32> epsilon = 1.0e-6)
          {branch_scale = 0.5} : tensor<4x512xf32> {
      ^bb0(%h: tensor<4x512xf32>):
        %f = math.tanh %h : tensor<4x512xf32>
        resid.yield %f : tensor<4x512xf32>
      }
      return %y : tensor<4x512xf32>
    }
    ```
    - Fires on a `post` block whose `skip_scale` is not 1.
    - Fires too on a `resid.add`, or on a block without a norm after its add, if a norm is the only reader of the sum
      a·x + B(f). The norm is an op of its own or belongs to a `post_shifted` block.
    - gamma, beta, gate and dropout stay as they are.
    - A constant alpha becomes a new constant. If alpha is an argument of the function, `@F_prepare` computes alpha·a
      ([prepared weights](prepare.md)).

    **Refuses**, with the reason:
    - a `skip_scale` that is not positive;
    - a sum that anything but the norm reads, and a norm whose statistics are read, since both scale with a;
    - an epsilon/a² or a branch_scale/a that would be infinite in the arithmetic type, or that would become 0 there;
    - an alpha that is neither a constant nor an argument of the function, and an argument of a function that is called.

    The pass does not look into `resid.add_norm`. Expand it first.

    Effect on rounding: x is no longer multiplied by a, and the branch is multiplied by branch_scale/a. The new scale
    and epsilon are computed in double, and rounded to the arithmetic type like ones that are written.
  }];
  let dependentDialects = ["::mlir::resid::ResidDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let options = [ReportOption<>];
}

def FoldLayerScale : Pass<"resid-fold-layer-scale", "::mlir::ModuleOp"> {
  let summary = "folds the gate and branch_scale of a branch into the linear layer that ends it";
  let description = [{
    Class: **exact in real arithmetic**.

    s·(g ⊙ (u·W + b)) = u·(W·diag(s·g)) + s·g ⊙ b. So if a branch ends in a linear layer, what scales the branch can
    become part of its weight and bias. This holds for a gate per feature (LayerScale), a gate of one number (ReZero),
    and `branch_scale`.

    Before and after:
    ```mlir
    func.func @before(%x: tensor<4x512xf32>, %u: tensor<4x2048xf32>, %w: tensor<2048x512xf32>,
                      %b: tensor<512xf32>, %gate: tensor<512xf32>) -> tensor<4x512xf32> {
      %zeros = arith.constant dense<0.0> : tensor<4x512xf32>
      %m = linalg.matmul ins(%u, %w : tensor<4x2048xf32>, tensor<2048x512xf32>)
          outs(%zeros : tensor<4x512xf32>) -> tensor<4x512xf32>
      %f = resid.add_bias %m, %b : tensor<4x512xf32>, tensor<512xf32>
      %y = resid.add %x, %f gate(%gate) : tensor<4x512xf32>, tensor<512xf32>
      return %y : tensor<4x512xf32>
    }

    // %w and %b are made by @after_prepare from the old %w, %b and %gate.
    func.func @after(%x: tensor<4x512xf32>, %u: tensor<4x2048xf32>,
                     %w: tensor<2048x512xf32> {resid.prepared = 0 : i64},
                     %b: tensor<512xf32> {resid.prepared = 1 : i64}) -> tensor<4x512xf32> {
      %zeros = arith.constant dense<0.0> : tensor<4x512xf32>
      %m = linalg.matmul ins(%u, %w : tensor<4x2048xf32>, tensor<2048x512xf32>)
          outs(%zeros : tensor<4x512xf32>) -> tensor<4x512xf32>
      %f = resid.add_bias %m, %b : tensor<4x512xf32>, tensor<512xf32>
      %y = resid.add %x, %f : tensor<4x512xf32>
      return %y : tensor<4x512xf32>
    }
    ```
    - Fires on `resid.add` and on `resid.block`. Linear layers are those of `resid-fold-norm-affine`. Here the output
      features are their last axis, and they start from zeros or from a bias.
    - Dropout may stand between layer and gate. Its mask does not depend on what it masks, and its scale is a number. So
      dropout commutes with a gate per feature.
    - Casts of the element type, and reshapes that keep the feature axis, may stand there too.
    - Constant weights become new constants. Otherwise `@F_prepare` computes them ([prepared weights](prepare.md)).
    - A weight that something else also reads stays as it is, and the layer gets a copy of its own.

    `skip_scale` acts on the other side of the add and stays. If a norm follows, `resid-fold-deepnorm` turns it into a
    `branch_scale` first.

    **Refuses**, with the place and the reason:
    - a gate per row or per element, such as drop path, since it is no weight;
    - anything but a linear layer right before the gate, dropout aside: an activation, or the norm of `branch_post` and
      `peri`;
    - a layer whose result, or a step after it, has another reader;
    - a layer that accumulates onto anything but zeros or a bias;
    - weights, bias or gate that are neither constants nor arguments of the function, and arguments of a function that
      is called.

    The pass does not look into `resid.add_norm`. Expand it first.

    Effect on rounding: the branch is no longer multiplied by gate and scale. Instead weight and bias are, and they are
    rounded once to their types.
  }];
  let dependentDialects = ["::mlir::resid::ResidDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let options = [ReportOption<>];
}

def FoldNormAffine : Pass<"resid-fold-norm-affine", "::mlir::ModuleOp"> {
  let summary = "folds gamma and beta of a norm into the linear layers that read it";
  let description = [{
    Class: **exact in real arithmetic**.

    (γ ⊙ x̂ + β)·W + b = x̂·(diag(γ)·W) + (b + β·W). So if only linear layers read a norm, its gamma and beta can become
    part of their weights and biases. The norm is left without parameters. If there is a beta and a layer has no bias,
    the layer gets one, as `resid.add_bias` where it is no `resid.linear`.

    Before and after:
    ```mlir
    func.func @before(%x: tensor<4x512xf32>, %gamma: tensor<512xf32>, %beta: tensor<512xf32>,
                      %w: tensor<512x2048xf32>, %zeros: tensor<4x2048xf32>) -> tensor<4x2048xf32> {
      %n = resid.layer_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5}
          : tensor<4x512xf32>, tensor<512xf32>, tensor<512xf32>
      %y = linalg.matmul ins(%n, %w : tensor<4x512xf32>, tensor<512x2048xf32>)
          outs(%zeros : tensor<4x2048xf32>) -> tensor<4x2048xf32>
      return %y : tensor<4x2048xf32>
    }

    // %w and %w_bias are made by @after_prepare from the old %w, %gamma and %beta.
    func.func @after(%x: tensor<4x512xf32>, %w: tensor<512x2048xf32> {resid.prepared = 1 : i64},
                     %zeros: tensor<4x2048xf32>,
                     %w_bias: tensor<2048xf32> {resid.prepared = 0 : i64}) -> tensor<4x2048xf32> {
      %n = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<4x512xf32>
      %m = linalg.matmul ins(%n, %w : tensor<4x512xf32>, tensor<512x2048xf32>)
          outs(%zeros : tensor<4x2048xf32>) -> tensor<4x2048xf32>
      %y = resid.add_bias %m, %w_bias : tensor<4x2048xf32>, tensor<2048xf32>
      return %y : tensor<4x2048xf32>
    }
    ```
    - The norm is `resid.layer_norm`, `resid.rms_norm`, `resid.dyt` or `resid.group_norm`. Or it belongs to a
      `resid.block`: right before its branch (`pre`, the first of `peri`), or at the end of a `post` block whose result
      only linear layers read.
    - A linear layer is `resid.linear`, `linalg.matmul`, `linalg.batch_matmul`, `linalg.contract`, or a `linalg.generic` of that form.
      Its indexing maps sum over the feature axis of the norm. Several layers may read one norm (query, key and value).
    - Before the layer, casts of the element type and reshapes that keep the feature axis may stand. Before its weight,
      casts, `linalg.transpose` and `linalg.broadcast` may stand if nothing else reads them.
    - The layer's bias is that of `resid.linear`, that of a `resid.add_bias`, that of an elementwise sum with one vector for all rows, or the
      value from which the contraction starts.
    - `zero_centered_gamma` folds 1+γ. `narrow_affine` folds too, and the rounding before γ goes with it. If another
      norm of the block has a gamma, `narrow_affine` stays for that one.
    - Constant weights become new constants. If a weight or a parameter is an argument of the function, `@F_prepare`
      computes the new weight ([prepared weights](prepare.md)).
    - A weight that something else also reads stays as it is, and the layer gets a copy of its own.
    - In a loop over layers, weights and parameters may be slices of stacks, all at the same index.

    **Refuses**, with the place and the reason:
    - a norm whose value anything but a linear layer reads, such as the residual add or the function's result;
    - a norm over several dimensions;
    - parameters, weights or a bias that are neither constants nor arguments of the function;
    - a beta if the layer's output features are not its last axis;
    - arguments of a function that is called, or whose `@F_prepare` would need a name that is taken.

    The pass does not look into `resid.add_norm`. Expand it first.

    Effect on rounding: γ and β are no longer rounded per row. Instead x̂ and the new weights are rounded, each once to
    its type. Weights are computed in f32 (in f64 beside f64), and constants in double.
  }];
  let dependentDialects = ["::mlir::resid::ResidDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let options = [ReportOption<>];
}

def CenterStream : Pass<"resid-center-stream", "::mlir::ModuleOp"> {
  let summary = "turns pre-LayerNorm into pre-RMSNorm by centring what writes to the stream";
  let description = [{
    Class: **exact in real arithmetic**. For inference only, since training would take another course.

    A layer norm first subtracts the mean of each row. If only layer norms read the stream, the mean of its rows has no
    effect. So everything that writes to the stream may write rows of mean zero instead. Subtracting the mean then does
    nothing, and each layer norm is an RMS norm with the same epsilon, gamma and beta. With P = I - 11ᵀ/D:
    - The stream that enters the stack is centred in the program: x·P = x - mean(x).
    - The last linear layer of each branch, y = h·W + b, becomes h·(W·P) + b·P. Each row of the weight, and the bias,
      loses its mean over the output features.
    - The norms of the blocks, the final norm, and the norm of a head that reads the stream in the middle become RMS
      norms.

    Before and after:
    ```mlir
    func.func @before(%x: tensor<4x512xf32>, %gamma: tensor<512xf32>, %beta: tensor<512xf32>,
                      %w: tensor<512x512xf32>) -> tensor<4x512xf32> {
      %zeros = arith.constant dense<0.0> : tensor<4x512xf32>
      %y = resid.block pre %x norm(layer gamma %gamma : tensor<512xf32> epsilon = 1.0e-5)
          : tensor<4x512xf32> {
      ^bb0(%h: tensor<4x512xf32>):
        %f = linalg.matmul ins(%h, %w : tensor<4x512xf32>, tensor<512x512xf32>)
            outs(%zeros : tensor<4x512xf32>)
            -> tensor<4x512xf32>
        resid.yield %f : tensor<4x512xf32>
      }
      %z = resid.layer_norm %y gamma(%gamma) beta(%beta) {epsilon = 1.0e-5}
          : tensor<4x512xf32>, tensor<512xf32>, tensor<512xf32>
      return %z : tensor<4x512xf32>
    }

    // %w is made by @after_prepare from the old %w.
    func.func @after(%x: tensor<4x512xf32>, %gamma: tensor<512xf32>, %beta: tensor<512xf32>,
                     %w: tensor<512x512xf32> {resid.prepared = 0 : i64}) -> tensor<4x512xf32> {
      %zeros = arith.constant dense<0.0> : tensor<4x512xf32>
      %n, %mean, %correction, %rstd = resid.layer_norm %x {epsilon = 1.0e-5}
          : tensor<4x512xf32> -> tensor<4x512xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
      %e = tensor.empty() : tensor<4x512xf32>
      %c = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                           affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%x, %mean, %correction : tensor<4x512xf32>, tensor<4xf32>, tensor<4xf32>)
          outs(%e : tensor<4x512xf32>) {
      ^bb0(%a: f32, %m: f32, %r: f32, %o: f32):
        %d = arith.subf %a, %m : f32
        %s = arith.subf %d, %r : f32
        linalg.yield %s : f32
      } -> tensor<4x512xf32>
      %y = resid.block pre %c norm(rms gamma %gamma : tensor<512xf32> epsilon = 1.0e-5)
          : tensor<4x512xf32> {
      ^bb0(%h: tensor<4x512xf32>):
        %f = linalg.matmul ins(%h, %w : tensor<4x512xf32>, tensor<512x512xf32>)
            outs(%zeros : tensor<4x512xf32>)
            -> tensor<4x512xf32>
        resid.yield %f : tensor<4x512xf32>
      }
      %z = resid.rms_norm %y gamma(%gamma) beta(%beta) {epsilon = 1.0e-5}
          : tensor<4x512xf32>, tensor<512xf32>, tensor<512xf32>
      return %z : tensor<4x512xf32>
    }
    ```
    - Works on stacks of `resid.block`, also on those that a `scf.for` carries. `resid-form-blocks` makes blocks of flat
      ops.
    - Skip and branch scales stay as they are. So does a gate of one number (ReZero), and a gate of one number per row
      (drop path).
    - In `peri` blocks the norm after the branch writes last. A layer norm without gamma is centred already.
    - Linear layers are found, and weights that are arguments are [prepared](prepare.md), as in
      `resid-fold-norm-affine`. A weight may be a slice of the weights of all layers (`tensor.extract_slice` at the
      counter of a loop). Then the weights of all layers are centred.
    - A weight that something else also reads, such as a tied embedding, stays as it is, and the writer gets a copy of
      its own.
    - Afterwards `resid-fold-norm-affine` finds the RMS norms.

    **Refuses**, with the place and the reason:
    - dropout between branch and stream, since it drops single elements; `resid-inference` removes it;
    - a gate per feature (LayerScale), which `resid-fold-layer-scale` folds, and a gate per element;
    - a reader of the stream that is no layer norm over the last dimension: a branch in `post`, `branch_post` or `none`,
      a head, the function's result, a norm of another kind, or a norm whose statistics are used;
    - a writer to the stream that is no linear layer: another op, or a norm with gamma after the branch;
    - weights and biases that are neither constants nor arguments of the function.

    Effect on rounding: stream and weights are rounded after their mean is gone. In a narrow stream (bf16) the rounding
    of each sum leaves a small mean of its own. Layer norms would take it out, and RMS norms keep it.
  }];
  let dependentDialects = ["::mlir::resid::ResidDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let options = [ReportOption<>];
}

def PackWeights : Pass<"resid-pack-weights", "::mlir::ModuleOp"> {
  let summary = "keeps the weights of contractions in panels, as the kernels read them";
  let description = [{
    Class: **bit-exact**.

    A kernel reads a weight in panels of columns, and packs it into scratch memory in every call. This pass moves the
    packing into `@F_prepare` ([prepared weights](prepare.md)), so that it is done once. Constants are packed here.

    Before and after:
    ```mlir
    func.func @before(%x: tensor<?x40xf32>, %w: tensor<40x32xf32> {resid.weight = "w"},
                      %init: tensor<?x32xf32>) -> tensor<?x32xf32> {
      %y = linalg.matmul ins(%x, %w : tensor<?x40xf32>, tensor<40x32xf32>)
          outs(%init : tensor<?x32xf32>) -> tensor<?x32xf32>
      return %y : tensor<?x32xf32>
    }

    func.func @after(%x: tensor<?x40xf32>, %w: tensor<2x40x16xf32> {resid.prepared = 0 : i64},
                     %init: tensor<?x32xf32>) -> tensor<?x32xf32> {
      %0 = tensor.empty() : tensor<40x32xf32>
      %1 = linalg.unpack %w outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [16] into %0
          : tensor<2x40x16xf32> -> tensor<40x32xf32>
      %y = linalg.matmul ins(%x, %1 : tensor<?x40xf32>, tensor<40x32xf32>)
          outs(%init : tensor<?x32xf32>) -> tensor<?x32xf32>
      return %y : tensor<?x32xf32>
    }
    func.func @after_prepare(%w: tensor<40x32xf32> {resid.weight = "w"}) -> tensor<2x40x16xf32> {
      %0 = tensor.empty() : tensor<2x40x16xf32>
      %1 = linalg.pack %w outer_dims_perm = [1, 0]
          inner_dims_pos = [1] inner_tiles = [16] into %0 : tensor<40x32xf32> -> tensor<2x40x16xf32>
      return %1 : tensor<2x40x16xf32>
    }
    ```
    The panels of a weight with N columns are `tensor<ceil(N/16)xKx16>`; of bf16 they are
    `tensor<ceil(N/16)xceil(K/2)x16x2>`, since pairs of rows are neighbours there. Up to 24 columns are one panel of 8, 16 or 24
    columns. Missing elements are 0, and are never used.
    They are the same for every processor. The `linalg.unpack` costs nothing: the kernel reads the panels.

    - Fires on arguments marked `resid.weight`, on those that `@F_prepare` makes already, and on constants.
    - Such a weight has two static dimensions. All that reads it are `resid.linear`, `resid.project` and contractions that sum over one of them, and have the
      other as the last dimension of their result. So weights `[in, out]` and `[out, in]` are taken alike. Transposes, broadcasts
      and casts to a wider type may stand between.
    - Run it last: other passes do not look into panels.

    **Refuses**, with the reason:
    - a weight that anything else reads, or that is accumulated onto;
    - contractions that sum over more than one loop, or, of one weight, over different dimensions;
    - a weight of fewer than 4 columns, whose panels would be mostly empty;
    - a function that is called.

    A weight that is a slice of a stack stays as it is. So does a constant whose elements are all equal.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [ReportOption<>];
}

def QuantizeLinear : Pass<"resid-quantize-linear", "::mlir::ModuleOp"> {
  let summary = "gives linear layers weights of 8 or 4 bits, and rows of 8";
  let description = [{
    Class: **other values**. A layer has the error of rounding its weight, and with w8a8 its rows, to integers.

    `scheme` says which integers. Each weight becomes them once: in `@F_prepare`
    ([prepared weights](prepare.md)), by `resid.quantize`.
    - `w8a8`: weights of 8 bits with a scale for each output feature. Rows become integers with a scale for each row where
      they are multiplied, in the kernel of the norm or activation before, where there is one. Layers that read the same
      rows share them.
    - `w8`: weights of 8 bits with a scale for each output feature. Rows stay as they are.
    - `w8gN`, such as `w8g128`: with a scale for each group of N input features. N is even.
    - `w4` and `w4gN`: weights of 4 bits. They need `given`.

    With `given`, whoever calls the function gives the integers in place of the weight, and the scales as a new weight at
    the end. Its names are those of the weight and `_scale`. There is no `@F_prepare` for them. So the integers come from a
    file, as `resid quantize` ([tools](tools.md#resid-quantize)) writes it.

    With `factors`, the columns of rows are multiplied by numbers before they become integers, and whoever gives the
    integers has divided the columns of the weights by them: then no column is much larger than the others. `factors` names
    one of the weights that are read with the same rows. The numbers are a new weight, `[in]` of f32, with the names of
    that one and `_factor`.

    With `observe`, layers stay as they are. The rows that they read become results of the function.

    With either, the module attribute `resid.quantized` has a dictionary for each weight: `function`, `argument` (its
    number), `weight` (its name in a file), `shape`, `element`, and either `kept` (the reason), or `bits`, `scale_shape`, and
    `transposed`: whether the weight was `[in, out]`. With `observe` there are `rows`, the
    results that rows have become, and `norm`, the names of the parameters of the norm that makes these rows for such layers
    alone, or `not_smoothed`, why there is none.

    Before and after:
    ```mlir
    func.func @before(%x: tensor<?x64xf32>, %w: tensor<32x64xf32> {resid.weight = "w"})
        -> tensor<?x32xf32> {
      %y = resid.linear %x, %w : tensor<?x64xf32>, tensor<32x64xf32>
      return %y : tensor<?x32xf32>
    }

    func.func @after(%x: tensor<?x64xf32>, %w: tensor<32x64xi8> {resid.prepared = 0 : i64},
                     %w_scale: tensor<32xf32> {resid.prepared = 1 : i64}) -> tensor<?x32xf32> {
      %q, %scale = resid.quantize %x {granularity = row} : tensor<?x64xf32>
      %y = resid.linear %q, %w x_scale(%scale) weight_scale(%w_scale)
          : tensor<?x64xi8>, tensor<32x64xi8>, tensor<?xf32>, tensor<32xf32>
      return %y : tensor<?x32xf32>
    }
    func.func @after_prepare(%w: tensor<32x64xf32> {resid.weight = "w"})
        -> (tensor<32x64xi8>, tensor<32xf32>) {
      %q, %scale = resid.quantize %w {granularity = row} : tensor<32x64xf32>
      return %q, %scale : tensor<32x64xi8>, tensor<32xf32>
    }
    ```

    - Fires on arguments marked `resid.weight`, and on those that `@F_prepare` makes already.
    - `keep` names arguments that stay as they are, such as those of a head, by either of their names.
    - A weight of `[in, out]` is transposed first, since integers are `[out, in]`.
    - With `keep-heads`, a layer whose result the function returns stays as it is.
    - Run `resid-pack-weights` after it.

    **Refuses**, with the reason:
    - a weight that anything but a `resid.linear` reads, and one of f64 or beside f64;
    - a weight that one layer reads as `[out, in]` and another as `[in, out]`;
    - with `w8a8`, a weight of more than 131,071 input features;
    - with the other schemes, input features that are not a multiple of the group, or not even;
    - a function that is called.

    A weight that is a slice of a stack stays as it is.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"schemeName", "scheme", "std::string", "\"w8a8\"", "w8a8, w8, w8gN, w4 or w4gN">,
    Option<"given", "given", "bool", "false", "the integers come as arguments, and @F_prepare makes none">,
    Option<"observe", "observe", "bool", "false", "return the rows of layers, and rewrite nothing">,
    Option<"keepHeads", "keep-heads", "bool", "false", "layers whose result the function returns stay as they are">,
    ListOption<"keep", "keep", "std::string", "names of arguments that stay as they are">,
    ListOption<"factors", "factors", "std::string", "names in a file of weights whose layers' rows have factors">,
    ReportOption<>];
}

#endif
