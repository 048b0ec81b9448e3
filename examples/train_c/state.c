/* Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Keeps the state of training, and writes and reads it. */
#include "state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t count_elements(const resid_weight *weight) {
  int64_t count = 1;
  for (int d = 0; d < weight->rank; ++d)
    count *= weight->shape[d];
  return count;
}

/* The finaliser of SplitMix64. */
uint64_t draw(uint64_t seed, uint64_t position) {
  uint64_t z = (seed << 32) + position * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static int goes_into_stream(const resid_weight *weight) {
  return !strncmp(weight->name, "down", 4) || !strncmp(weight->name, "out", 3);
}

/* How large the random numbers of a weight are; 0 for biases, and gains are 1. What goes back into the stream begins
 * small, so that blocks change it little at first. */
static float get_scale(const resid_weight *weight) {
  if (weight->rank < 2)
    return 0;
  if (!strncmp(weight->name, "table", 5))
    return 1;
  int64_t inputs = weight->rank == 3 ? weight->shape[0] * weight->shape[1] : weight->shape[1];
  return sqrtf(3.0f / (float)inputs) * (goes_into_stream(weight) ? 0.35f : 1.0f);
}

/* Gains begin at 1. */
static int is_gain(const resid_weight *weight) {
  return weight->rank == 1 && strstr(weight->name, "norm") && !strstr(weight->name, "beta");
}

int start_state(training_state *state, const resid_weight_list *list, uint64_t seed) {
  memset(state, 0, sizeof(*state));
  state->list = list;
  state->offsets = malloc((size_t)list->count * sizeof(int64_t));
  if (!state->offsets)
    return 0;
  for (int64_t i = 0; i < list->count; ++i) {
    state->offsets[i] = state->count;
    state->count += count_elements(&list->weights[i]);
  }
  float **arrays[] = {&state->parameters, &state->means, &state->squares, &state->gradients};
  for (int i = 0; i < 4; ++i)
    if (!(*arrays[i] = calloc((size_t)state->count, sizeof(float))))
      return 0;
  for (int64_t i = 0; i < list->count; ++i) {
    const resid_weight *weight = &list->weights[i];
    float scale = get_scale(weight), start = is_gain(weight) ? 1 : 0;
    for (int64_t j = 0, count = count_elements(weight); j < count; ++j) {
      int64_t place = state->offsets[i] + j;
      float random = (float)(draw(seed, (uint64_t)place) >> 40) / 8388608.0f - 1.0f;
      state->parameters[place] = start + scale * random;
    }
  }
  return 1;
}

void end_state(training_state *state) {
  free(state->offsets);
  free(state->parameters);
  free(state->means);
  free(state->squares);
  free(state->gradients);
}

/*===------------------------------------------- checkpoints -------------------------------------------------------===*/

/* The kinds of numbers in a checkpoint. */
enum { KINDS = 3 };
static const char *const prefixes[KINDS] = {"", "mean.", "square."};

static float *get_kind(const training_state *state, int kind) {
  float *const kinds[KINDS] = {state->parameters, state->means, state->squares};
  return kinds[kind];
}

/* Appends the entry of a tensor that begins at `begin`; where it ends. */
static int64_t append_entry(char **text, const char *prefix, const resid_weight *weight, int64_t begin, int size) {
  int64_t end = begin + count_elements(weight) * size;
  *text += sprintf(*text, "%s\"%s%s\":{\"dtype\":\"%s\",\"shape\":[", begin ? "," : "{", prefix, weight->name,
                   weight->dtype);
  for (int d = 0; d < weight->rank; ++d)
    *text += sprintf(*text, "%s%lld", d ? "," : "", (long long)weight->shape[d]);
  *text += sprintf(*text, "],\"data_offsets\":[%lld,%lld]}", (long long)begin, (long long)end);
  return end;
}

static const int64_t one[] = {1};
static const resid_weight step_entry = {"step", "I64", one, 1};

/* The header of the file, padded to eight bytes. The caller frees it. */
static char *make_header(const training_state *state) {
  size_t room = 256;
  for (int64_t i = 0; i < state->list->count; ++i)
    room += KINDS * (strlen(state->list->weights[i].name) + 192);
  char *header = malloc(room), *text = header;
  if (!header)
    return NULL;
  int64_t place = append_entry(&text, "", &step_entry, 0, 8);
  for (int kind = 0; kind < KINDS; ++kind)
    for (int64_t i = 0; i < state->list->count; ++i)
      place = append_entry(&text, prefixes[kind], &state->list->weights[i], place, 4);
  *text++ = '}';
  while ((text - header) % 8)
    *text++ = ' ';
  *text = 0;
  return header;
}

/* To a file beside it first, so that a run that is stopped while it writes leaves the old one. */
int save_state(const training_state *state, const char *path) {
  char other[1024], *header = make_header(state);
  uint64_t bytes = header ? strlen(header) : 0;
  snprintf(other, sizeof(other), "%s.new", path);
  FILE *file = header ? fopen(other, "wb") : NULL;
  int good = file && fwrite(&bytes, 8, 1, file) == 1 && fwrite(header, bytes, 1, file) == 1 &&
             fwrite(&state->step, 8, 1, file) == 1;
  for (int kind = 0; good && kind < KINDS; ++kind)
    good = fwrite(get_kind(state, kind), sizeof(float), (size_t)state->count, file) == (size_t)state->count;
  if (file)
    good = !fclose(file) && good && !rename(other, path);
  if (!good)
    fprintf(stderr, "cannot write %s\n", path);
  free(header);
  return good;
}

int load_state(training_state *state, const char *path) {
  char text[256];
  resid_weights *file;
  const void *data;
  resid_status status = resid_weights_open(path, &file, text, sizeof(text));
  if (status == RESID_OK &&
      (status = resid_weights_find(file, &step_entry, NULL, &data, text, sizeof(text))) == RESID_OK)
    memcpy(&state->step, data, sizeof(state->step));
  for (int kind = 0; kind < KINDS; ++kind)
    for (int64_t i = 0; status == RESID_OK && i < state->list->count; ++i) {
      char name[128];
      resid_weight wanted = state->list->weights[i];
      snprintf(name, sizeof(name), "%s%s", prefixes[kind], wanted.name);
      wanted.name = name;
      status = resid_weights_find(file, &wanted, NULL, &data, text, sizeof(text));
      if (status == RESID_OK)
        memcpy(get_kind(state, kind) + state->offsets[i], data, (size_t)count_elements(&wanted) * sizeof(float));
    }
  resid_weights_close(file);
  if (status != RESID_OK)
    fprintf(stderr, "%s\n", text);
  return status == RESID_OK;
}
