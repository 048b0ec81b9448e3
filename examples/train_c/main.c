/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Trains the model of model.mlir on a text, with the AdamW of adamw.mlir. Everything that is drawn at random follows
 * from the number of the step, so a run that goes on from a checkpoint has the bits of one that was never stopped.
 * Usage: train TEXT [--steps=N] [--rows=N] [--threads=N] [--checkpoint=FILE] [--csv=FILE] [--svg=FILE] */
#define _POSIX_C_SOURCE 200112L
#include "adamw.h"
#include "curve.h"
#include "model.h"
#include "state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WINDOW = 16, WEIGHTS = 25, COLUMNS = 128, SEED = 1, WARM_UP = 20, SAVE_EVERY = 100 };

typedef struct {
  const char *text, *checkpoint, *csv, *svg;
  int64_t steps, rows, threads;
} options;

/* Some places of a text: what stands before each, the byte there, and what is said of it. */
typedef struct {
  int64_t rows;
  int32_t *windows, *next;
  float *losses, *shares;
} batch;

typedef struct {
  const unsigned char *bytes;
  int64_t count;
} text;

static int read_options(int argc, char **argv, options *read) {
  *read = (options){.steps = 300, .rows = 256, .threads = 1};
  for (int i = 1; i < argc; ++i) {
    const char *value = strchr(argv[i], '=');
    size_t length = value ? (size_t)(value++ - argv[i]) : 0;
    struct {
      const char *name, **text;
      int64_t *number;
    } known[] = {{"--steps", NULL, &read->steps},     {"--rows", NULL, &read->rows},
                 {"--threads", NULL, &read->threads}, {"--checkpoint", &read->checkpoint, NULL},
                 {"--csv", &read->csv, NULL},         {"--svg", &read->svg, NULL}};
    int found = argv[i][0] != '-' && !read->text;
    if (found)
      read->text = argv[i];
    for (size_t k = 0; value && k < sizeof(known) / sizeof(*known); ++k)
      if (strlen(known[k].name) == length && !strncmp(known[k].name, argv[i], length)) {
        found = 1;
        if (known[k].text)
          *known[k].text = value;
        else
          *known[k].number = atoll(value);
      }
    if (!found)
      return 0;
  }
  return read->text && read->steps > 0 && read->rows > 0 && read->threads >= 0 && read->threads <= RESID_MAX_THREADS &&
         (!read->svg || read->csv);
}

static int read_text(const char *path, text *read) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) || (read->count = ftell(file)) < 10 * WINDOW || fseek(file, 0, SEEK_SET))
    return 0;
  unsigned char *bytes = malloc((size_t)read->count);
  read->bytes = bytes;
  int good = bytes && fread(bytes, 1, (size_t)read->count, file) == (size_t)read->count;
  fclose(file);
  return good;
}

static int make_batch(batch *made, int64_t rows) {
  made->rows = rows;
  made->windows = malloc((size_t)rows * WINDOW * sizeof(int32_t));
  made->next = malloc((size_t)rows * sizeof(int32_t));
  made->losses = malloc((size_t)rows * sizeof(float));
  made->shares = malloc((size_t)rows * sizeof(float));
  if (!made->windows || !made->next || !made->losses || !made->shares)
    return 0;
  /* The gradient of the mean by each loss. */
  for (int64_t row = 0; row < rows; ++row)
    made->shares[row] = 1.0f / (float)rows;
  return 1;
}

static void end_batch(batch *ended) {
  free(ended->windows);
  free(ended->next);
  free(ended->losses);
  free(ended->shares);
}

/* Random places of a part of the text, as many as the batch has. */
static void fill_batch(batch *filled, const unsigned char *bytes, int64_t count, int64_t step) {
  for (int64_t row = 0; row < filled->rows; ++row) {
    uint64_t random = draw(SEED + 1, (uint64_t)(step * filled->rows + row));
    int64_t place = WINDOW + (int64_t)(random % (uint64_t)(count - WINDOW));
    for (int64_t i = 0; i < WINDOW; ++i)
      filled->windows[row * WINDOW + i] = bytes[place - WINDOW + i];
    filled->next[row] = bytes[place];
  }
}

static double take_mean(const batch *of) {
  double sum = 0;
  for (int64_t row = 0; row < of->rows; ++row)
    sum += of->losses[row];
  return sum / (double)of->rows;
}

/* The losses of the batch, and the gradients of their mean. */
static resid_status differentiate(const resid_ctx *ctx, training_state *state, batch *at) {
  model_value_and_grad_weights weights;
  const float **members = (const float **)&weights;
  float *g[WEIGHTS];
  for (int64_t i = 0; i < WEIGHTS; ++i) {
    members[i] = state->parameters + state->offsets[i];
    g[i] = state->gradients + state->offsets[i];
  }
  return model_value_and_grad(ctx, at->windows, at->rows, at->next, at->rows, &weights, at->shares, at->rows,
                              at->losses, g[0], g[1], g[2], g[3], g[4], g[5], g[6], g[7], g[8], g[9], g[10], g[11],
                              g[12], g[13], g[14], g[15], g[16], g[17], g[18], g[19], g[20], g[21], g[22], g[23],
                              g[24]);
}

/* One step of AdamW. Gains and biases do not decay. */
static resid_status update(const resid_ctx *ctx, training_state *state) {
  const double rate = 2e-3, decay = 0.01, beta_mean = 0.9, beta_square = 0.99, epsilon = 1e-8;
  double t = (double)++state->step, warm = t < WARM_UP ? t / WARM_UP : 1;
  resid_status status = RESID_OK;
  for (int64_t i = 0; i < WEIGHTS && status == RESID_OK; ++i) {
    const resid_weight *weight = &state->list->weights[i];
    int64_t begin = state->offsets[i], rows = count_elements(weight) / COLUMNS;
    float *p = state->parameters + begin, *m = state->means + begin, *v = state->squares + begin;
    status =
        adamw(ctx, p, rows, m, rows, v, rows, state->gradients + begin, rows, (float)(warm * rate),
              weight->rank > 1 ? (float)decay : 0, (float)beta_mean, (float)beta_square,
              (float)(1 / (1 - pow(beta_mean, t))), (float)(1 / (1 - pow(beta_square, t))), (float)epsilon, p, m, v);
  }
  return status;
}

/* The loss on text that the model has not seen. */
static resid_status evaluate(const resid_ctx *ctx, const training_state *state, const text *held_out, double *loss) {
  model_weights weights;
  const float **members = (const float **)&weights;
  batch all;
  for (int64_t i = 0; i < WEIGHTS; ++i)
    members[i] = state->parameters + state->offsets[i];
  resid_status status = RESID_OOM;
  if (make_batch(&all, 1024)) {
    fill_batch(&all, held_out->bytes, held_out->count, 0);
    status = model(ctx, all.windows, all.rows, all.next, all.rows, &weights, all.losses);
    *loss = take_mean(&all);
  }
  end_batch(&all);
  return status;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Trains from the state's step on; 0 where something went wrong. */
static int train(const resid_ctx *ctx, const options *asked, const text *seen, training_state *state) {
  batch at;
  double start = now();
  int64_t first = state->step;
  resid_status status = make_batch(&at, asked->rows) ? RESID_OK : RESID_OOM;
  while (status == RESID_OK && state->step < asked->steps) {
    fill_batch(&at, seen->bytes, seen->count, state->step);
    status = differentiate(ctx, state, &at);
    if (status != RESID_OK)
      break;
    double loss = take_mean(&at);
    if (asked->csv && !add_to_curve(asked->csv, state->step, loss)) {
      fprintf(stderr, "cannot write %s\n", asked->csv);
      break;
    }
    status = update(ctx, state);
    int isEnd = status != RESID_OK || state->step == asked->steps;
    if (isatty(1) || isEnd || state->step == first + 1)
      printf("%sstep %lld of %lld: loss %.4f, %.1f ms a step%s", isatty(1) ? "\r" : "", (long long)state->step,
             (long long)asked->steps, loss, 1e3 * (now() - start) / (double)(state->step - first),
             isatty(1) && !isEnd ? "" : "\n");
    fflush(stdout);
    if (asked->checkpoint && (isEnd || state->step % SAVE_EVERY == 0) && !save_state(state, asked->checkpoint))
      break;
  }
  end_batch(&at);
  if (status != RESID_OK)
    fprintf(stderr, "%s\n", resid_status_string(status));
  return status == RESID_OK && state->step >= asked->steps;
}

int main(int argc, char **argv) {
  options asked;
  text all;
  training_state state;
  resid_thread_pool *pool;
  resid_ctx ctx;
  if (!read_options(argc, argv, &asked)) {
    fprintf(stderr,
            "usage: %s TEXT [--steps=N] [--rows=N] [--threads=N] [--checkpoint=FILE] [--csv=FILE [--svg=FILE]]\n",
            argv[0]);
    return 2;
  }
  if (!read_text(asked.text, &all)) {
    fprintf(stderr, "expected a text of %d bytes or more in %s\n", 10 * WINDOW, asked.text);
    return 1;
  }
  const resid_weight_list *list = model_value_and_grad_weight_list();
  if (list->count != WEIGHTS || !start_state(&state, list, SEED) ||
      resid_thread_pool_create((int32_t)asked.threads, &pool) != RESID_OK) {
    fprintf(stderr, "expected a model of %d weights, and memory and threads for it\n", WEIGHTS);
    return 1;
  }
  resid_ctx_init(&ctx, pool);
  if (asked.checkpoint && !access(asked.checkpoint, F_OK) && !load_state(&state, asked.checkpoint))
    return 1;
  /* The last tenth is kept aside. */
  text seen = {all.bytes, all.count - all.count / 10}, held_out = {all.bytes + seen.count, all.count / 10};
  double loss = 0;
  int good = train(&ctx, &asked, &seen, &state) && evaluate(&ctx, &state, &held_out, &loss) == RESID_OK;
  if (good)
    printf("held out: loss %.4f, %.2f bits a byte\n", loss, loss / log(2));
  if (good && asked.svg && !(good = draw_curve(asked.csv, asked.svg)))
    fprintf(stderr, "cannot write %s\n", asked.svg);
  resid_thread_pool_destroy(pool);
  end_state(&state);
  free((void *)all.bytes);
  return !good;
}
