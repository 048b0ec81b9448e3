/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A step of AdamW. The study of depth, examples/depth_study, has the same. */
#ifndef TRAIN_UPDATE_H
#define TRAIN_UPDATE_H

#include "state.h"

/* 0, with a line on the error stream, where a weight does not fill rows of the kernel. */
int fills_rows(const resid_weight_list *list);

/* Moves all parameters by their gradients, and counts the step. The rate rises over the first `warm_up` steps. Gains
 * and biases do not decay. */
resid_status update(const resid_ctx *ctx, training_state *state, double rate, int64_t warm_up);

#endif
