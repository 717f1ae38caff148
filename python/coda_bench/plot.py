"""Plots of ratios: PNG by matplotlib, SVG and HTML by hand."""
import html
from typing import Dict, List, Tuple

from .errors import UsageError
from .manifest import write_text

# Colours that stay apart in print and for the colour-blind (Okabe and Ito).
COLOURS = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#999999"]
LARGEST = 1.6
SUFFIXES = (".png", ".svg", ".html")


def series(rows: Dict[str, dict]) -> Tuple[List[str], Dict[str, List[float]]]:
    """Labels of the ops, and per provider a ratio for each op, NaN where none is."""
    labels, names, nan = [], [], float("nan")
    measured = []
    for key, row in rows.items():
        ratios = {}
        for name, entry in row["providers"].items():
            regime = next((r for r in ("flushed", "sustained") if r in entry), None)
            if name != "cublas" and regime and "ratio" in entry[regime]:
                ratios[name] = entry[regime]["ratio"]
        if ratios:
            labels.append(key)
            measured.append(ratios)
            names += [name for name in ratios if name not in names]
    names.sort(key=lambda name: name != "coda")
    return labels, {name: [ratios.get(name, nan) for ratios in measured] for name in names}


def svg(labels: List[str], ratios: Dict[str, List[float]]) -> str:
    """Horizontal bars, a group an op; the line at 1 is the products alone."""
    left, width, bar = 330, 560, 9
    group = bar * max(1, len(ratios)) + 8
    top = 34
    height = top + group * len(labels) + 10
    scale = width / LARGEST
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
        'font-family="sans-serif" font-size="11">' % (left + width + 60, height),
        '<rect width="100%" height="100%" fill="white"/>']
    for number, name in enumerate(ratios):
        x = left + number * 95
        parts.append('<rect x="%d" y="8" width="10" height="10" fill="%s"/>' % (
            x, COLOURS[number % len(COLOURS)]))
        parts.append('<text x="%d" y="17">%s</text>' % (x + 14, html.escape(name)))
    for row, label in enumerate(labels):
        y = top + row * group
        parts.append('<text x="%d" y="%.1f" text-anchor="end">%s</text>' % (
            left - 6, y + group / 2, html.escape(label)))
        for number, values in enumerate(ratios.values()):
            value = values[row]
            if value != value:
                continue
            parts.append('<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>' % (
                left, y + number * bar, min(value, LARGEST) * scale, bar - 1,
                COLOURS[number % len(COLOURS)]))
            parts.append('<text x="%.1f" y="%d" font-size="9">%.2f</text>' % (
                left + min(value, LARGEST) * scale + 3, y + number * bar + 8, value))
    parts.append('<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="black"/>' % (
        left + scale, left + scale, top - 6, height - 6))
    return "\n".join(parts + ["</svg>", ""])


def _png(path: str, labels: List[str], ratios: Dict[str, List[float]]) -> None:
    try:
        import matplotlib
    except ImportError:
        raise UsageError(
            "matplotlib is not there, which a PNG needs; give a path in .svg or .html") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    size = 0.8 / max(1, len(ratios))
    figure, axes = pyplot.subplots(figsize=(9, 1 + 0.3 * len(labels) * max(1, len(ratios)) / 2))
    for number, (name, values) in enumerate(ratios.items()):
        axes.barh(
            [row + number * size for row in range(len(labels))], values, size, label=name,
            color=COLOURS[number % len(COLOURS)])
    axes.set_yticks([row + 0.4 - size / 2 for row in range(len(labels))], labels, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, LARGEST)
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set_xlabel("time / time of the products alone (cuBLAS)")
    axes.legend(fontsize=8)
    figure.tight_layout()
    try:
        figure.savefig(path, dpi=120)
    except OSError as error:
        raise UsageError("cannot write %s: %s" % (path, error.strerror)) from None
    finally:
        pyplot.close(figure)


def write(path: str, rows: Dict[str, dict]) -> None:
    """By the suffix of `path`, one of SUFFIXES. Raises UsageError."""
    labels, ratios = series(rows)
    if path.endswith(".png"):
        _png(path, labels, ratios)
        return
    text = svg(labels, ratios)
    if path.endswith(".html"):
        text = "<!doctype html>\n<meta charset=\"utf-8\">\n<title>coda-bench</title>\n" + text
    write_text(path, text)
