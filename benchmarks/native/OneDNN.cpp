// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// oneDNN's layer normalization and its product of matrices behind C functions that the harness can time. Compiled by
// the harness, where oneDNN is installed.

#include "runtime/resid.h"

#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <unordered_map>

extern "C" void omp_set_num_threads(int threads);

namespace {

/// A primitive with its arguments.
struct Primitive {
  dnnl::primitive primitive;
  dnnl::stream stream;
  std::unordered_map<int, dnnl::memory> arguments;
  int threads;
};

float widen(const void *array, int64_t index, bool isBF16) {
  if (!isBF16)
    return static_cast<const float *>(array)[index];
  uint32_t bits = static_cast<uint32_t>(static_cast<const uint16_t *>(array)[index]) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// Scale and shift are f32 whatever the type of the rows: that is the form which all versions have.
dnnl::memory makeParameter(const dnnl::engine &engine, int64_t width, const void *array, bool isBF16) {
  dnnl::memory memory({{width}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a}, engine);
  for (int64_t i = 0; i < width; ++i)
    static_cast<float *>(memory.get_data_handle())[i] = widen(array, i, isBF16);
  return memory;
}

Primitive *create(int64_t rows, int64_t width, bool isBF16, int threads, void *x, const void *gamma, const void *beta,
                  void *y) {
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  auto type = isBF16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
  dnnl::memory::desc data({rows, width}, type, dnnl::memory::format_tag::ab);
  auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
  dnnl::layer_normalization_forward::primitive_desc description(engine, dnnl::prop_kind::forward_inference, data, data,
                                                                1e-5f, flags);
  std::unordered_map<int, dnnl::memory> arguments = {{DNNL_ARG_SRC, dnnl::memory(data, engine, x)},
                                                     {DNNL_ARG_SCALE, makeParameter(engine, width, gamma, isBF16)},
                                                     {DNNL_ARG_SHIFT, makeParameter(engine, width, beta, isBF16)},
                                                     {DNNL_ARG_DST, dnnl::memory(data, engine, y)}};
  return new Primitive{dnnl::layer_normalization_forward(description), dnnl::stream(engine), arguments, threads};
}

/// Weights are given as [in, out], and put into the form that the primitive chooses.
Primitive *createProduct(int64_t rows, int64_t terms, int64_t columns, bool isBF16, int threads, void *a, void *weights,
                         void *y) {
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  using Tag = dnnl::memory::format_tag;
  auto type = isBF16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
  dnnl::memory::desc left({rows, terms}, type, Tag::ab), plain({terms, columns}, type, Tag::ab);
  dnnl::memory::desc any({terms, columns}, type, Tag::any), result({rows, columns}, type, Tag::ab);
  dnnl::matmul::primitive_desc description(engine, left, any, result);
  dnnl::memory given(plain, engine, weights), packed(description.weights_desc(), engine);
  dnnl::reorder(given, packed).execute(stream, given, packed);
  stream.wait();
  std::unordered_map<int, dnnl::memory> arguments = {{DNNL_ARG_SRC, dnnl::memory(left, engine, a)},
                                                     {DNNL_ARG_WEIGHTS, packed},
                                                     {DNNL_ARG_DST, dnnl::memory(result, engine, y)}};
  return new Primitive{dnnl::matmul(description), stream, arguments, threads};
}

} // namespace

extern "C" {

RESID_API const char *onednn_version() {
  static const std::string text = std::to_string(dnnl_version()->major) + "." + std::to_string(dnnl_version()->minor) +
                                  "." + std::to_string(dnnl_version()->patch);
  return text.c_str();
}

/// A primitive until onednn_destroy, or NULL where oneDNN refuses it.
RESID_API void *onednn_create(int64_t rows, int64_t width, int64_t elementSize, int64_t threads, void *x,
                              const void *gamma, const void *beta, void *y) {
  try {
    omp_set_num_threads(static_cast<int>(threads));
    return create(rows, width, elementSize == 2, static_cast<int>(threads), x, gamma, beta, y);
  } catch (const dnnl::error &) {
    return nullptr;
  }
}

RESID_API void *onednn_create_product(int64_t rows, int64_t terms, int64_t columns, int64_t elementSize,
                                      int64_t threads, void *a, void *weights, void *y) {
  try {
    omp_set_num_threads(static_cast<int>(threads));
    return createProduct(rows, terms, columns, elementSize == 2, static_cast<int>(threads), a, weights, y);
  } catch (const dnnl::error &) {
    return nullptr;
  }
}

RESID_API void onednn_destroy(Primitive *primitive) { delete primitive; }

RESID_API int32_t onednn_execute(Primitive *primitive) {
  omp_set_num_threads(primitive->threads);
  primitive->primitive.execute(primitive->stream, primitive->arguments);
  primitive->stream.wait();
  return RESID_OK;
}
}
