/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Calls the functions of the model through their DLPack entries, which take any number of weights. */
#include "network.h"

#include "held_out.h"
#include "model.h"

#include <stdio.h>
#include <stdlib.h>

/* The arguments of a call, then its results. */
typedef struct {
  DLTensor *tensors;
  int64_t (*shapes)[2];
  const DLTensor **places;
  int32_t count;
} call;

const resid_weight_list *get_weight_list(void) { return model_value_and_grad_weight_list(); }

int find_row_shape(row_shape *found) {
  const char *signature = model_info()->signature;
  long long window = 0, predicted = 0;
  int many =
      sscanf(signature, "(tensor<%*[?0-9]x%lldxi32>, tensor<%*[?0-9]x%lldxi32>, i64, i64,", &window, &predicted) == 2;
  *found = (row_shape){window, many ? predicted : 1};
  int good = window > 0 && found->predicted <= window;
  if (!good)
    fprintf(stderr, "expected a model of bytes before, bytes to predict, seed, step and weights but got %s\n",
            signature);
  return good;
}

static void append(call *made, void *data, DLDataType type, int32_t rank, int64_t *shape) {
  DLTensor *tensor = &made->tensors[made->count];
  *tensor = (DLTensor){.data = data, .device = {kDLCPU, 0}, .ndim = rank, .dtype = type, .shape = shape};
  made->places[made->count++] = tensor;
}

/* Numbers of each row of the batch: `columns` of them, or one, which is no dimension. */
static void append_rows(call *made, const batch *at, void *data, DLDataType type, int64_t columns) {
  int64_t *shape = made->shapes[made->count];
  shape[0] = at->rows;
  shape[1] = columns;
  append(made, data, type, columns > 1 ? 2 : 1, shape);
}

static const DLDataType f32 = {kDLFloat, 32, 1}, i32 = {kDLInt, 32, 1}, i64 = {kDLInt, 64, 1};

static void append_weights(call *made, const training_state *state, float *numbers) {
  for (int64_t i = 0; i < state->list->count; ++i) {
    const resid_weight *weight = &state->list->weights[i];
    append(made, numbers + state->offsets[i], f32, weight->rank, (int64_t *)weight->shape);
  }
}

/* Room for everything that a call of the model may have; what the model has as arguments is there. */
static int begin_call(call *made, const training_state *state, int64_t *seed, int64_t *step, const batch *at) {
  size_t most = 8 + 2 * (size_t)state->list->count;
  *made =
      (call){malloc(most * sizeof(DLTensor)), malloc(most * sizeof(int64_t[2])), malloc(most * sizeof(DLTensor *)), 0};
  if (!made->tensors || !made->shapes || !made->places)
    return 0;
  append_rows(made, at, at->windows, i32, at->shape.window);
  append_rows(made, at, at->next, i32, at->shape.predicted);
  append(made, seed, i64, 0, NULL);
  append(made, step, i64, 0, NULL);
  append_weights(made, state, state->parameters);
  return 1;
}

static void end_call(call *ended) {
  free(ended->tensors);
  free(ended->shapes);
  free(ended->places);
}

resid_status differentiate(const resid_ctx *ctx, training_state *state, int64_t seed, batch *at) {
  call made;
  resid_status status = RESID_OOM;
  if (begin_call(&made, state, &seed, &state->step, at)) {
    append_rows(&made, at, at->shares, f32, at->shape.predicted);
    append_rows(&made, at, at->losses, f32, at->shape.predicted);
    append_weights(&made, state, state->gradients);
    status = model_value_and_grad_dl(ctx, made.places, made.count);
  }
  end_call(&made);
  return status;
}

resid_status compute_losses(const resid_ctx *ctx, const training_state *state, batch *at) {
  int64_t none = 0;
  call made;
  resid_status status = RESID_OOM;
  if (begin_call(&made, state, &none, &none, at)) {
    append_rows(&made, at, at->losses, f32, at->shape.predicted);
    status = held_out_model_dl(ctx, made.places, made.count);
  }
  end_call(&made);
  return status;
}
