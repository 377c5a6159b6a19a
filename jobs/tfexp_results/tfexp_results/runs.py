"""The cells of an experiment as the runs of a tracker: parameters, metrics, curves and pictures.

A metric is a number of a run. A curve is a name with points (t, step, value): t in seconds from the start of the cell,
step in epochs, steps of training or milliseconds.
"""

import datetime
import math
import os
import re

# The most points of a curve over time are twice as many: more cannot be seen.
MOST_POINTS = 1000


def runs(results):
    """The cells that have run, trials of searches included, with their results: pairs of a Cell and a dict."""
    found = ((c, c.result) for c in results.cells)
    return [(c, result) for c, result in found if result is not None]


def started(results):
    """When the run began, in seconds since 1970; 0 where that is not known."""
    text = results.run.get("started", "")
    # Python before 3.11 reads neither Z nor nanoseconds.
    text = re.sub(r"\.\d+", "", text.replace("Z", "+00:00"))
    try:
        return datetime.datetime.fromisoformat(text).timestamp()
    except ValueError:
        return 0.0


def params(cell):
    """The place of a cell in the matrix, and the settings of a trial; replicates have the same."""
    return {"workload": cell.workload, "hardware": cell.hardware, "policy": cell.policy, "engine": cell.engine,
            **cell.axes, **cell.settings}


def variant(cell):
    """The policy of a cell with the values of its axes, and of the settings of a trial: "rr quantum=1s"."""
    return " ".join([cell.policy] + ["%s=%s" % a for a in [*cell.axes.items(), *cell.settings.items()]])


def metrics(result):
    """The metrics that are known of a cell."""
    return {name: value for name, value in (result.get("metrics") or {}).items() if _known(value)}


def file(results, name):
    """The path of a file of the experiment; None where there is none. A link to a place outside the folder is none."""
    folder = os.path.realpath(results.folder)
    path = os.path.realpath(os.path.join(folder, name))
    return path if os.path.isfile(path) and os.path.commonpath([folder, path]) == folder else None


def curves(cell):
    """The curves of a cell: the losses and accuracies that its programs reported, and its resources over time."""
    found = _training(cell)
    found.update(_occupancy(cell))
    return found


def _known(value):
    return isinstance(value, (int, float)) and math.isfinite(value)


def _training(cell):
    """Steps are epochs, or steps of training where a program counts no epochs."""
    rows = cell.progress()
    epochs = {r["job"] for r in rows if r.get("epoch")}
    found = {}
    for r in rows:
        step = r.get("epoch" if r["job"] in epochs else "step") or 0
        for name in ("loss", "accuracy"):
            if _known(r.get(name)):
                found.setdefault("%s/%s" % (name, r["job"]), []).append((r["t_s"], step, r[name]))
    return found


def _occupancy(cell):
    """The cores in use and the jobs that wait. Of a cell with many changes they have each second, fourth, ..."""
    cores, waiting, every = [], [], 1
    for n, row in enumerate(cell.occupancy()):
        if n % every == 0:
            step = round(row["t_s"] * 1000)
            cores.append((row["t_s"], step, row["cores_held"]))
            waiting.append((row["t_s"], step, row["queued"] + row["paused"]))
        if len(cores) == 2 * MOST_POINTS:
            every *= 2
            del cores[1::2], waiting[1::2]
    return {"over time/cores in use": cores, "over time/jobs waiting": waiting} if cores else {}
