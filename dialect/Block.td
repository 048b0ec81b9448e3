// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Block: one residual sub-layer as one op. What a placement means stands in Placement.cpp, the text in
// BlockAssembly.cpp.

#ifndef RESID_DIALECT_BLOCK
#define RESID_DIALECT_BLOCK

include "dialect/ResidBase.td"
include "dialect/NormKinds.td"
include "dialect/Placement.td"
include "dialect/QuantizedResult.td"
include "mlir/IR/AttrTypeBase.td"

def Resid_PlacementAttr : EnumAttr<Resid_Dialect, Resid_Placement, "placement">;

def Resid_NormAttr : AttrDef<Resid_Dialect, "Norm"> {
  let mnemonic = "norm";
  let summary = "one norm of a block, without its parameters";
  let description = [{
    The kind of the norm, the numbers of its formula, and which of the operands alpha, gamma and beta it has. Alpha is
    there exactly for dyt.
  }];
  let parameters = (ins EnumParameter<Resid_NormKind>:$kind, OptionalParameter<"::mlir::FloatAttr">:$epsilon,
                        OptionalParameter<"::mlir::UnitAttr">:$gamma, OptionalParameter<"::mlir::UnitAttr">:$beta,
                        OptionalParameter<"::mlir::UnitAttr">:$zero_centered_gamma,
                        DefaultValuedParameter<"int64_t", "1">:$norm_rank,
                        OptionalParameter<"::mlir::IntegerAttr">:$groups);
  let assemblyFormat = "`<` struct(params) `>`";
}
def Resid_NormArrayAttr : TypedArrayAttrBase<Resid_NormAttr, "norms of a block">;

def Resid_BlockOp : Resid_BaseOp<"block", [AttrSizedOperandSegments, SingleBlock,
                                           DeclareOpInterfaceMethods<Resid_QuantizedResultOpInterface,
                                                                     ["getUnquantizedTypes"]>,
                                           DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
                                           RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let summary = "one residual sub-layer: a branch, its norm, and the add back into the stream";
  let description = [{
    One sub-layer of a Transformer. The region of the op is the branch, for example an attention or an MLP. The
    placement says where the norm stands.

    **Formula.** x is the stream, f the branch, N the norm, and a the `skip_scale`, or the value `skip`.
    `B(u) = branch_scale·(gate ⊙ dropout(u))` is applied to what the branch adds to the stream: f, or the norm after f.
    With `also`, its operand, times its scale, is added after B.

    | placement | result |
    |---|---|
    | `post` | N(a·x + B(f(x))) |
    | `pre` | a·x + B(f(N(x))) |
    | `branch_post` | a·x + B(N(f(x))) |
    | `peri` | a·x + B(N₂(f(N₁(x)))) |
    | `post_shifted` | h = N(x); a·h + B(f(h)) |
    | `none` | a·x + B(f(x)) |

    **Several streams.** The clause `streams` says how the sub-layer is connected to n residual streams: its input is
    read from them, and what it adds is written into all of them while they are mixed. Then x is `[…, n, D]`, one row
    of it is `[…, D]`, and a row goes through norms, branch, dropout and B:

    | placement | result |
    |---|---|
    | `pre` | write(x, B(f(N(read(x))))) |
    | `branch_post` | write(x, B(N(f(read(x))))) |
    | `peri` | write(x, B(N₂(f(N₁(read(x)))))) |
    | `none` | write(x, B(f(read(x)))) |

    read is [`resid.read`](read.md) with the weights after `read` and the scale `read_scale`. write is
    [`resid.write`](write.md) with the weights after `write` and the mix after `mix`. `post` and `post_shifted` would
    normalise the streams themselves. A norm of each stream does not commute with the read, so they are refused for
    n > 1. A stack on several streams ends in a `resid.read`, its *head*, and the final norm comes after that.

    Blocks that follow each other on one stream are a *stack*. After a stack of `pre`, `branch_post`, `peri` or
    `post_shifted` blocks, the stream is not normalised, so a program needs a final norm there.

    **Operands, region and result.**
    - `x`, the stream: `[…, D]`, of f16, bf16, f32 or f64. Every dimension may be dynamic.
    - `norm(…)`: one clause per norm of the placement. For `peri` they are N₁, then N₂. The table below lists the
      parts of a clause.
    - `narrow_affine`: unit attribute, which holds for every norm of the block.
    - `dropout(p, site n, seed %s, step %t, origin %row %site %col, extent %local %global)`, optional: `resid.dropout`
      on the branch. Its origin, the column in it, and its extent are optional too.
    - `gate(%g : type)`, `skip(%s : type)`, `also(%x0 scale %l : type)`, `skip_scale`, `branch_scale`, optional: as in
      `resid.add`. `also` has the type of `x`, which is not written.
    - `streams(read %a, write %b, mix %C)`, optional, each part too, with the type after each value: how the sub-layer is
      connected to several streams. Without a part, `resid.read` and `resid.write` do without it: streams are added,
      each stream gets all of the branch, and streams are not mixed.
    - `read_scale`, optional: the scale of the read.
    - the region: it has one argument, which is the branch's input, and one `resid.yield`, which is its output. It may
      read values from outside, for example weights, or what a cross-attention attends to. With `streams` both are one
      row, `[…, D]`.
    - result: the type of `x`, or i8 (`-> tensor<…xi8>, tensor<…xf32>`). With i8, the op is the block with a result of the
      type of `x`, and then [`resid.quantize`](quantize.md). The scale is the second result, unless it is an operand.
    - `quantize(row)`, `quantize(tensor)` or `quantize(group G)`, optional, before the attributes: what shares a scale, by
      default a row. A scale that was found before is an operand: `quantize(tensor scale %s : tensor<f32>)`.

    | part of `norm(…)`, in order | kinds that have it | meaning as in |
    |---|---|---|
    | `layer`, `rms`, `l2`, `dyt` or `group` | all: this is the kind | |
    | `alpha` | dyt | `resid.dyt` |
    | `gamma`, `beta` | all, optional | `resid.layer_norm` |
    | `epsilon` | layer, rms, l2, group | `resid.layer_norm`, `resid.l2_norm` |
    | `zero_centered_gamma` | all, optional | `resid.layer_norm` |
    | `norm_rank` | all but group, optional | `resid.layer_norm` |
    | `groups` | group | `resid.group_norm` |

    **Constraints.**
    - `block.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at most
      2^47 bytes. `x` has rank 1 or more, and the result has its type, unless it is of i8.
    - `block.C2`: there are as many norms as the placement has.
    - `block.C3`: the number of norm parameters is that of the alphas, gammas and betas that the clauses name.
    - `block.C4`: epsilon is given for layer, rms, l2 and group, and not for dyt. It is finite and not negative in the
      arithmetic type. A positive epsilon must not become 0 there.
    - `block.C5`: alpha has rank 0. At least 1 dimension is normalised, and at most all are. Gamma and beta agree with
      the last dimensions of `x`. Beta is given only with gamma. `norm_rank`
      may be left out. Written beside a gamma, it must equal the rank of gamma.
    - `block.C6`: `zero_centered_gamma` is given only with gamma, and `narrow_affine` only where a norm has a gamma.
    - `block.C7`: `seed`, `step`, `p` and `site` are given together, and the origin only with them. p is in [0, 1],
      and site in [0, 2^32). The static sizes amount to at most 2^32 rows and 2^35 columns.
    - `block.C8`: gate, skip, `also` and both scales hold to `add.C4`, `add.C5`, `add.C6`, `add.C7` and `add.C8`.
    - `block.C9`: norm parameters are of f64 only where `x` is.
    - `block.C10`: the region has one argument, of the shape of `x`. Its element type is that of `x`. In `pre` and
      `peri` it may be narrower, since the norm before the branch may round its result to it.
    - `block.C11`: the region ends in `resid.yield` of the type of `x`. If your branch computes
      a narrower type, widen it with `arith.extf` before.
    - `block.C12`: `groups` is given for group and for no other kind. It is of i64, and holds to `group_norm.C4`.
      Gamma then has rank 1, and `norm_rank` is left out.
    - `block.C13`: the origin's column and the extent hold to `dropout.C7`, `dropout.C8` and `dropout.C9`.
    - `block.C14`: weights of the read, weights of the write, the mix and `read_scale` are given only with `streams`. They
      hold to `read.C2`, `read.C3`, `read.C5`, `read.C6`, `write.C4`, `write.C5` and `write.C8`. What is said above of
      the shape of `x` holds with `streams` for one row.
    - `block.C15`: with `streams`, the placement is `pre`, `branch_post`, `peri` or `none`, unless there is one stream.
    - `block.C16`: with `streams`, `skip_scale` is 1, and there is no `skip` and no `also`, since the mix says what is
      kept of a stream.
    - `block.C17`: with a result of i8, `x` is of f16, bf16 or f32, and the types of the results are those of
      `resid.quantize`. Granularity and scale hold to `quantize.C2` and `quantize.C3`. The clause `quantize` is written
      with such a result only.

    **Not allowed.** The clause `dropout` acts right before the add only: on the branch's output, or on the norm
    after it. Write dropout inside of the branch, for example on attention weights, as a `resid.dropout` in the
    region.

    **Gradient.** That of the single ops that the block expands to (see Rounding).

    **Rounding.** As in the expansion: the pass `resid-expand-blocks` writes the block as single ops, and each rounds
    as its own page says. Beside `streams`, what B makes of a row is rounded once more than without, to the type of the
    row: `gate·u`, then `branch_scale` times that, then the rounding. Without a gate and a scale nothing is rounded.

    **Example.**
    ```mlir
    func.func @block(%x: tensor<?x768xf32>, %w: tensor<768x768xf32>, %g: tensor<768xf32>,
                     %b: tensor<768xf32>, %gate: tensor<768xf32>, %seed: i64, %step: i64)
        -> tensor<?x768xf32> {
      %y = resid.block post %x
             norm(layer gamma %g : tensor<768xf32> beta %b : tensor<768xf32> epsilon = 1.0e-5)
             dropout(0.1, site 3, seed %seed, step %step) gate(%gate : tensor<768xf32>)
             {skip_scale = 1.2}
             : tensor<?x768xf32> {
      ^bb0(%h: tensor<?x768xf32>):
        %f = math.absf %h : tensor<?x768xf32>
        resid.yield %f : tensor<?x768xf32>
      }
      return %y : tensor<?x768xf32>
    }
    // Learned factors on the stream and on the input of the model.
    func.func @learned(%x: tensor<?x768xf32>, %input: tensor<?x768xf32>, %g: tensor<768xf32>,
                       %s: tensor<f32>, %l: tensor<f32>) -> tensor<?x768xf32> {
      %y = resid.block pre %x norm(rms gamma %g : tensor<768xf32> epsilon = 1.0e-6)
             skip(%s : tensor<f32>) also(%input scale %l : tensor<f32>)
             : tensor<?x768xf32> {
      ^bb0(%h: tensor<?x768xf32>):
        %f = math.absf %h : tensor<?x768xf32>
        resid.yield %f : tensor<?x768xf32>
      }
      return %y : tensor<?x768xf32>
    }
    // The same dropout for positions %first to %first + 128 of sequences of 512.
    func.func @shard(%x: tensor<?x128x768xf32>, %seed: i64, %step: i64, %first: i64)
        -> tensor<?x128x768xf32> {
      %zero = arith.constant 0 : i64
      %local = arith.constant 128 : i64
      %global = arith.constant 512 : i64
      %y = resid.block none %x
             dropout(0.1, site 3, seed %seed, step %step,
                     origin %first %zero, extent %local %global)
             : tensor<?x128x768xf32> {
      ^bb0(%h: tensor<?x128x768xf32>):
        %f = math.absf %h : tensor<?x128x768xf32>
        resid.yield %f : tensor<?x128x768xf32>
      }
      return %y : tensor<?x128x768xf32>
    }
    // Four streams, with weights and a mix for each row.
    func.func @streams(%x: tensor<?x4x768xf32>, %g: tensor<768xf32>, %a: tensor<?x4x1xf32>,
                       %b: tensor<?x4x1xf32>, %mix: tensor<?x4x4xf32>) -> tensor<?x4x768xf32> {
      %y = resid.block pre %x norm(rms gamma %g : tensor<768xf32> epsilon = 1.0e-6)
             streams(read %a : tensor<?x4x1xf32>, write %b : tensor<?x4x1xf32>,
                     mix %mix : tensor<?x4x4xf32>)
             : tensor<?x4x768xf32> {
      ^bb0(%h: tensor<?x768xf32>):
        %f = math.absf %h : tensor<?x768xf32>
        resid.yield %f : tensor<?x768xf32>
      }
      return %y : tensor<?x4x768xf32>
    }
    ```
  }];
  let arguments = (ins Resid_PlacementAttr:$placement, Resid_Rows:$x, Variadic<Resid_Tensor>:$norm_parameters,
                       Optional<I64>:$seed, Optional<I64>:$step, Optional<I64>:$origin_row, Optional<I64>:$origin_site,
                       Optional<I64>:$origin_col, Optional<I64>:$extent_local, Optional<I64>:$extent_global,
                       Optional<Resid_Tensor>:$gate, Optional<Resid_Tensor>:$skip, Optional<Resid_Rows>:$also,
                       Optional<Resid_Tensor>:$also_scale, Optional<Resid_Tensor>:$read_weights,
                       Optional<Resid_Tensor>:$write_weights, Optional<Resid_Tensor>:$mix, Optional<Resid_Scales>:$static_scale,
                       Resid_NormArrayAttr:$norms, // block.C1
                       OptionalAttr<Resid_F64Attr>:$p, OptionalAttr<Resid_I64Attr>:$site,
                       DefaultValuedAttr<Resid_F64Attr, "1.0">:$skip_scale,
                       DefaultValuedAttr<Resid_F64Attr, "1.0">:$branch_scale,
                       UnitAttr:$narrow_affine, UnitAttr:$streams,
                       DefaultValuedAttr<Resid_F64Attr, "1.0">:$read_scale,
                       OptionalAttr<Resid_GranularityAttr>:$granularity, OptionalAttr<Resid_I64Attr>:$group);
  let results = (outs Resid_FloatsOrBytes:$result, Optional<Resid_Scales>:$scale); // block.C1
  let regions = (region SizedRegion<1>:$branch);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether the dropout clause is there.
    bool hasDropout() { return static_cast<bool>(getSeed()); }
    /// What goes through norms, branch and dropout: x, or with the clause streams, x without the dimension of streams.
    /// Requires block.C14.
    ::mlir::RankedTensorType getRowType();
  }];
}

def Resid_YieldOp : Resid_Op<"yield", [Terminator, HasParent<"BlockOp">]> {
  let summary = "the output of a block's branch";
  let description = [{
    Ends the region of a `resid.block`.

    **Operands.** `branch`: of the type of the stream, or beside the clause `streams` of one row (`block.C11`).

    **Example.**
    ```mlir
    func.func @yield(%x: tensor<?x768xf32>) -> tensor<?x768xf32> {
      %y = resid.block none %x : tensor<?x768xf32> {
      ^bb0(%h: tensor<?x768xf32>):
        %f = math.tanh %h : tensor<?x768xf32>
        resid.yield %f : tensor<?x768xf32>
      }
      return %y : tensor<?x768xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$branch);
  let assemblyFormat = "$branch attr-dict `:` type($branch)";
}

#endif
