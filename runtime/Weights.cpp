// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files of weights for applications: opened, searched, and what a function takes filled from them. Does not own the
// formats (Safetensors.h, Npz.h).

#include "runtime/Npz.h"
#include "runtime/Safetensors.h"
#include "runtime/resid_runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace resid::runtime;

struct resid_weights {
  TensorTable table;
  const char *file;
  /// What was mapped here, and is nobody else's; null where the caller has the file in memory.
  void *mapping;
  size_t mappedBytes;
  /// What stands in front of the names that are asked for; null where nothing does.
  char *prefix;

  /// The tensor of that name after the prefix, else the one whose name that is.
  const Tensor *find(const Name &name) const {
    const Tensor *tensor = prefix ? table.find(name, {prefix, strlen(prefix)}) : nullptr;
    return tensor ? tensor : table.find(name);
  }
  const void *getData(const Tensor &tensor) const { return file + table.dataStart + tensor.begin; }
  resid_weight describe(const Tensor &tensor) const {
    return {tensor.name.data, tensor.dtype, tensor.rank ? table.sizes.values + tensor.sizes : nullptr, tensor.rank};
  }
};

//===------------------------------------------- files ------------------------------------------------------------===//

/// Takes the mapping, which may be null.
static resid_status readFile(const char *file, size_t size, void *mapping, resid_weights **weights, Message &message) {
  auto *made = static_cast<resid_weights *>(calloc(1, sizeof(resid_weights)));
  resid_status status = RESID_OOM;
  if (!made) {
    message.add("out of memory");
  } else {
    made->file = file;
    status =
        isArchive(file, size) ? readArchive(file, size, made->table, message) : made->table.read(file, size, message);
  }
  if (status == RESID_OK) {
    made->mapping = mapping;
    made->mappedBytes = size;
    *weights = made;
    return status;
  }
  if (made)
    made->table.clear();
  free(made);
  if (mapping)
    munmap(mapping, size);
  return status;
}

/// Maps a file that is open. What is no plain file has no bytes that could be mapped.
static void *mapFile(int descriptor, size_t &size, Message &message) {
  struct stat about;
  if (fstat(descriptor, &about) != 0) {
    message.add("cannot read it: %s", strerror(errno));
    return nullptr;
  }
  if (!S_ISREG(about.st_mode)) {
    message.add("expected a plain file, but got %s", S_ISDIR(about.st_mode) ? "a folder" : "something else");
    return nullptr;
  }
  size = static_cast<size_t>(about.st_size);
  if (size == 0) {
    message.add("expected the 8 bytes of the header's length, but the file has 0");
    return nullptr;
  }
  void *mapping = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (mapping != MAP_FAILED)
    return mapping;
  message.add("cannot map it: %s", strerror(errno));
  return nullptr;
}

resid_status resid_weights_open(const char *path, resid_weights **weights, char *text, size_t text_bytes) {
  Message message(text, text_bytes);
  if (weights)
    *weights = nullptr;
  if (!path || !weights) {
    message.add("%s is NULL", path ? "weights" : "path");
    return RESID_BAD_POINTER;
  }
  message.addQuoted(path).add(": ");
  // Without waiting for whoever writes to a pipe.
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    message.add("cannot open it: %s", strerror(errno));
    return errno == ENOMEM ? RESID_OOM : RESID_BAD_VALUE;
  }
  size_t size = 0;
  errno = 0;
  void *mapping = mapFile(descriptor, size, message);
  resid_status failure = errno == ENOMEM ? RESID_OOM : RESID_BAD_VALUE;
  close(descriptor);
  resid_status status =
      mapping ? readFile(static_cast<const char *>(mapping), size, mapping, weights, message) : failure;
  if (status == RESID_OK && text && text_bytes > 0)
    text[0] = '\0';
  return status;
}

resid_status resid_weights_read(const void *file, size_t bytes, resid_weights **weights, char *text,
                                size_t text_bytes) {
  Message message(text, text_bytes);
  if (weights)
    *weights = nullptr;
  if ((!file && bytes > 0) || !weights) {
    message.add("%s is NULL", weights ? "file" : "weights");
    return RESID_BAD_POINTER;
  }
  return readFile(static_cast<const char *>(file), bytes, nullptr, weights, message);
}

void resid_weights_close(resid_weights *weights) {
  if (!weights)
    return;
  weights->table.clear();
  if (weights->mapping)
    munmap(weights->mapping, weights->mappedBytes);
  free(weights->prefix);
  free(weights);
}

resid_status resid_weights_set_prefix(resid_weights *weights, const char *prefix) {
  if (!weights || !prefix)
    return RESID_BAD_POINTER;
  size_t bytes = strlen(prefix) + 1;
  auto *copy = static_cast<char *>(malloc(bytes));
  if (!copy)
    return RESID_OOM;
  memcpy(copy, prefix, bytes);
  free(weights->prefix);
  weights->prefix = copy;
  return RESID_OK;
}

//===------------------------------------------- tensors ----------------------------------------------------------===//

int64_t resid_weights_count(const resid_weights *weights) {
  return weights ? static_cast<int64_t>(weights->table.tensors.count) : 0;
}

resid_status resid_weights_get(const resid_weights *weights, int64_t index, resid_weight *found, const void **data) {
  if (!weights)
    return RESID_BAD_POINTER;
  if (index < 0 || index >= resid_weights_count(weights))
    return RESID_BAD_VALUE;
  const Tensor &tensor = weights->table.tensors.values[index];
  if (found)
    *found = weights->describe(tensor);
  if (data)
    *data = weights->getData(tensor);
  return RESID_OK;
}

/// Whether `name` is `tail` after a point and something more.
static bool endsWith(const Name &name, const Name &tail) {
  return name.size > tail.size + 1 && name.data[name.size - tail.size - 1] == '.' &&
         memcmp(name.data + name.size - tail.size, tail.data, tail.size) == 0;
}

/// A tensor that is probably meant: checkpoints differ in what stands before their names.
static const Tensor *findNear(const TensorTable &table, const Name &name) {
  const Tensor *near = nullptr;
  for (size_t i = 0; i < table.tensors.count; ++i) {
    const Tensor &tensor = table.tensors.values[i];
    bool isNear = tensor.name.size > 0 && (endsWith(tensor.name, name) || endsWith(name, tensor.name));
    if (isNear && (!near || near->name.size < tensor.name.size))
      near = &tensor;
  }
  return near;
}

static bool isMatch(const resid_weight &wanted, const resid_weight &found) {
  if ((wanted.dtype && strcmp(wanted.dtype, found.dtype) != 0) || wanted.rank != found.rank)
    return false;
  for (int32_t i = 0; i < wanted.rank; ++i)
    if (wanted.shape[i] >= 0 && wanted.shape[i] != found.shape[i])
      return false;
  return true;
}

static resid_status find(const resid_weights &weights, const resid_weight &wanted, const Tensor *&tensor,
                         Message &message) {
  Name name{wanted.name, strlen(wanted.name)};
  tensor = weights.find(name);
  resid_weight found{};
  if (tensor) {
    found = weights.describe(*tensor);
    if (isMatch(wanted, found))
      return RESID_OK;
  }
  message.add("weight ").addQuoted(wanted.name).add(": expected ").addType(wanted.dtype, wanted.shape, wanted.rank);
  if (tensor) {
    message.add(", but the file has ").addType(found.dtype, found.shape, found.rank);
    return wanted.dtype && strcmp(wanted.dtype, found.dtype) != 0 ? RESID_BAD_DTYPE : RESID_BAD_SHAPE;
  }
  message.add(", but the file has no tensor of that name");
  if (weights.prefix)
    message.add(", with ").addQuoted(weights.prefix).add(" in front or without");
  if (const Tensor *near = findNear(weights.table, name))
    message.add("; did you mean ").addQuoted(near->name.data, near->name.size).add("?");
  return RESID_BAD_VALUE;
}

resid_status resid_weights_find(const resid_weights *weights, const resid_weight *wanted, resid_weight *found,
                                const void **data, char *text, size_t text_bytes) {
  Message message(text, text_bytes);
  if (!weights || !wanted || !wanted->name || (wanted->rank > 0 && !wanted->shape)) {
    message.add("weights, wanted, its name or its shape is NULL");
    return RESID_BAD_POINTER;
  }
  const Tensor *tensor;
  resid_status status = find(*weights, *wanted, tensor, message);
  if (status == RESID_OK && found)
    *found = weights->describe(*tensor);
  if (status == RESID_OK && data)
    *data = weights->getData(*tensor);
  return status;
}

resid_status resid_weights_fill(const resid_weights *weights, const resid_weight_list *list, void *members,
                                size_t bytes, char *text, size_t text_bytes) {
  Message message(text, text_bytes);
  if (!weights || !list || !members) {
    message.add("weights, list or members is NULL");
    return RESID_BAD_POINTER;
  }
  size_t count = static_cast<size_t>(list->count);
  if (bytes != count * sizeof(void *)) {
    message.add("expected members of %zu bytes, a pointer for each of %zu weights, but got %zu", count * sizeof(void *),
                count, bytes);
    return RESID_BAD_SHAPE;
  }
  const Tensor *tensor;
  for (size_t i = 0; i < count; ++i)
    if (list->weights[i].name)
      if (resid_status status = find(*weights, list->weights[i], tensor, message))
        return status;
  // Nothing is written before all is known to be there.
  for (size_t i = 0; i < count; ++i) {
    const char *name = list->weights[i].name;
    if (!name)
      continue;
    const void *data = weights->getData(*weights->find({name, strlen(name)}));
    memcpy(static_cast<char *>(members) + i * sizeof(void *), &data, sizeof(data));
  }
  return RESID_OK;
}
