# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_manifest.py FILE FUNCTION FROM TO CLASS ENTRY ...: fails unless the manifest FILE is one conversion, of these fields,
# with a parameter "name:action:from:to" for each ENTRY, in order; an empty text stands for null.
import json
import sys

with open(sys.argv[1]) as file:
    found = json.load(file)
parameters = [dict(zip(("name", "action", "from", "to"), (text or None for text in entry.split(":")))) for entry in sys.argv[6:]]
expected = dict(zip(("function", "from", "to", "class"), sys.argv[2:6]), version=1, parameters=parameters)
if found != expected:
    sys.exit(f"expected {json.dumps(expected, indent=1)}\nbut got {json.dumps(found, indent=1)}")
