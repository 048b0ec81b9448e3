/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A network of any depth: embed, a row of equal blocks, head. Each is a compiled function of its own, so what goes from
 * one block to the next can be looked at. */
#ifndef DEPTH_LAYERS_H
#define DEPTH_LAYERS_H

#include "batch.h"
#include "state.h"

/* How many streams there are, to how many coefficients a row of them is projected, and whether these are parameters
 * instead. */
#ifndef STREAMS
#define STREAMS 1
#define COEFFICIENTS 0
#define IS_STATIC 0
#endif

/* stream[l] are the streams after l blocks, and gradient[l] the gradient of the loss by them: rows x STREAMS x WIDTH
 * numbers. */
typedef struct {
  int64_t depth, rows;
  float *numbers, **stream, **gradient;
} layers;

enum { WIDTH = 128, WINDOW = 16 };

/* The weights of a network, in the order in which it takes them. NULL where memory is short. */
resid_weight_list *make_weight_list(int64_t depth);
void end_weight_list(resid_weight_list *list);

/* Sets what the connections of a new state begin with: the network then computes what it would on one stream. Those
 * that are projected are off by about a hundredth. Does nothing on one stream. */
void start_connections(training_state *state, int64_t depth);

/* 0 where memory is short. */
int make_layers(layers *made, int64_t depth, int64_t rows);
void end_layers(layers *ended);

/* The losses of the batch, and the streams. */
resid_status compute_losses(const resid_ctx *ctx, const training_state *state, batch *at, layers *in);

/* Also the gradients of their mean, by the weights and by the streams. */
resid_status differentiate(const resid_ctx *ctx, training_state *state, batch *at, layers *in);

#endif
