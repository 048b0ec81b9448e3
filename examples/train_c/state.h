/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What training changes: the parameters, AdamW's averages, and how many steps are done. */
#ifndef TRAIN_STATE_H
#define TRAIN_STATE_H

#include "resid_runtime.h"

#include <stdint.h>

/* Every kind of numbers is one array, in the order of the list; offsets[i] is where weight i begins. */
typedef struct {
  const resid_weight_list *list;
  int64_t *offsets, count;
  float *parameters, *means, *squares, *gradients;
  int64_t step;
} training_state;

/* The number of elements of a weight. */
int64_t count_elements(const resid_weight *weight);

/* Random numbers: the same for the same seed and position, on every machine. */
uint64_t draw(uint64_t seed, uint64_t position);

/* New weights. 0 where memory is short. */
int start_state(training_state *state, const resid_weight_list *list, uint64_t seed);
void end_state(training_state *state);

/* In the safetensors format: each parameter by its name, its averages as mean.NAME and square.NAME, and step. Both say
 * on the error stream what is wrong, and answer 0 then. */
int save_state(const training_state *state, const char *path);
int load_state(training_state *state, const char *path);

#endif
