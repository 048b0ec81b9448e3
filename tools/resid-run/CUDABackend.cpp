// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backend that compiles in memory for a GPU, brings arrays there, and runs the function on device 0.

#include "codegen/cpu/Target.h"
#include "codegen/cuda/Target.h"
#include "runtime/cuda/Modules.h"
#include "tools/resid-run/Backend.h"
#include "tools/resid-run/CompiledFunction.h"
#include "tools/resid-run/KernelCall.h"

namespace mlir::resid::run {

using llvm::Error;
using llvm::Expected;
using namespace ::resid::runtime::cuda;

namespace {

/// What an error of the driver's functions for arrays is to the user.
Error checkDriver(CUresult error, const char *call) {
  if (error == CUDA_SUCCESS)
    return Error::success();
  const char *name = nullptr;
  Driver::get().getErrorName(error, &name);
  return makeError(error == CUDA_ERROR_OUT_OF_MEMORY ? tools::ExitMemory : tools::ExitInternal,
                   llvm::Twine(call) + " answered " + (name ? name : "an unknown error"));
}

/// The arrays of a call in the memory of the device.
class DeviceArrays {
public:
  explicit DeviceArrays(KernelCall &call) : call(call) {}
  ~DeviceArrays() {
    for (CUdeviceptr address : addresses)
      if (address)
        Driver::get().releaseNow(address);
  }
  DeviceArrays(const DeviceArrays &) = delete;
  DeviceArrays &operator=(const DeviceArrays &) = delete;

  /// Makes room, and copies all arrays there; functions take their addresses there from then on.
  Error copyIn() {
    for (auto [index, bytes] : llvm::enumerate(call.getBytesOfAll())) {
      CUdeviceptr &address = addresses.emplace_back(0);
      if (bytes.empty())
        continue;
      if (Error error = checkDriver(Driver::get().allocateNow(&address, bytes.size()), "cuMemAlloc"))
        return error;
      if (Error error = checkDriver(Driver::get().copyIn(address, bytes.data(), bytes.size()), "cuMemcpyHtoD"))
        return error;
      call.setAddress(index, reinterpret_cast<void *>(address));
    }
    return Error::success();
  }

  Error copyOut() {
    for (auto [address, bytes] : llvm::zip_equal(addresses, call.getBytesOfAll()))
      if (!bytes.empty())
        if (Error error = checkDriver(Driver::get().copyOut(bytes.data(), address, bytes.size()), "cuMemcpyDtoH"))
          return error;
    return Error::success();
  }

private:
  KernelCall &call;
  std::vector<CUdeviceptr> addresses;
};

class CUDABackend : public Backend {
public:
  CUDABackend(LoadedFunction loaded, std::unique_ptr<KernelCall> call)
      : place(&logged), function(std::move(loaded)), call(std::move(call)), arrays(*this->call) {}

  Error prepare() {
    if (place.status != RESID_OK)
      return makeError(getExitCode(place.status), Driver::get().why);
    if (resid_status status = resid_cuda_ctx_init(&context, nullptr))
      return makeError(getExitCode(status), resid_status_string(status));
    context.log = keepMessage;
    return arrays.copyIn();
  }

  Error run() override {
    message().clear();
    resid_status status = call->call(function.entry, context);
    if (status != RESID_OK) {
      std::string answer = std::string("the compiled function answered ") + resid_status_string(status);
      return makeError(getExitCode(status), message().empty() ? answer : answer + "; " + message());
    }
    return checkDriver(Driver::get().synchronize(), "cuCtxSynchronize");
  }

  std::vector<Array> getResults() override {
    if (Error error = arrays.copyOut())
      llvm::report_fatal_error(std::move(error), /*gen_crash_diag=*/false);
    return call->getResults();
  }

private:
  /// The context's `user` is the stream, so the text has a place of its own.
  static std::string &message() {
    static std::string text;
    return text;
  }
  static void keepMessage(void *, int32_t, const char *text) { message() = text; }

  resid_ctx logged = {RESID_ABI_VERSION, 0, nullptr, nullptr, nullptr, nullptr, nullptr, keepMessage};
  resid_ctx context = RESID_CTX_INIT;
  /// The context of the driver is current as long as this lives.
  Place place;
  LoadedFunction function;
  std::unique_ptr<KernelCall> call;
  DeviceArrays arrays;
};

} // namespace

Expected<std::unique_ptr<Backend>> makeCUDABackend(func::FuncOp function, llvm::ArrayRef<Array> arguments,
                                                   const Options &options) {
  auto targets = machine::resolveTargets("", options.mcpu);
  if (!targets)
    return makeError(tools::ExitUsage, "--mcpu: " + llvm::toString(targets.takeError()));
  auto chips = mlir::resid::cuda::resolveChips(mlir::resid::cuda::kDefaultChip);
  if (!chips)
    return makeError(tools::ExitInternal, llvm::toString(chips.takeError()));
  auto target = mlir::resid::cuda::makeTarget({std::move(*chips), options.schedule.ofGPUs, options.relaxesProducts,
                                               /*assembler=*/""},
                                              cpu::makeTarget(std::move(*targets)));
  Expected<CompiledFunction> compiled =
      compileFunction(function, std::move(target), ProgramMode::Training, options.raise);
  if (!compiled)
    return compiled.takeError();
  Expected<LoadedFunction> loaded = loadFunction(*compiled);
  if (!loaded)
    return loaded.takeError();
  auto call = KernelCall::create(std::move(compiled->signature), arguments, {options.rowPadding, options.inPlace});
  if (!call)
    return call.takeError();
  auto backend = std::make_unique<CUDABackend>(std::move(*loaded), std::move(*call));
  if (Error error = backend->prepare())
    return std::move(error);
  return backend;
}

} // namespace mlir::resid::run
