"""Reads the results of tfexp. They are plain files, so only Python is needed.

    import tfexp_results

    results = tfexp_results.read("results/fcfs_vs_rr")
    for job in results.jobs.where(policy="rr"):
        print(job["job"], job["waiting_s"])
    print(results.metrics.column("mean_jct_s"))
    frame = results.jobs.pandas()  # needs pandas

Numbers are int or float, true and false are bool, and unknown values are None. Times are seconds from the start of
the cell.

python3 -m tfexp_results mlflow RESULTS writes the cells as runs of MLflow; with tensorboard in place of mlflow, as runs of
TensorBoard. The libraries of these must be installed.
"""

import csv
import json
import os

__all__ = ["read", "read_all", "Results", "Table", "Cell"]

# The columns whose values are texts, even if they look like numbers.
_TEXT = frozenset([
    "cell", "workload", "hardware", "policy", "job", "class", "user", "state", "engine", "resource", "model", "unit", "host",
    "role", "metric", "baseline", "candidate", "verdict", "method", "by", "group", "node", "region", "device", "market",
    "tuning", "scenario", "controller", "sequence",
])


def read(folder):
    """The results of one experiment. The folder is the experiment's, or contains a single experiment."""
    found = read_all(folder)
    if len(found) != 1:
        raise ValueError("there are %d experiments in %s: %s" % (len(found), folder, ", ".join(sorted(found))))
    return next(iter(found.values()))


def read_all(folder):
    """The results of all experiments in a folder of results, by name."""
    folder = os.fspath(folder)
    if os.path.exists(os.path.join(folder, "plan.json")):
        return {os.path.basename(os.path.normpath(folder)): Results(folder)}
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    found = {n: Results(os.path.join(folder, n)) for n in names if os.path.exists(os.path.join(folder, n, "plan.json"))}
    if not found:
        raise FileNotFoundError("there are no results of tfexp in %s" % folder)
    return found


class Results:
    """The results of one experiment. Each table of its folder is an attribute: jobs, metrics, comparisons, ..."""

    def __init__(self, folder):
        self.folder = folder
        self.plan = _json(os.path.join(folder, "plan.json"))
        self.name = _local(self.plan["experiment"], folder)
        self._tables = {}
        self._shards = None

    @property
    def run(self):
        """The content of run.json: when and where it ran, and how it ended; {} before a run."""
        path = os.path.join(self.folder, "run.json")
        return _json(path) if os.path.exists(path) else {}

    @property
    def tables(self):
        """The names of the existing tables."""
        return sorted(n[:-4] for n in os.listdir(self.folder) if n.endswith(".csv"))

    def table(self, name):
        """The table of this name."""
        if name not in self._tables:
            path = os.path.join(self.folder, name + ".csv")
            if not os.path.exists(path):
                raise KeyError("there is no table %r in %s; there are: %s" % (name, self.folder, ", ".join(self.tables)))
            self._tables[name] = Table.read(path, self.plan.get("axes") or [])
        return self._tables[name]

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self.table(name)
        except KeyError as e:
            raise AttributeError(e.args[0]) from None

    @property
    def cells(self):
        """The cells in the order of the plan."""
        return [Cell(self, ref) for ref in self.plan["cells"]]

    @property
    def pictures(self):
        """The pictures that were drawn, as dicts with name and kind, and if they exist cell, svg, png and pdf. The last
        three are paths below the folder."""
        path = os.path.join(self.folder, "plots", "pictures.json")
        drawn = _json(path) if os.path.exists(path) else []
        return [{k: "plots/" + v if k in ("svg", "png", "pdf") and v else v for k, v in p.items()} for p in drawn]

    def _sharded(self, name, key):
        """The result of a cell that is stored in a file with other cells; None for other cells."""
        if self._shards is None:
            self._shards = {}
            folder = os.path.join(self.folder, "cells")
            for shard in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
                if shard.endswith(".jsonl"):
                    for line in _lines(os.path.join(folder, shard)):
                        self._shards[line["cell"], line["result"].get("key", "")] = line["result"]
        return self._shards.get((name, key))

    def cell(self, name):
        """The cell of this name."""
        for c in self.cells:
            if c.name == name:
                return c
        raise KeyError("there is no cell %r in %s" % (name, self.folder))

    def __repr__(self):
        return "<results of %s: %s>" % (self.name, ", ".join(self.tables))


class Cell:
    """A cell of the plan: workload, hardware, policy, axes and replicate. A trial of a search also has settings."""

    def __init__(self, results, ref):
        self.name = _local(ref["cell"], results.folder)
        self.seed, self.engine = ref.get("seed", 0), ref.get("engine", "")
        self.settings = {s["name"]: s["value"] for s in (ref.get("trial") or {}).get("settings") or []}
        self._results, self._key = results, ref.get("key", "")
        self.workload, self.hardware, self.policy = ref["workload"], ref["hardware"], ref["policy"]
        self.replicate = ref["replicate"]
        self.axes = {a["name"]: a["value"] for a in ref.get("axes") or []}
        self.folder = os.path.join(results.folder, "cells", self.name)
        self._axes = results.plan.get("axes") or []

    @property
    def result(self):
        """A dict about the cell's end with state, seconds and metrics; None before it has run."""
        found = self._results._sharded(self.name, self._key)
        path = os.path.join(self.folder, "cell.json")
        if found is None and os.path.exists(path):
            found = _json(path)
            if self._key and found.get("key", self._key) != self._key:
                return None  # it belongs to an earlier plan
        return found

    @property
    def complete(self):
        """Whether the cell has run."""
        return self.result is not None

    @property
    def jobs(self):
        """The jobs of the cell, one row each."""
        return Table.read(os.path.join(self.folder, "jobs.csv"), self._axes)

    def events(self):
        """The events of its jobs, in the order of time."""
        return _lines(os.path.join(self.folder, "events.jsonl"))

    def decisions(self):
        """The decisions of the scheduler, with their reasons."""
        return _lines(os.path.join(self.folder, "decisions.jsonl"))

    def progress(self):
        """The progress reports of jobs: epoch, loss, accuracy."""
        for name in ("progress.jsonl", "progress.csv"):
            path = os.path.join(self.folder, name)
            if os.path.exists(path):
                return _lines(path) if name.endswith("l") else Table.read(path, self._axes)
        return []

    def occupancy(self):
        """The resources in use over time, one row for each change: t_s, cores_held, running, queued, paused."""
        path = os.path.join(self.folder, "occupancy.csv")
        if os.path.exists(path):
            with open(path, newline="", encoding="utf-8") as f:
                for row in csv.DictReader(f):
                    yield {name: _number(field) for name, field in row.items()}

    def log(self, job):
        """The output of a job."""
        with open(os.path.join(self.folder, "logs", job + ".log"), encoding="utf-8", errors="replace") as f:
            return f.read()

    def __repr__(self):
        return "<cell %s>" % self.name


class Table(list):
    """The rows of a table as dicts, in the order of the file; columns has the names of columns."""

    def __init__(self, rows=(), columns=()):
        super().__init__(rows)
        self.columns = list(columns)

    @classmethod
    def read(cls, path, axes=()):
        """Reads a CSV table. The values of an axis are numbers if all of the column are."""
        with open(path, newline="", encoding="utf-8") as f:
            lines = csv.reader(f)
            columns = next(lines, [])
            rows = list(lines)
        convert = []
        for i, name in enumerate(columns):
            convert.append(_text if name in _TEXT and name not in axes else _kind(row[i] for row in rows))
        made = ({name: of(field) for name, of, field in zip(columns, convert, row)} for row in rows)
        return cls(made, columns)

    def column(self, name):
        """The values of a column."""
        if name not in self.columns:
            raise KeyError("there is no column %r; there are: %s" % (name, ", ".join(self.columns)))
        return [row[name] for row in self]

    def where(self, **values):
        """The rows that have these values: where(policy="rr", replicate=1)."""
        for name in values:
            if name not in self.columns:
                raise KeyError("there is no column %r; there are: %s" % (name, ", ".join(self.columns)))
        return Table((r for r in self if all(r[n] == v for n, v in values.items())), self.columns)

    def pandas(self):
        """The table as a pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(list(self), columns=self.columns)


def _local(name, folder):
    """Checks that a name is a valid folder name, since results may come from other users."""
    if not name or os.path.isabs(name) or ".." in name.replace("\\", "/").split("/"):
        raise ValueError("%s names an experiment or a cell %r, which cannot be the name of a folder" % (
            os.path.join(folder, "plan.json"), name))
    return name


def _json(path):
    with open(path, encoding="utf-8") as f:
        try:
            return json.load(f)
        except ValueError as e:
            raise ValueError("%s is damaged: %s" % (path, e)) from e


def _lines(path):
    """The JSON objects of a file, one in each line. An incomplete last line, which is still being written, is skipped."""
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.endswith("\n") and line.strip()]


def _text(field):
    return field


def _number(field):
    if field == "":
        return None
    try:
        return int(field)
    except ValueError:
        return float(field)


def _boolean(field):
    return {"": None, "true": True, "false": False}[field]


def _kind(fields):
    """The function that converts the fields of a column: to numbers or booleans if all are, else to texts."""
    known = [f for f in fields if f != ""]
    if known and all(f in ("true", "false") for f in known):
        return _boolean
    try:
        for f in known:
            float(f)
    except ValueError:
        return _text
    return _number
