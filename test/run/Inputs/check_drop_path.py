# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Whether drop path has left some images of a batch as they were, bit by bit, and changed every element of the others.
# Usage: check_drop_path.py BEFORE.npy AFTER.npy

import math
import sys

import npy

(shape, before), (_, after) = npy.read(sys.argv[1]), npy.read(sys.argv[2])
size = math.prod(shape[1:])
same = [sum(before[i] == after[i] for i in range(image * size, (image + 1) * size)) for image in range(shape[0])]
dropped = sum(count == size for count in same)
changed = sum(count == 0 for count in same)
if dropped == 0 or changed == 0 or dropped + changed != shape[0]:
    raise SystemExit(f"expected images dropped or changed as a whole, some of each, but got {same} equal elements of {size}")
