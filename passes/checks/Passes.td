// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks of residual streams.

#ifndef RESID_PASSES_CHECKS_PASSES
#define RESID_PASSES_CHECKS_PASSES

include "passes/PassOptions.td"

def CheckStream : Pass<"resid-check-stream", "::mlir::ModuleOp"> {
  let summary = "warns about what the field knows as mistakes around a residual stream";
  let description = [{
    Class: **bit-exact**; nothing is rewritten.

    Emits a warning for each mistake, with its place and, as a note, the mend. Blocks, flat ops and fused ones are all
    read. `residc` runs this pass on every program as it is written; its flag `--werror` makes the warnings errors.

    **Dropout after the residual add.** It drops elements of the stream, not of the branch.
    ```mlir
    %s = resid.add %x, %f : tensor<?x768xf32>
    %d = resid.dropout %s seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x768xf32>
    ```
    Silent where another op carries the sum on (then a branch has dropout on its input), where the sum is that of
    embeddings and goes into a stack, and on the normalised end of a post-norm stack, which a head may drop from.

    **A stack without a final norm.** A stack of two sub-layers or more, or in a loop, whose last placement wants a
    final norm (flat ops as `resid-form-blocks` reads them), and the stream leaves it as a result of a public function that nobody calls, or into a linear layer.
    Silent where somebody who reads the stream normalises it, carries it on, is a function without a body, or computes
    anything else with it. Silent too for one layer, whose caller has the final norm: at most three sub-layers without a
    loop (self-attention, cross-attention, feed-forward), from an argument of the function to its result.

    **A norm on the skip path.** x' = N(x) + f(x): the stream is normalised, the branch reads it as it was. Silent where
    the branch reads N(x) (post-norm, `post_shifted`).

    **One mask twice.** Two dropouts with the same site, seed, step and origin, also in functions that are called, and
    one dropout in every iteration of a loop. Sites, origins and what makes them are followed through sums and
    products with constants: with the origin's site at `%i` and the sites 0 and 1 in one body, site 1 of one iteration is
    site 0 of the next. Silent in branches of which one runs, where p rounds to 0 or 1, and where a value is computed
    otherwise.
    ```mlir
    %a = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x768xf32>
    %b = resid.dropout %g seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x768xf32>
    ```

    **A branch that does not depend on the stream.** A block whose region reads neither its argument nor the stream, now
    or earlier; flat, a branch that calls or linear algebra compute after a first sub-layer in the same function without
    the stream. Silent where the branch is an argument of the function, as it is: a kernel may take it from its caller.

    Effect on rounding: none.
  }];
}

#endif
