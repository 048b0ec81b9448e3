# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The part of layer.py that generates tokens with a small decoder: compiles its step, measures it beside peers, writes
# generation.csv. Does not own: how samples are taken (harness/measure.py).

from .. import commands, compiled, measure, report
from ..peers import find
from . import model, tables, ways
from .model import Decoder
from .peers import PEERS


def compile_steps(options, decoder, folder):
    """Form of the weights -> libraries with a function `step`."""
    found = {}
    for form, _ in model.FORMS:
        text = model.Program(decoder, form).text()
        found[form] = commands.compile_libraries(options, compiled.PATHS[:1], lambda _, text=text: text, folder / f"step-{form}",
                                                 ("--weights-struct",))
    return found


def measure_steps(options, side, decoder, pasts, threads, plan, folder):
    """The results of one token after each of these numbers of others, and the ways that were measured, if any."""
    if not pasts:
        return report.Results({}), []
    arrays = model.StepArrays(side, decoder)
    found = ways.Ways(side, arrays, compile_steps(options, decoder, folder), find(side, options, PEERS, __name__))
    cases = [model.StepCase(decoder, past, thread) for thread in threads for past in pasts]
    return report.Results(measure.measure_cases(found, plan, cases)), [found]


def write(options, results):
    """The tables as a section."""
    tables.write_csv(results, options.out / "generation.csv")
    return tables.markdown(results)
