/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Trains one network of the study on a text, and says what its loss came to. study.py runs it. With --gradients=FILE,
 * the gradient by the stream after each block is written down, before the first step and after the last. Everything
 * that is drawn at random follows from --seed. */
#include "flags.h"
#include "layers.h"
#include "update.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The loss of training is the mean over the last steps, and rows of the text that is kept aside are the same for all.
 */
enum { LAST = 50, HELD_OUT_SEED = 1000, HELD_OUT = 4096 };

typedef struct {
  const char *text, *gradients;
  int64_t depth, steps, rows, threads, warm_up, seed;
  double rate, gain;
} options;

/* A run, and what it needs. */
typedef struct {
  options asked;
  resid_ctx ctx;
  text seen, held_out;
  batch at;
  training_state state;
  layers in;
  FILE *gradients;
} run;

static int read_options(int argc, char **argv, options *read) {
  const flag known[] = {{"--depth", NULL, &read->depth, NULL},        {"--steps", NULL, &read->steps, NULL},
                        {"--rows", NULL, &read->rows, NULL},          {"--threads", NULL, &read->threads, NULL},
                        {"--warm-up", NULL, &read->warm_up, NULL},    {"--seed", NULL, &read->seed, NULL},
                        {"--rate", NULL, NULL, &read->rate},          {"--gain", NULL, NULL, &read->gain},
                        {"--gradients", &read->gradients, NULL, NULL}};
  *read = (options){.depth = 6, .steps = 400, .rows = 128, .threads = 1, .seed = 1, .rate = 1e-3, .gain = 1};
  int good = argc > 1 && argv[1][0] != '-';
  read->text = argv[1];
  for (int i = 2; good && i < argc; ++i)
    good = read_flag(known, sizeof(known) / sizeof(*known), argv[i]);
  good = good && read->depth > 0 && read->depth <= 1000 && read->steps > 0 && read->rows > 0 &&
         read->rows <= HELD_OUT && read->threads >= 0 && read->threads <= RESID_MAX_THREADS && read->warm_up >= 0 &&
         read->seed > 0 && read->rate > 0 && read->gain > 0;
  if (!good)
    fprintf(stderr,
            "usage: %s TEXT [--depth=N] [--steps=N] [--rows=N] [--rate=R] [--warm-up=N] [--seed=N] [--gain=G]\n"
            "       [--threads=N] [--gradients=FILE]\n",
            argv[0]);
  return good;
}

/* The matrices of the blocks begin larger by --gain. */
static void scale_blocks(training_state *state, double gain) {
  for (int64_t i = 0; i < state->list->count; ++i) {
    const resid_weight *weight = &state->list->weights[i];
    if (!strncmp(weight->name, "wide", 4) || !strncmp(weight->name, "narrow", 6))
      for (int64_t j = 0; j < count_elements(weight); ++j)
        state->parameters[state->offsets[i] + j] *= (float)gain;
  }
}

static double multiply(const float *a, const float *b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += (double)a[i] * (double)b[i];
  return sum;
}

/* A line for each block: the norms of the gradients by what it hands out and by what it is handed, and how much of the
 * first is in the second, as a factor. That is the 1 of the derivative 1 + f', plus what f' happens to give. */
static void write_gradients(FILE *file, const layers *in, int64_t step) {
  int64_t count = in->rows * STREAMS * WIDTH;
  for (int64_t l = 0; l < in->depth; ++l) {
    const float *before = in->gradient[l], *behind = in->gradient[l + 1];
    double square = multiply(behind, behind, count);
    fprintf(file, "%lld,%lld,%.5e,%.5e,%.4f,%.5e\n", (long long)step, (long long)l + 1, sqrt(square),
            sqrt(multiply(before, before, count)), multiply(before, behind, count) / square,
            sqrt(multiply(in->stream[l + 1], in->stream[l + 1], count) / (double)count));
  }
}

/* Whether no weight gets any gradient. Nothing is learnt then, and arithmetic on denormal numbers is slow. */
static int is_dead(const training_state *state) {
  return multiply(state->gradients, state->gradients, state->count) < 1e-60;
}

/* Runs all steps, and one more batch for its gradients; fewer in a dead network, and where the loss left the numbers,
 * which makes the mean of the last losses infinite or NaN. */
static resid_status train(run *in, double *loss) {
  const options *asked = &in->asked;
  double losses[LAST];
  int64_t step = 0;
  for (;; ++step) {
    fill_batch(&in->at, &in->seen, (uint64_t)asked->seed, step);
    resid_status status = differentiate(&in->ctx, &in->state, &in->at, &in->in);
    if (status != RESID_OK)
      return status;
    losses[step % LAST] = take_mean(&in->at);
    int isEnd = step == asked->steps || !isfinite(losses[step % LAST]) || is_dead(&in->state);
    if (in->gradients && (step == 0 || isEnd))
      write_gradients(in->gradients, &in->in, step);
    if (isEnd)
      break;
    if ((status = update(&in->ctx, &in->state, asked->rate, asked->warm_up)) != RESID_OK)
      return status;
  }
  int64_t count = step + 1 < LAST ? step + 1 : LAST;
  *loss = 0;
  for (int64_t i = 0; i < count; ++i)
    *loss += losses[i] / (double)count;
  return RESID_OK;
}

static resid_status evaluate(run *in, double *loss) {
  int64_t batches = HELD_OUT / in->at.rows;
  *loss = 0;
  for (int64_t i = 0; i < batches; ++i) {
    fill_batch(&in->at, &in->held_out, HELD_OUT_SEED, i);
    resid_status status = compute_losses(&in->ctx, &in->state, &in->at, &in->in);
    if (status != RESID_OK)
      return status;
    *loss += take_mean(&in->at) / (double)batches;
  }
  return RESID_OK;
}

/* Trains and says so; 0 where something went wrong. */
static int report(run *in) {
  double training, held_out;
  start_connections(&in->state, in->asked.depth);
  scale_blocks(&in->state, in->asked.gain);
  if (in->gradients)
    fprintf(in->gradients, "step,block,gradient_behind,gradient_before,passed,stream_behind\n");
  resid_status status = train(in, &training);
  if (status == RESID_OK)
    status = evaluate(in, &held_out);
  if (status != RESID_OK)
    fprintf(stderr, "%s\n", resid_status_string(status));
  else if (isfinite(training) && isfinite(held_out))
    printf("steps %lld, training loss %.5f, held out %.5f\n", (long long)in->state.step, training, held_out);
  else
    printf("steps %lld, training loss nan, held out nan\n", (long long)in->state.step);
  return status == RESID_OK;
}

int main(int argc, char **argv) {
  run in = {0};
  resid_thread_pool *pool;
  text all;
  if (!read_options(argc, argv, &in.asked))
    return 2;
  const options *asked = &in.asked;
  const row_shape shape = {WINDOW, 1};
  resid_weight_list *list = make_weight_list(asked->depth);
  if (!read_text(asked->text, shape, &all))
    return 1;
  if (!list || !fills_rows(list) || !start_state(&in.state, list, (uint64_t)asked->seed) ||
      !make_batch(&in.at, shape, asked->rows) || !make_layers(&in.in, asked->depth, asked->rows) ||
      resid_thread_pool_create((int32_t)asked->threads, &pool) != RESID_OK) {
    fprintf(stderr, "expected memory and threads for the network\n");
    return 1;
  }
  resid_ctx_init(&in.ctx, pool);
  /* The last tenth is kept aside. */
  in.seen = (text){all.bytes, all.count - all.count / 10};
  in.held_out = (text){all.bytes + in.seen.count, all.count / 10};
  if (asked->gradients && !(in.gradients = fopen(asked->gradients, "w"))) {
    fprintf(stderr, "cannot write %s\n", asked->gradients);
    return 1;
  }
  int good = report(&in);
  if (in.gradients && fclose(in.gradients)) {
    fprintf(stderr, "cannot write %s\n", asked->gradients);
    good = 0;
  }
  resid_thread_pool_destroy(pool);
  end_layers(&in.in);
  end_batch(&in.at);
  end_state(&in.state);
  end_weight_list(list);
  return !good;
}
