// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tools/residc/EmitKinds.h"

using namespace mlir::resid::tools;
using mlir::resid::machine::CodeKind;

static constexpr EmitKind kinds[] = {
    {"obj", ".o", EmitSource::Code, CodeKind::Object},   {"shared", ".so", EmitSource::Shared, CodeKind::Object},
    {"asm", ".s", EmitSource::Code, CodeKind::Assembly}, {"llvm", ".ll", EmitSource::Code, CodeKind::LLVM},
    {"ptx", ".ptx", EmitSource::PTX, std::nullopt},      {"mlir", ".mlir", EmitSource::Program, std::nullopt},
    {"svg", ".svg", EmitSource::Drawing, std::nullopt},  {"header", ".h", EmitSource::Header, std::nullopt},
};

llvm::ArrayRef<EmitKind> mlir::resid::tools::getEmitKinds() { return kinds; }
