// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program that is residc alone, whatever its name: what `make demo` builds.

#include "tools/driver/Tools.h"

int main(int argc, char **argv) { return mlir::resid::tools::residcMain(argc, argv); }
