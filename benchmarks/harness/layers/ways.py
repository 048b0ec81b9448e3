# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The ways to compute layers, each with something that times it: compiled by resid, whole and part by part, and peers.

import ctypes
import dataclasses
import re

from . import model
from ..compiled import Unavailable
from ..native import Sequence, address_of, make_call
from ..variants import Variant

# What a part of a layer is called in the tables.
PARTS = {"query_key_value": "query, key, value", "attention": "attention",
         "attention_output": "projection, residual add, norm", "up": "feed-forward up, GELU",
         "down": "feed-forward down, residual add, norm"}


class Ways:
    """All ways of one process; asks each for its variants of a case. `libraries`: by the form of the weights, attention
    and the number of layers."""

    def __init__(self, native, arrays, libraries, peers):
        self.native, self.arrays, self.libraries, self.peers = native, arrays, libraries, peers
        self.reasons, self.kept = [], []

    def skip(self, what, reason):
        """Says once why something is not measured."""
        if (what, reason) not in self.reasons:
            self.reasons.append((what, reason))
            print(f"skipped: {what}: {reason}", flush=True)

    def variants(self, case):
        found = [self.whole(case, form, title, path, library) for form, title in model.FORMS
                 for path, library in self.libraries[form, "op", case.layers]]
        path, library = self.libraries["prepared", "linalg", case.layers][0]
        whole = self.whole(case, "prepared", "weights packed, attention in linalg", path, library)
        # Its softmax sums in another order.
        found.append(dataclasses.replace(whole, name=f"{path.name}-linalg", group="linalg", is_exact=False, is_close=True))
        if case.layers == 1:
            found += self.parts(case)
        for peer in self.peers:
            try:
                found += peer.variants(case, self.arrays)
            except Unavailable as reason:
                self.skip(peer.title, str(reason))
        return found

    def whole(self, case, form, title, path, library):
        program = model.make_program(case.sizes, case.layers, case.tokens, form)
        names = [name for layer in range(case.layers) for name, _ in program.parameters(layer)]
        struct = (ctypes.c_void_p * len(names))(*(self.arrays.weight(form, name) for name in names))
        self.kept.append(struct)  # as long as somebody may call with it
        call = make_call(address_of(library, "model"), [self.native.context(case.threads, lends_memory=True),
                                                        self.arrays["x"], ctypes.addressof(struct), self.arrays["y"]])
        # Judged are packed weights, as the first residc reads them.
        name = path.name if form == "prepared" else f"{path.name}-{form}"
        return Variant(name, f"{path.title}, {title}", "resid" if form == "prepared" else form,
                       Sequence(self.native, [call], case.threads).time, is_exact=True)

    def parts(self, case):
        """Each part of a layer alone, on what the parts before it computed, and all of them one after the other."""
        _, library = self.libraries["prepared", "op", 1][0]
        program = model.make_program(case.sizes, 1, case.tokens, "prepared")
        context, calls = self.native.context(case.threads, lends_memory=True), []
        for stage in program.stages(0, "x"):
            parameters = [name for name, _ in program.parameters(0) if re.search(rf"%{name}\b", stage.text)]
            values = [context, *(self.arrays[name] for name in stage.inputs),
                      *(self.arrays.weight("prepared", name) for name in parameters),
                      *(self.arrays["y" if name == "l0_result" else name] for name in stage.results)]
            calls.append(make_call(address_of(library, f"part_{stage.name}"), values))
            yield Variant(f"part-{stage.name.replace('_', '-')}", PARTS[stage.name], "part",
                          Sequence(self.native, [calls[-1]], case.threads).time)
        yield Variant("resid-parts", "resid, part by part", "parts", Sequence(self.native, calls, case.threads).time,
                      is_exact=True)
