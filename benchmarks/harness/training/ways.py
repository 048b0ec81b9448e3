# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The ways to do a step of training. Each is a trainer: something that computes losses with their gradients, and updates the weights.

import ctypes

from . import model
from ..compiled import Unavailable
from ..peers import spins, timed
from ..variants import Variant

BETAS, DECAY, EPSILON = (0.9, 0.99), 0.01, 1e-8
COMPARED_STEPS, RATE = 10, 1e-3
# How far a first loss, a gradient (over the largest), and a later loss may be from resid's.
CLOSE_LOSS, CLOSE_GRADIENTS, CLOSE_LATER = 1e-5, 1e-4, 1e-2


class Resid:
    """The functions that residc makes of gpt.mlir and adamw.mlir."""
    group = "resid"

    def __init__(self, path, library, adamw, arrays, case, context):
        self.name, self.title, self.arrays = path.name, path.title, arrays
        weights = (ctypes.c_void_p * len(arrays.weights))(*self.places("parameters"))
        batch = [context, arrays["before"], case.rows, arrays["next"], case.rows, model.SEED, model.STEP, ctypes.addressof(weights)]
        self.kept = weights
        self.losses = arrays.numbers("losses", case.losses)
        gradients = [arrays["shares"], case.rows, arrays["losses"], *self.places("gradients")]
        self.forward = make_function(library.model, [*batch, arrays["losses"]])
        self.differentiate = make_function(library.model_value_and_grad, batch + gradients)
        self.adamw, self.context = adamw.adamw, context

    def places(self, name):
        return [self.arrays[name] + offset for offset in self.arrays.offsets]

    def start(self):
        self.arrays.start()

    def updater(self, rate, step):
        """What makes that step."""
        scales = [1 / (1 - beta**step) for beta in BETAS]
        calls = []
        for weight, *places in zip(self.arrays.weights, *map(self.places, ("parameters", "means", "squares", "gradients"))):
            rows = weight.count // model.ROW_OF_ADAMW
            numbers = [rate, DECAY if len(weight.shape) > 1 else 0.0, *BETAS, *scales, EPSILON]
            calls.append(make_function(self.adamw, [self.context, *(word for place in places for word in (place, rows)),
                                                    *numbers, *places[:3]]))

        def run():
            for call in calls:
                call()
        return run

    def loss(self):
        return sum(self.losses) / len(self.losses)

    def fetch_gradients(self, into):
        ctypes.memmove(self.arrays[into], self.arrays["gradients"], 4 * self.arrays.count)


def make_function(function, arguments):
    """A call with fixed arguments, which stops the run where it fails."""
    own = ctypes.CFUNCTYPE(ctypes.c_int32, *(ctypes.c_float if isinstance(argument, float) else ctypes.c_int64 for argument in arguments))
    function = own(ctypes.cast(function, ctypes.c_void_p).value)
    values = [(ctypes.c_float if isinstance(argument, float) else ctypes.c_int64)(argument) for argument in arguments]

    def run():
        status = function(*values)
        if status:
            raise RuntimeError(f"a kernel answered status {status}")
    return run


class Ways:
    """All ways of one process; asks each for its variants of a case."""

    def __init__(self, native, arrays, libraries, adamw, peers):
        self.native, self.arrays, self.libraries, self.adamw, self.peers = native, arrays, libraries, adamw, peers
        # Native code keeps addresses of what trainers own.
        self.reasons, self.kept = [], []

    def trainers(self, case):
        context = self.native.context(case.threads, lends_memory=True)
        found = [Resid(path, library, self.adamw, self.arrays, case, context)
                 for path, library in self.libraries[case.placement, case.dropout]]
        for peer in self.peers:
            try:
                found.append(peer.trainer(case, self.arrays))
            except Unavailable as reason:
                self.skip(peer.title, str(reason))
        return found

    def skip(self, what, reason):
        """Says once why something is not measured."""
        if (what, reason) not in self.reasons:
            self.reasons.append((what, reason))
            print(f"skipped: {what}: {reason}", flush=True)

    def variants(self, case):
        """Whole steps, and what they consist of. With a rate of zero, all steps work on the same numbers."""
        found = []
        for trainer in self.trainers(case):
            self.kept.append(trainer)
            trainer.start()
            update = trainer.updater(0.0, model.STEP)
            is_peer = trainer.group == "peer"
            for part, functions in (("", (trainer.differentiate, update)), ("losses", (trainer.forward,)),
                                    ("losses and gradients", (trainer.differentiate,)), ("AdamW", (update,))):
                found.append(Variant(f"{trainer.name}-{part.replace(' ', '-')}" if part else trainer.name,
                                     f"{trainer.title}: {part}" if part else trainer.title,
                                     f"part: {part}" if part else trainer.group,
                                     timed(in_turn(functions), case.threads), spins=is_peer and spins(case)))
        return found

    def compare(self, _, case):
        """Ends the run where a way computes something else. Masks are each library's own, so that is told without dropout."""
        if case.dropout > 0:
            return
        first = None
        for trainer in self.trainers(case):
            losses, gradients = self.train(trainer, is_first=first is None)
            first = first or losses
            off = [abs(a - b) for a, b in zip(losses, first)]
            print(f"{case.shape}, threads: {case.threads}: {trainer.title}: losses {losses[0]:.5f} to {losses[-1]:.5f}, off by "
                  f"{off[0]:.0e} to {off[-1]:.0e}, gradients off by {gradients:.0e}", flush=True)
            if not (off[0] <= CLOSE_LOSS and gradients <= CLOSE_GRADIENTS and max(off) <= CLOSE_LATER):
                raise SystemExit(f"bench: {case.shape}, threads: {case.threads}: expected the losses and gradients of "
                                 f"'resid' from '{trainer.title}'")

    def train(self, trainer, is_first):
        """Some steps from the start: the losses, and how far the first gradients are from those of the first trainer."""
        trainer.start()
        losses = []
        for step in range(1, COMPARED_STEPS + 1):
            trainer.differentiate()
            losses.append(trainer.loss())
            if step == 1:
                for name in ("expected", "other")[not is_first:]:
                    trainer.fetch_gradients(name)
                gradients = self.arrays.distance_of_gradients()
            trainer.updater(RATE, step)()
        return losses, gradients


def in_turn(functions):
    if len(functions) == 1:
        return functions[0]

    def run():
        for function in functions:
            function()
    return run
