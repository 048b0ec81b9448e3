# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The ways to compute a step of a decoder, each with something that times it: compiled by resid, and peers.

import ctypes

from . import model
from ..compiled import Unavailable
from ..native import Sequence, address_of, make_call
from ..variants import Variant


class Ways:
    """All ways of one process; asks each for its variants of a case. `libraries`: by the form of the weights."""

    def __init__(self, native, arrays, libraries, peers):
        self.native, self.arrays, self.libraries, self.peers = native, arrays, libraries, peers
        self.reasons, self.kept = [], []

    def variants(self, case):
        found = [self.compiled(case, form, title, path, library) for form, title in model.FORMS
                 for path, library in self.libraries[form]]
        for peer in self.peers:
            try:
                found += peer.variants(case, self.arrays)
            except Unavailable as reason:
                if (peer.title, str(reason)) not in self.reasons:
                    self.reasons.append((peer.title, str(reason)))
                    print(f"skipped: {peer.title}: {reason}", flush=True)
        return found

    def compiled(self, case, form, title, path, library):
        """The caches are written in place, so a step can be made again."""
        names, caches = list(case.decoder.parameters), [self.arrays[name] for name in case.decoder.caches]
        struct = (ctypes.c_void_p * len(names))(*(self.arrays.weight(form, name) for name in names))
        self.kept.append(struct)  # as long as somebody may call with it
        call = make_call(address_of(library, "step"), [self.native.context(case.threads, lends_memory=True), self.arrays["id"],
                                                       case.past, *caches, ctypes.addressof(struct), self.arrays["y"], *caches])
        # Judged are packed weights, as the first residc reads them.
        name = path.name if form == "prepared" else f"{path.name}-{form}"
        return Variant(name, f"{path.title}, {title}", "resid" if form == "prepared" else form,
                       Sequence(self.native, [call], case.threads).time, is_exact=True)
