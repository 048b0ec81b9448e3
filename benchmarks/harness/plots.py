# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The pictures, by Matplotlib: per kernel the speed over the width beyond the cache, and over the rows with a reader of
# the results; and the limit over sizes. Does not own: what is measured, nor which cases lie beyond the cache.

import collections
import itertools

try:
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
except ImportError:
    matplotlib = None

MISSING = "Matplotlib is not installed (`make bench-peers` installs it beside the peers)"

# What is drawn: a variant by its name, else the best of a group. Groups are told apart by colour and mark.
CURVES = (
    ("limit", "limit: copies of the same arrays", "#7c8594", "--", "_"),
    ("hand", "hand-written, the best", "#c2600c", "-", "s"),
    ("resid", "resid", "#3b6fe0", "-", "o"),
    ("resid-scalar", "resid, scalar path", "#79a8f5", "-", "v"),
    ("unfused", "resid, op by op", "#15897c", ":", "^"),
    ("peer", "the best peer", "#c8347a", "-", "D"),
    ("resid-hint-read-soon", "resid, hint: read soon", "#8a5cd6", ":", "<"),
    ("resid-hint-stream", "resid, hint: past the cache", "#c8347a", ":", ">"),
)
SPREAD = "bars: the middle half of the samples"
# Lines and letters are dark on light pages and light on dark ones; the page shines through.
INK, PALE = "#1f2937", "#d1d5db"
DARK = (f'<style>@media (prefers-color-scheme: dark) {{ [style*="{INK}"] {{ fill: #e5e7eb !important; '
        f'stroke: #e5e7eb }} text {{ stroke: none !important }} [style*="{PALE}"] {{ stroke: #4b5563 !important }} }}'
        "</style>")
SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "resid", "font.family": "sans-serif", "text.color": INK,
            "axes.labelcolor": INK, "axes.edgecolor": INK, "xtick.color": INK, "ytick.color": INK, "grid.color": PALE,
            "axes.facecolor": "none", "figure.facecolor": "none", "legend.frameon": False, "font.size": 9}


def pick(results, case, curve):
    """The record that a curve shows."""
    return results.records.get((case, curve)) or results.best(case, curve)


def name_peers(records):
    """Which peers are the best how often, such as `the best peer: oneDNN (3), PyTorch (1)`."""
    counts = collections.Counter(record.title for record in records)
    return "the best peer: " + ", ".join(f"{title} ({count})" for title, count in counts.most_common())


def draw_curve(axes, results, cases, curve, x):
    """Points with their spread; a line joins those of as many elements, since others differ in more than x."""
    name, title, colour, line, mark = curve
    found = [(case, record) for case in cases if (record := pick(results, case, name))]
    if not found:
        return None
    for _, group in itertools.groupby(sorted(found, key=lambda pair: (x.group(pair[0]), x.place(pair[0]))),
                                      key=lambda pair: x.group(pair[0])):
        group = list(group)
        speeds = [record.gigabytes() for _, record in group]
        # The quartile of the times that is longer is the slower speed.
        spread = [[max(0, speed - record.gigabytes(record.quartiles()[1])) for speed, (_, record) in zip(speeds, group)],
                  [max(0, record.gigabytes(record.quartiles()[0]) - speed) for speed, (_, record) in zip(speeds, group)]]
        handle = axes.errorbar([x.place(case) for case, _ in group], speeds, spread, color=colour, linestyle=line,
                               marker=mark, markersize=5, linewidth=1.4, elinewidth=1, capsize=2)
    return handle, name_peers([record for _, record in found]) if name == "peer" else title


class OverWidth:
    """Columns that people know by their width; the rows stand below it, and cases of one size are joined."""
    label = "width and rows (logarithmic; joined: cases of one size)"

    def place(self, case):
        return case.width

    def group(self, case):
        return case.elements

    def tick(self, width, cases):
        return f"{width}\n" + "\n".join(f"x {case.rows}" for case in cases if case.width == width)


class OverRows:
    label = "rows (logarithmic; k: 1024)"

    def place(self, case):
        return case.rows

    def group(self, case):
        return case.width

    def tick(self, rows, _):
        return str(rows) if rows < 1024 else f"{rows / 1024:g}k"


def set_ticks(axes, cases, x):
    axes.set_xscale("log", base=2)
    places = sorted({x.place(case) for case in cases})
    # Those that stand almost at one place, 768 and 769 say, get one label.
    shown = [place for index, place in enumerate(places) if index == 0 or place > 1.1 * places[index - 1]]
    unique = list({(case.rows, case.width): case for case in cases}.values())
    axes.set_xticks(shown, [x.tick(place, unique) for place in shown])
    axes.minorticks_off()


def save(figure, path):
    figure.savefig(path, format="svg", bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)
    text = path.read_text()
    path.write_text(text.replace("<defs>", f"{DARK}\n <defs>", 1))
    return path


def draw(results, title, cases, x, path):
    """A panel per element type."""
    types = list(dict.fromkeys(case.type for case in cases))
    figure, panels = pyplot.subplots(1, len(types), figsize=(5.2 * len(types), 3.6), sharey=True, squeeze=False)
    legend = {}
    for axes, element in zip(panels[0], types):
        chosen = [case for case in cases if case.type == element]
        for curve in CURVES:
            drawn = draw_curve(axes, results, chosen, curve, x)
            if drawn:
                legend[drawn[1]] = drawn[0]
        set_ticks(axes, chosen, x)
        axes.set(title=element, xlabel=x.label, ylim=(0, None))
        axes.grid(axis="y")
    panels[0][0].set_ylabel("GB/s of compulsory bytes")
    figure.suptitle(title)
    figure.legend(legend.values(), legend.keys(), loc="upper center", bbox_to_anchor=(0.5, 0), ncols=2, title=SPREAD)
    return save(figure, path)


def draw_limit(points, beyond, path):
    figure, axes = pyplot.subplots(figsize=(6.4, 3.4))
    megabytes = [point.bytes / 1e6 for point in points]
    axes.plot(megabytes, [point.plain for point in points], color="#3b6fe0", marker="o", label="plain stores")
    axes.plot(megabytes, [point.streamed for point in points], color="#c2600c", marker="s",
              label="non-temporal stores")
    axes.plot(megabytes, [point.fetched for point in points], color="#2f8f4e", marker="^",
              label="non-temporal stores and prefetches")
    axes.axvline(beyond / 1e6, color="#7c8594", linestyle="--", label="beyond the caches from here on")
    axes.set(xscale="log", xlabel="MB of all four arrays", ylabel="GB/s", ylim=(0, None),
             title="The limit: two arrays read, two written, one thread")
    axes.grid(axis="y")
    axes.legend(loc="upper right")
    return save(figure, path)


def count_threads(threads):
    return "one thread" if threads == 1 else f"{threads} threads"


def write_plots(results, points, beyond, folder):
    """The pictures of all cases beyond the cache (of all where none is), of those with a reader, and of the limit.
    Answers their paths; none where there is no Matplotlib."""
    if matplotlib is None:
        print(f"skipped: pictures: {MISSING}", flush=True)
        return []
    paths = []
    with matplotlib.rc_context(SETTINGS):
        alone = [case for case in results.cases if not case.is_read]
        far = [case for case in alone if case.bytes >= beyond] or alone
        for kernel, threads in dict.fromkeys((case.kernel, case.threads) for case in far):
            chosen = [case for case in far if (case.kernel, case.threads) == (kernel, threads)]
            paths.append(draw(results, f"{kernel.title}, beyond the cache, {count_threads(threads)}", chosen, OverWidth(),
                              folder / f"{kernel.name}-{threads}t.svg"))
        read = [case for case in results.cases if case.is_read]
        for kernel, threads in dict.fromkeys((case.kernel, case.threads) for case in read):
            chosen = [case for case in read if (case.kernel, case.threads) == (kernel, threads)]
            title = f"{kernel.title} and a reader of its results, width {chosen[0].width}, {count_threads(threads)}"
            paths.append(draw(results, title, chosen, OverRows(), folder / f"{kernel.name}-read-{threads}t.svg"))
        if points:
            paths.append(draw_limit(points, beyond, folder / "limit.svg"))
    return paths
