/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Calls the kernel of adamw.mlir. */
#include "update.h"

#include "adamw.h"

#include <math.h>
#include <stdio.h>

enum { COLUMNS = 128 };

int fills_rows(const resid_weight_list *list) {
  for (int64_t i = 0; i < list->count; ++i)
    if (count_elements(&list->weights[i]) % COLUMNS) {
      fprintf(stderr, "expected a multiple of %d elements in %s\n", COLUMNS, list->weights[i].name);
      return 0;
    }
  return 1;
}

resid_status update(const resid_ctx *ctx, training_state *state, double rate, int64_t warm_up) {
  const double decay = 0.01, beta_mean = 0.9, beta_square = 0.99, epsilon = 1e-8;
  double t = (double)++state->step, warm = t < (double)warm_up ? t / (double)warm_up : 1;
  resid_status status = RESID_OK;
  for (int64_t i = 0; i < state->list->count && status == RESID_OK; ++i) {
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
