// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first call of `scale`, by eight threads at once, and a second one: prints the answer, the CPU that was chosen,
// and whether the processor was asked again.

#include "processor.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { Threads = 8, Width = 1000 };

extern atomic_int fake_questions;
static pthread_barrier_t start;

/// The status of a call, or 1 where it is not what the outputs say.
static resid_status callScale(void) {
  float x[Width], y[Width];
  resid_status status;
  int i;
  for (i = 0; i < Width; ++i) {
    x[i] = (float)i;
    y[i] = 0;
  }
  status = scale(NULL, x, Width, y);
  for (i = 0; i < Width; ++i)
    if (y[i] != (status == RESID_OK ? 1.5f * (float)i : 0.0f))
      return 1;
  return status;
}

static void *runThread(void *place) {
  pthread_barrier_wait(&start);
  *(resid_status *)place = callScale();
  return NULL;
}

int main(void) {
  pthread_t threads[Threads];
  resid_status statuses[Threads], again;
  int i, same = 1, questions;
  pthread_barrier_init(&start, NULL, Threads);
  for (i = 0; i < Threads; ++i)
    pthread_create(&threads[i], NULL, runThread, &statuses[i]);
  for (i = 0; i < Threads; ++i) {
    pthread_join(threads[i], NULL);
    same &= statuses[i] == statuses[0];
  }
  questions = fake_questions;
  again = callScale();
  same &= again == statuses[0];
  printf("%d %s%s%s\n", (int)again, scale_info()->cpu, same ? "" : ", threads disagree",
         questions > 0 && fake_questions == questions ? "" : ", asked again");
  return 0;
}
