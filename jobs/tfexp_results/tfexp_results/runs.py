"""Converts the cells of an experiment into runs of a tracker: parameters, metrics, curves and pictures.

A metric is a number of a run. A curve has a name and points (t, step, value): t in seconds from the start of the cell,
step in epochs, training steps or milliseconds.
"""

import datetime
import math
import os
import re

# A curve over time has at most twice as many points, since more cannot be distinguished.
MOST_POINTS = 1000


def runs(results):
    """Pairs of a Cell that has run and its result, a dict. Trials of searches are included."""
    found = ((c, c.result) for c in results.cells)
    return [(c, result) for c, result in found if result is not None]


def started(results):
    """When the run began, in Unix seconds; 0 if unknown."""
    text = results.run.get("started", "")
    # Python before 3.11 cannot parse Z and nanoseconds.
    text = re.sub(r"\.\d+", "", text.replace("Z", "+00:00"))
    try:
        return datetime.datetime.fromisoformat(text).timestamp()
    except ValueError:
        return 0.0


def params(cell):
    """The axis values of a cell, and the settings of a trial. They are equal for all replicates."""
    return {"workload": cell.workload, "hardware": cell.hardware, "policy": cell.policy, "engine": cell.engine,
            **cell.axes, **cell.settings}


def variant(cell):
    """The policy of a cell with the axis values, and the settings of a trial: "rr quantum=1s"."""
    return " ".join([cell.policy] + ["%s=%s" % a for a in [*cell.axes.items(), *cell.settings.items()]])


def metrics(result):
    """The known metrics of a cell."""
    return {name: value for name, value in (result.get("metrics") or {}).items() if _known(value)}


def file(results, name):
    """The path of a file of the experiment; None if it is missing, or a link to a place outside the folder."""
    folder = os.path.realpath(results.folder)
    path = os.path.realpath(os.path.join(folder, name))
    return path if os.path.isfile(path) and os.path.commonpath([folder, path]) == folder else None


def curves(cell):
    """The curves of a cell: reported losses and accuracies, and resources over time."""
    found = _training(cell)
    found.update(_occupancy(cell))
    return found


def _known(value):
    return isinstance(value, (int, float)) and math.isfinite(value)


def _training(cell):
    """The curves of one job's reports. Steps are epochs, or training steps if the program counts no epochs."""
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
    """The cores in use and the number of waiting jobs over time. Of many changes, only every 2nd, 4th, ... is kept."""
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
