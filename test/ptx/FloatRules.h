// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What floats do under names that integers have too.

#pragma once

#include "test/ptx/Decoder.h"

namespace resid::ptx {

void decodeFloatAdd(Decoder &d, Type type);
void decodeFloatSub(Decoder &d, Type type);
void decodeFloatMul(Decoder &d, Type type);
void decodeFloatDiv(Decoder &d, Type type);
void decodeFloatNeg(Decoder &d, Type type);
void decodeFloatAbs(Decoder &d, Type type);
void decodeFloatMinMax(Decoder &d, Type type, bool isMax);

} // namespace resid::ptx
