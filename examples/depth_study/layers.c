/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Calls embed, blocks and head in a row, and their backward the other way. */
#include "layers.h"

#include "block.h"
#include "embed.h"
#include "head.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Three weights of embed, five of each block, two of head; then two of the connection of each block, where there are
 * several streams. They are the last, so that all the others begin as on one stream. */
enum { EMBED = 3, BLOCK = 5, HEAD = 2, CONNECTION = 2, CONNECTIONS = STREAMS > 1 ? CONNECTION : 0, NAME = 32 };
#if STREAMS > 1
#define CONNECT(weights) , (weights)[0], (weights)[1]
#else
#define CONNECT(weights)
#endif

static const int64_t table[] = {256, 16}, project[] = {WINDOW, 16, WIDTH}, square[] = {WIDTH, WIDTH},
                     vector[] = {WIDTH}, logits[] = {256, WIDTH}, coefficients[] = {COEFFICIENTS, STREAMS *WIDTH};

/* Names and shapes say what a weight begins with: start_state in state.c. */
static const resid_weight of_embed[EMBED] = {{"table", "F32", table, 2},
                                             {"project", "F32", project, 3},
                                             {"project_bias", "F32", vector, 1}},
                          of_block[BLOCK] = {{"norm", "F32", vector, 1},
                                             {"wide", "F32", square, 2},
                                             {"wide_bias", "F32", vector, 1},
                                             {"narrow", "F32", square, 2},
                                             {"narrow_bias", "F32", vector, 1}},
                          of_head[HEAD] = {{"last_norm", "F32", vector, 1}, {"head", "F32", logits, 2}},
                          of_connection[CONNECTION] = {{"project", "F32", coefficients, 2},
                                                       {"coefficients", "F32", vector, 1}};

static int64_t first_of_block(int64_t layer) { return EMBED + BLOCK * layer; }

static int64_t first_of_connection(int64_t layer, int64_t depth) {
  return first_of_block(depth) + HEAD + CONNECTION * layer;
}

/* The weights of all layers one after another; each is called by its name and the number of its layer. */
static void name_layers(resid_weight *weights, const resid_weight *of_layer, int64_t each, int64_t depth, char *names) {
  for (int64_t i = 0; i < each * depth; ++i) {
    weights[i] = of_layer[i % each];
    snprintf(names + i * NAME, NAME, "%s%lld", weights[i].name, (long long)(i / each));
    weights[i].name = names + i * NAME;
  }
}

resid_weight_list *make_weight_list(int64_t depth) {
  int64_t behind = first_of_block(depth) + HEAD, count = behind + CONNECTIONS * depth;
  resid_weight_list *list = malloc(sizeof(*list) + (size_t)count * (sizeof(resid_weight) + NAME));
  if (!list)
    return NULL;
  resid_weight *weights = (resid_weight *)(list + 1);
  char *names = (char *)(weights + count);
  *list = (resid_weight_list){count, weights};
  for (int64_t i = 0; i < EMBED; ++i)
    weights[i] = of_embed[i];
  name_layers(weights + EMBED, of_block, BLOCK, depth, names);
  for (int64_t i = 0; i < HEAD; ++i)
    weights[first_of_block(depth) + i] = of_head[i];
  name_layers(weights + behind, of_connection, CONNECTIONS, depth, names + BLOCK * depth * NAME);
  return list;
}

void end_weight_list(resid_weight_list *list) { free(list); }

int make_layers(layers *made, int64_t depth, int64_t rows) {
  size_t count = (size_t)depth + 1, size = (size_t)rows * STREAMS * WIDTH;
  *made = (layers){depth, rows, malloc(2 * count * size * sizeof(float)), malloc(count * sizeof(float *)),
                   malloc(count * sizeof(float *))};
  if (!made->numbers || !made->stream || !made->gradient)
    return 0;
  for (size_t l = 0; l < count; ++l) {
    made->stream[l] = made->numbers + l * size;
    made->gradient[l] = made->numbers + (count + l) * size;
  }
  return 1;
}

void end_layers(layers *ended) {
  free(ended->numbers);
  free(ended->stream);
  free(ended->gradient);
}

/* Where the weights of a part begin in one of the state's arrays: w[0], w[1] ... are these weights. */
static void find_weights(const training_state *state, float *numbers, int64_t first, int64_t count, float **w) {
  for (int64_t i = 0; i < count; ++i)
    w[i] = numbers + state->offsets[first + i];
}

#if STREAMS > 1
/* Where the scales of projected coefficients stand, after their bases. */
enum { SCALES = 24, SCALE_COUNT = 3 };

/* Streams that all layers treat alike would stay equal, so the l-th reads stream l alone. */
static void start_static(float *read, int64_t layer) {
  for (int64_t i = 0; i < STREAMS; ++i) {
    read[i] = i == layer % STREAMS;
    read[STREAMS + i] = 1;
  }
}

/* Reads a quarter of each stream, and writes 1. The projection is small, but not 0, since then streams stay equal. */
static void start_projected(float *bases, float *project) {
  for (int64_t i = 0; i < STREAMS; ++i)
    bases[i] = -logf(STREAMS - 1);
  for (int64_t i = 0; i < SCALE_COUNT; ++i)
    bases[SCALES + i] = 1;
  for (int64_t i = 0; i < COEFFICIENTS * STREAMS * WIDTH; ++i)
    project[i] *= 0.01f;
}

void start_connections(training_state *state, int64_t depth) {
  float *c[CONNECTION];
  for (int64_t l = 0; l < depth; ++l) {
    find_weights(state, state->parameters, first_of_connection(l, depth), CONNECTION, c);
    IS_STATIC ? start_static(c[1], l) : start_projected(c[1], c[0]);
  }
}
#else
void start_connections(training_state *state, int64_t depth) {
  (void)state;
  (void)depth;
}
#endif

static resid_status run_blocks(const resid_ctx *ctx, const training_state *state, const batch *at, layers *in) {
  float *e[EMBED], *w[BLOCK], *c[CONNECTION];
  find_weights(state, state->parameters, 0, EMBED, e);
  resid_status status = embed(ctx, at->windows, at->rows, e[0], e[1], e[2], in->stream[0]);
  for (int64_t l = 0; l < in->depth && status == RESID_OK; ++l) {
    find_weights(state, state->parameters, first_of_block(l), BLOCK, w);
    find_weights(state, state->parameters, first_of_connection(l, in->depth), CONNECTIONS, c);
    status = block(ctx, in->stream[l], at->rows, w[0], w[1], w[2], w[3], w[4] CONNECT(c), in->stream[l + 1]);
  }
  return status;
}

resid_status compute_losses(const resid_ctx *ctx, const training_state *state, batch *at, layers *in) {
  float *w[HEAD];
  find_weights(state, state->parameters, first_of_block(in->depth), HEAD, w);
  resid_status status = run_blocks(ctx, state, at, in);
  if (status == RESID_OK)
    status = head(ctx, in->stream[in->depth], at->rows, w[0], w[1], at->next, at->rows, at->losses);
  return status;
}

/* A function of value and gradients computes its value again, which has the same bits. */
resid_status differentiate(const resid_ctx *ctx, training_state *state, batch *at, layers *in) {
  int64_t depth = in->depth, rows = at->rows;
  float *w[BLOCK], *g[BLOCK], *c[CONNECTION], *d[CONNECTION];
  resid_status status = run_blocks(ctx, state, at, in);
  if (status != RESID_OK)
    return status;
  find_weights(state, state->parameters, first_of_block(depth), HEAD, w);
  find_weights(state, state->gradients, first_of_block(depth), HEAD, g);
  status = head_value_and_grad(ctx, in->stream[depth], rows, w[0], w[1], at->next, rows, at->shares, rows, at->losses,
                               in->gradient[depth], g[0], g[1]);
  for (int64_t l = depth; l-- > 0 && status == RESID_OK;) {
    find_weights(state, state->parameters, first_of_block(l), BLOCK, w);
    find_weights(state, state->gradients, first_of_block(l), BLOCK, g);
    find_weights(state, state->parameters, first_of_connection(l, depth), CONNECTIONS, c);
    find_weights(state, state->gradients, first_of_connection(l, depth), CONNECTIONS, d);
    status = block_value_and_grad(ctx, in->stream[l], rows, w[0], w[1], w[2], w[3], w[4] CONNECT(c),
                                  in->gradient[l + 1], rows, in->stream[l + 1], in->gradient[l], g[0], g[1], g[2], g[3],
                                  g[4] CONNECT(d));
  }
  find_weights(state, state->parameters, 0, EMBED, w);
  find_weights(state, state->gradients, 0, EMBED, g);
  if (status == RESID_OK)
    status = embed_value_and_grad(ctx, at->windows, rows, w[0], w[1], w[2], in->gradient[0], rows, in->stream[0], g[0],
                                  g[1], g[2]);
  return status;
}
