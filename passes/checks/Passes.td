// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks of residual streams.

#ifndef RESID_PASSES_CHECKS_PASSES
#define RESID_PASSES_CHECKS_PASSES

include "passes/PassOptions.td"

def CheckStream : Pass<"resid-check-stream", "::mlir::ModuleOp"> {
  let summary = "warns about common mistakes around a residual stream, and about sums that nobody began";
  let description = [{
    Class: **bit-exact**; nothing is rewritten.

    Emits a warning for each mistake, with its place. A note says how to mend it. The pass reads blocks, flat ops and
    fused ops. `residc` runs it on every program as it is written, and its flag `--werror` turns the warnings into
    errors.

    **Dropout after the residual add.** It drops elements of the stream, not of the branch.
    ```mlir
    %s = resid.add %x, %f : tensor<?x768xf32>
    %d = resid.dropout %s seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x768xf32>
    ```
    Silent in these cases:
    - Another op carries the sum on. Then this is a branch with dropout on its input.
    - The sum is that of embeddings and goes into a stack.
    - The dropout stands on the normalised end of a post-norm stack, where a head may drop.

    **A stack without a final norm.** The stack has two sub-layers or more, or stands in a loop, and its last placement
    wants a final norm. Flat ops count as `resid-form-blocks` reads them. The stream leaves the stack as a result of a
    public function that nobody calls, or into a linear layer. Silent in these cases:
    - A reader of the stream normalises it, carries it on, is a function without a body, or computes anything else with
      it.
    - The function is one layer, whose caller has the final norm. That is at most three sub-layers without a loop
      (self-attention, cross-attention, feed-forward), from an argument of the function to its result.

    **A norm on the skip path.** In x' = N(x) + f(x) the skip path is normalised, and the branch reads the stream
    without the norm. Silent where the branch reads N(x) (post-norm, `post_shifted`).

    **One mask twice.** Two dropouts, those of `resid.attention` among them, have the same site, seed, step, origin and
    extent, also across functions that are called. Or one dropout has the same mask in every iteration of a loop. They
    are followed through sums and products with constants. For example, the origin's site may be `%i`, and the
    sites 0 and 1 may stand in one body. Then site 1 of one iteration is site 0 of the next. Silent in branches of which
    only one runs, where p rounds to 0 or 1, and where a value is computed in another way.
    ```mlir
    %a = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x768xf32>
    %b = resid.dropout %g seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x768xf32>
    ```

    **A branch that does not depend on the stream.** The region of a block reads neither its argument nor the stream,
    now or earlier. In flat ops, calls or linear algebra compute the branch without the stream, after a first sub-layer
    in the same function. Silent where the branch is itself an argument of the function, since a kernel may take it from
    its caller.

    **An add that drops its stream.** `skip_scale` is 0, or `skip` a constant of zeros.

    **Several streams without a head.** A stack that ends in `resid.write` leaves its function, or goes into a linear
    layer, with all its streams. Silent where a reader computes anything else of the streams, and in a function of one
    layer, as above.

    **A norm of each stream.** A norm of what `resid.write` made goes on as the streams. It does not commute with the
    read. Silent where the norm has a gamma for each stream, as a gated read has it, and where only coefficients are
    computed of it.

    **A constant mix that is singular.** After such a `resid.write`, streams are sums of others for good. A mix of
    1/n is one.

    **Coefficients that never learn.** The weight of a `resid.project` is the constant 0, and its z is multiplied by
    the constant 0. Neither gets a gradient.

    **A sum into an array that nobody filled.** The output of a product, a reduction or another op of linalg is
    `tensor.empty`, a part of it, or a loop's value that begins as one, and the op reads its elements. So does an input.
    Silent where the op only writes, where something was written before, and in branches.
    ```mlir
    %e = tensor.empty() : tensor<8x8xf32>
    %m = linalg.matmul ins(%a, %b : tensor<8x4xf32>, tensor<4x8xf32>)
                       outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
    ```

    Effect on rounding: none.
  }];
}

#endif
