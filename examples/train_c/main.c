/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Trains the model that it is linked with on a text, with the AdamW of adamw.mlir. Everything that is drawn at random
 * follows from the number of the step, so a run that goes on from a checkpoint has the bits of one that was never
 * stopped. The flags: options.c */
#define _POSIX_C_SOURCE 200112L
#include "curve.h"
#include "network.h"
#include "options.h"
#include "update.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SEED = 1, SAVE_EVERY = 100, HELD_OUT = 4096 };

/* The loss on text that the model has not seen. */
static resid_status evaluate(const resid_ctx *ctx, const training_state *state, const text *held_out, batch *at,
                             double *loss) {
  int64_t bytes = at->rows * at->shape.predicted, batches = (HELD_OUT + bytes - 1) / bytes;
  double sum = 0;
  resid_status status = RESID_OK;
  for (int64_t i = 0; i < batches && status == RESID_OK; ++i) {
    fill_batch(at, held_out, SEED + 1, i);
    status = compute_losses(ctx, state, at);
    sum += take_mean(at);
  }
  *loss = sum / (double)batches;
  return status;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Where the run is: on a terminal in one line, elsewhere its first and last step. */
static void print_progress(const options *asked, int64_t first, int64_t step, double loss, double seconds) {
  int isLive = isatty(1), isEnd = step == asked->steps;
  if (isLive || isEnd || step == first + 1)
    printf("%sstep %lld of %lld: loss %.4f, %.1f ms a step%s", isLive ? "\r" : "", (long long)step,
           (long long)asked->steps, loss, 1e3 * seconds / (double)(step - first), isLive && !isEnd ? "" : "\n");
  fflush(stdout);
}

/* Writes down what a step came to; 0 where that is impossible. */
static int keep(const options *asked, const training_state *state, double loss) {
  if (asked->csv && !add_to_curve(asked->csv, state->step - 1, loss)) {
    fprintf(stderr, "cannot write %s\n", asked->csv);
    return 0;
  }
  int isDue = state->step == asked->steps || state->step % SAVE_EVERY == 0;
  return !asked->checkpoint || !isDue || save_state(state, asked->checkpoint);
}

/* Trains from the state's step on; 0 where something went wrong. */
static int train(const resid_ctx *ctx, const options *asked, const text *seen, training_state *state, batch *at) {
  double start = now();
  int64_t first = state->step;
  while (state->step < asked->steps) {
    fill_batch(at, seen, SEED + 1, state->step);
    resid_status status = differentiate(ctx, state, SEED, at);
    if (status == RESID_OK)
      status = update(ctx, state, asked->rate, asked->warm_up);
    if (status != RESID_OK) {
      fprintf(stderr, "%s\n", resid_status_string(status));
      return 0;
    }
    double loss = take_mean(at);
    print_progress(asked, first, state->step, loss, now() - start);
    if (!keep(asked, state, loss))
      return 0;
  }
  return 1;
}

int main(int argc, char **argv) {
  options asked;
  row_shape shape;
  text all;
  batch at;
  training_state state;
  resid_thread_pool *pool;
  resid_ctx ctx;
  if (!read_options(argc, argv, &asked))
    return 2;
  if (!find_row_shape(&shape) || !fills_rows(get_weight_list()) || !read_text(asked.text, shape, &all))
    return 1;
  if (!start_state(&state, get_weight_list(), SEED) || !make_batch(&at, shape, asked.rows) ||
      resid_thread_pool_create((int32_t)asked.threads, &pool) != RESID_OK) {
    fprintf(stderr, "expected memory and threads for the model\n");
    return 1;
  }
  resid_ctx_init(&ctx, pool);
  if (asked.checkpoint && !access(asked.checkpoint, F_OK) && !load_state(&state, asked.checkpoint))
    return 1;
  /* The last tenth is kept aside. */
  text seen = {all.bytes, all.count - all.count / 10}, held_out = {all.bytes + seen.count, all.count / 10};
  double loss = 0;
  int good = train(&ctx, &asked, &seen, &state, &at) && evaluate(&ctx, &state, &held_out, &at, &loss) == RESID_OK;
  if (good)
    printf("held out: loss %.4f, %.2f bits a byte\n", loss, loss / log(2));
  if (good && asked.svg && !(good = draw_curve(asked.csv, asked.svg)))
    fprintf(stderr, "cannot write %s\n", asked.svg);
  resid_thread_pool_destroy(pool);
  end_batch(&at);
  end_state(&state);
  free((void *)all.bytes);
  return !good;
}
