# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The parts of layer.py: a model's weights, ways to compute its layers, peers, tables. Does not own: the program of the layers
# (transformer.py), nor how samples are taken (harness/measure.py).
