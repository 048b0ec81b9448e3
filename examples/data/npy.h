// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the .npy files of the example's data: version 1.0, little-endian f32, C order. Not a general reader.

#ifndef RESID_EXAMPLE_NPY_H
#define RESID_EXAMPLE_NPY_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The elements of folder/name, malloc'ed, and their number. Ends the program with a message where the file is not as
// expected.
static float *read_npy(const char *folder, const char *name, int64_t *count) {
  char path[1024];
  snprintf(path, sizeof(path), "%s/%s.npy", folder, name);
  FILE *file = fopen(path, "rb");
  unsigned char start[10];
  if (!file || fread(start, 1, 10, file) != 10 || memcmp(start, "\x93NUMPY\x01", 7) != 0) {
    fprintf(stderr, "%s: expected a .npy file of version 1.0\n", path);
    exit(3);
  }
  char header[65536] = {0};
  size_t header_size = start[8] | (size_t)start[9] << 8;
  const char *shape = NULL;
  if (fread(header, 1, header_size, file) == header_size && strstr(header, "'<f4'") && strstr(header, "False"))
    shape = strchr(header, '(');
  if (!shape) {
    fprintf(stderr, "%s: expected little-endian f32 in C order but got %s\n", path, header);
    exit(3);
  }
  *count = 1;
  for (char *end; *shape && *shape != ')'; shape = end) {
    long long size = strtoll(shape + 1, &end, 10);
    if (end != shape + 1)
      *count *= size;
    end += strspn(end, " ");
  }
  float *data = malloc((size_t)*count * sizeof(float));
  if (!data || fread(data, sizeof(float), (size_t)*count, file) != (size_t)*count) {
    fprintf(stderr, "%s: expected %lld elements but the file ends before\n", path, (long long)*count);
    exit(3);
  }
  fclose(file);
  return data;
}

#endif // RESID_EXAMPLE_NPY_H
