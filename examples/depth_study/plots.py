# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The plots of the study: which curves they have, and their axes.

import math
import statistics

import results
from chart import Axis, Curve, draw

LOOKS = {"alone": ("#c2600c", "square"), "norm_alone": ("#8a5cd6", "diamond"), "none": ("#15897c", "up"),
         "pre": ("#3b6fe0", "circle"), "post": ("#c8347a", "down"), "multiply": ("#7c8594", "cross"), "static": ("#c2600c", "square"),
         "ihc": ("#15897c", "up"), "mhc": ("#c8347a", "down")}
SEEDS = "points: median of the seeds; bars: least to greatest"


def point(measured, x, runs):
    losses = [measured[run].training for run in runs]
    return x, statistics.median(losses), min(losses), max(losses)


def loss_axis():
    """From what the best networks reach to what a network that gives all bytes one probability has, log 256."""
    return Axis("loss of training, nats a byte", 2, 5.75, [(2 + 0.5 * i, f"{2 + 0.5 * i:.1f}") for i in range(8)])


def rate_axis(measured):
    rates = results.rates_of(measured)
    return Axis("learning rate", float(rates[0]) * 0.8, float(rates[-1]) * 1.25, [(float(rate), rate) for rate in rates], True)


def draw_depths(measured, path):
    depths = results.depths_of(measured)
    curves = [Curve(results.TITLES[block], *LOOKS[block],
                    [point(measured, depth, results.best_runs(measured, block, depth)) for depth in depths])
              for block in results.blocks_of(measured)]
    x = Axis("blocks", 0, max(depths) + 2, [(depth, str(depth)) for depth in depths])
    draw(path, [("Loss at each depth, at the best rate of each", x, loss_axis(), curves)], SEEDS)


def draw_rates(measured, path):
    panels = []
    for depth in results.depths_of(measured):
        curves = [Curve(results.TITLES[block], *LOOKS[block],
                        [point(measured, float(rate), results.select(measured, block, depth, rate))
                         for rate in results.rates_of(measured)]) for block in results.blocks_of(measured)]
        panels.append((f"Loss over the learning rate, depth {depth}", rate_axis(measured), loss_axis(), curves))
    draw(path, panels, SEEDS)


def draw_warm_up(measured, path):
    depth, curves = max(results.depths_of(measured)), []
    for block in results.blocks_of(measured):
        for warm_up in (results.usual_warm_up(measured), 0):
            title = f"{results.TITLES[block]}, {f'warm-up of {warm_up} steps' if warm_up else 'no warm-up'}"
            points = [point(measured, float(rate), results.select(measured, block, depth, rate, warm_up))
                      for rate in results.rates_of(measured) if results.select(measured, block, depth, rate, 0)]
            if points:
                curves.append(Curve(title, *LOOKS[block], points, "" if warm_up else "5 4"))
    draw(path, [(f"Loss with and without warm-up, depth {depth}", rate_axis(measured), loss_axis(), curves)], SEEDS)


def gradient_curves(gradients, isEnd, name):
    for (block, gain, is_end), lines in gradients.items():
        if is_end == isEnd and gain == "1":
            points = []
            for number, of_seeds in sorted(lines.items()):
                values = [value for line in of_seeds if not math.isnan(value := getattr(line, name))]
                points += [(number, statistics.median(values), min(values), max(values))] if values else []
            yield Curve(results.TITLES[block], *LOOKS[block], points)


def draw_gradients(gradients, path, name, y, title):
    deepest = max(number for lines in gradients.values() for number in lines)
    x = Axis("block", 0, deepest + 1, [(number, str(number)) for number in sorted({1, deepest // 4, deepest // 2,
                                                                                  deepest * 3 // 4, deepest})])
    panels = [(f"{title}, {when}", x, y, list(gradient_curves(gradients, isEnd, name)))
              for isEnd, when in ((False, "before training"), (True, "after it"))]
    draw(path, panels, SEEDS, max(1, deepest // 8))


def write_plots(folder):
    measured, gradients = results.read_runs(folder), results.read_gradients(folder)
    if len(results.depths_of(measured)) > 1:
        draw_depths(measured, folder / "depth.svg")
    draw_rates(measured, folder / "rates.svg")
    if results.has_other_warm_ups(measured):
        draw_warm_up(measured, folder / "warm-up.svg")
    powers = Axis("norm of the gradient by the stream", 1e-9, 1e3, [(10.0**power, f"1e{power}") for power in range(-9, 4, 2)], True)
    draw_gradients(gradients, folder / "gradient.svg", "after", powers, "Gradient after each block")
    shares = Axis("share of the gradient after it", -0.5, 2, [(0.5 * i, f"{0.5 * i:g}") for i in range(-1, 5)])
    draw_gradients(gradients, folder / "passed.svg", "passed", shares, "What each block passes on")
