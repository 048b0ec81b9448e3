// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Block: one residual sub-layer as one op. What a placement means stands in Placement.cpp, the text in
// BlockAssembly.cpp.

#ifndef RESID_DIALECT_BLOCK
#define RESID_DIALECT_BLOCK

include "dialect/ResidBase.td"
include "dialect/NormKinds.td"
include "mlir/IR/AttrTypeBase.td"

def Resid_Placement : I32EnumAttr<"Placement", "where the norm stands in a residual sub-layer", [
  I32EnumAttrCase<"Post", 0, "post">, I32EnumAttrCase<"Pre", 1, "pre">,
  I32EnumAttrCase<"BranchPost", 2, "branch_post">, I32EnumAttrCase<"Peri", 3, "peri">,
  I32EnumAttrCase<"PostShifted", 4, "post_shifted">, I32EnumAttrCase<"None", 5, "none">]> {
  let cppNamespace = "::mlir::resid";
  let genSpecializedAttr = 0;
}
def Resid_PlacementAttr : EnumAttr<Resid_Dialect, Resid_Placement, "placement">;

def Resid_NormAttr : AttrDef<Resid_Dialect, "Norm"> {
  let mnemonic = "norm";
  let summary = "one norm of a block, without its parameters";
  let description = [{
    The kind, what goes into the formula beside the operands, and which of the operands alpha (exactly for dyt), gamma and
    beta there are.
  }];
  let parameters = (ins EnumParameter<Resid_NormKind>:$kind, OptionalParameter<"::mlir::FloatAttr">:$epsilon,
                        OptionalParameter<"::mlir::UnitAttr">:$gamma, OptionalParameter<"::mlir::UnitAttr">:$beta,
                        OptionalParameter<"::mlir::UnitAttr">:$zero_centered_gamma,
                        DefaultValuedParameter<"int64_t", "1">:$norm_rank,
                        OptionalParameter<"::mlir::IntegerAttr">:$groups);
  let assemblyFormat = "`<` struct(params) `>`";
}
def Resid_NormArrayAttr : TypedArrayAttrBase<Resid_NormAttr, "norms of a block">;

def Resid_BlockOp : Resid_BaseOp<"block", [AttrSizedOperandSegments, AllTypesMatch<["x", "result"]>, SingleBlock,
                                           RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let summary = "one residual sub-layer: a branch, its norm where the placement says, and the way back into the stream";
  let description = [{
    A sub-layer of a Transformer. The branch is the region; where the norm stands is an attribute.

    **Formula.** With x the stream, f the branch, N the norm, a = `skip_scale` and
    `B(u) = branch_scale·(gate ⊙ dropout(u))`:

    | placement | result |
    |---|---|
    | `post` | N(a·x + B(f(x))) |
    | `pre` | a·x + B(f(N(x))) |
    | `branch_post` | a·x + B(N(f(x))) |
    | `peri` | a·x + B(N₂(f(N₁(x)))) |
    | `post_shifted` | h = N(x); a·h + B(f(h)) |
    | `none` | a·x + B(f(x)) |

    `pre`, `branch_post`, `peri` and `post_shifted` want a final norm after the last block of a stack.

    **Operands, region and result.**
    - `x`, the stream: `[…, D]`, f16, bf16, f32 or f64; every dimension may be dynamic.
    - one `norm(…)` clause per norm of the placement, for `peri` N₁ then N₂: the kind, `alpha` (dyt), `gamma` and `beta`
      where there are any, `epsilon` (layer, rms, group), then `zero_centered_gamma` and `norm_rank` as in
      `resid.layer_norm`, and `groups` as in `resid.group_norm`.
      `narrow_affine` holds for every norm of the block.
    - `dropout(p, site n, seed %s, step %t, origin %row %site)`: as `resid.dropout`, on the branch; origin is optional.
    - `gate`: as in `resid.add`.
    - the region: one argument, the branch's input, and one `resid.yield`, its output. It may read values from above:
      weights, or what a cross-attention attends to.
    - result: the type of `x`.

    **Constraints.**
    - `block.C1`: tensors are ranked, of f16, bf16, f32 or f64, carry no encoding and hold at most 2^47 bytes; `x` has
      rank 1 or more, and the result has its type.
    - `block.C2`: there are as many norms as the placement has.
    - `block.C3`: there are as many norm parameters as the norms name.
    - `block.C4`: epsilon is given exactly for layer, rms and group; it is finite and not negative in the arithmetic type,
      and a non-zero epsilon is not zero there.
    - `block.C5`: alpha has rank 0; between 1 and all dimensions are normalised, and gamma and beta agree with the last
      ones; beta is given only with gamma; beside a gamma, and for dyt, `norm_rank` is left out or is gamma's rank.
    - `block.C6`: `zero_centered_gamma` is given only with gamma, `narrow_affine` only where a norm has a gamma.
    - `block.C7`: `seed`, `step`, `p` and `site` are given together, and the origin only with them; p is in [0, 1], site
      in [0, 2^32), and the static sizes amount to at most 2^32 rows and 2^35 columns.
    - `block.C8`: the gate broadcasts as in `add.C5`; both scales are finite in the arithmetic type.
    - `block.C9`: norm parameters and gate are of f64 only where `x` is.
    - `block.C10`: the region has one argument, of the shape of `x` and its element type; where a norm stands right
      before the branch (`pre`, `peri`), its element type may be narrower: the norm's result is.
    - `block.C11`: the region ends in `resid.yield` of the type of `x`; a narrower branch is yielded through `arith.extf`.
    - `block.C12`: `groups` is given exactly for group, of i64, and is as in `group_norm.C4`; gamma then has rank 1, and
      `norm_rank` is left out.

    **Not allowed.** Dropout inside the branch, on attention weights say, is no clause but an op of the region.

    **Gradient.** That of the expansion.

    **Rounding.** That of the expansion (`resid-expand-blocks`), which names every op.

    **Example.**
    ```mlir
    func.func @block(%x: tensor<?x768xf32>, %w: tensor<768x768xf32>, %g: tensor<768xf32>, %b: tensor<768xf32>,
                     %gate: tensor<768xf32>, %seed: i64, %step: i64) -> tensor<?x768xf32> {
      %y = resid.block post %x norm(layer gamma %g : tensor<768xf32> beta %b : tensor<768xf32> epsilon = 1.0e-5)
             dropout(0.1, site 3, seed %seed, step %step) gate(%gate : tensor<768xf32>) {skip_scale = 1.2}
             : tensor<?x768xf32> {
      ^bb0(%h: tensor<?x768xf32>):
        %f = math.absf %h : tensor<?x768xf32>
        resid.yield %f : tensor<?x768xf32>
      }
      return %y : tensor<?x768xf32>
    }
    ```
  }];
  let arguments = (ins Resid_PlacementAttr:$placement, Resid_Rows:$x, Variadic<Resid_Tensor>:$norm_parameters,
                       Optional<I64>:$seed, Optional<I64>:$step, Optional<I64>:$origin_row, Optional<I64>:$origin_site,
                       Optional<Resid_Tensor>:$gate, Resid_NormArrayAttr:$norms, // block.C1
                       OptionalAttr<Resid_F64Attr>:$p, OptionalAttr<I64Attr>:$site,
                       DefaultValuedAttr<Resid_F64Attr, "1.0">:$skip_scale,
                       DefaultValuedAttr<Resid_F64Attr, "1.0">:$branch_scale,
                       UnitAttr:$narrow_affine);
  let results = (outs Resid_Rows:$result); // block.C1
  let regions = (region SizedRegion<1>:$branch);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether the dropout clause is there.
    bool hasDropout() { return static_cast<bool>(getSeed()); }
  }];
}

def Resid_YieldOp : Resid_Op<"yield", [Terminator, HasParent<"BlockOp">]> {
  let summary = "the output of a block's branch";
  let description = [{
    Ends the region of a `resid.block`.

    **Operands.** `branch`: of the stream's type (`block.C11`).

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
