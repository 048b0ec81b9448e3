/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The model that is trained, whatever it is: (the bytes before, those to predict, seed and step of its dropout,
 * weights) to losses. Which weights there are, and how many bytes a row has, is read from the compiled functions. */
#ifndef TRAIN_NETWORK_H
#define TRAIN_NETWORK_H

#include "batch.h"
#include "state.h"

const resid_weight_list *get_weight_list(void);

/* 0, with a line on the error stream, where the model's arguments are others. */
int find_row_shape(row_shape *found);

/* The losses of the batch, and the gradients of their mean. The masks of dropout are those of the state's step. */
resid_status differentiate(const resid_ctx *ctx, training_state *state, int64_t seed, batch *at);

/* The losses of the batch, without dropout. */
resid_status compute_losses(const resid_ctx *ctx, const training_state *state, batch *at);

#endif
