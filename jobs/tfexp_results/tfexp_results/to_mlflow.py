"""Writes an experiment to MLflow: a parent run for the experiment, and a child run for each cell."""

import os
import pathlib
import re

from mlflow import MlflowClient
from mlflow.entities import Metric, Param, RunTag

from . import runs

# The tag of the runs that tfexp wrote.
MADE_BY = "tfexp.version"

# The largest number of metrics and parameters in a request to MLflow.
_METRICS, _PARAMS = 1000, 100


def write(results, to):
    """Writes an experiment to a folder, a tracking server or a database (given by URI), and returns the number of
    cells. Earlier runs of tfexp in the MLflow experiment of the same name are moved to MLflow's trash."""
    store = _Store(results, to)
    earlier = store.earlier()
    cells = runs.runs(results)
    whole = store.whole()
    for cell, result in cells:
        store.cell(cell, result, whole)
    for run in earlier:
        store.client.delete_run(run)
    return len(cells)


def look(to):
    """The command that shows the runs."""
    if to.startswith("http"):
        return "open %s in a browser" % to
    return ("" if _is_uri(to) else "MLFLOW_ALLOW_FILE_STORE=true ") + "mlflow ui --backend-store-uri " + to


def _is_uri(to):
    return "://" in to or to.startswith("databricks")


class _Store:
    def __init__(self, results, to):
        if not _is_uri(to):
            os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")  # newer versions need it to write to a folder
            to = pathlib.Path(to).absolute().as_uri()
        self.results, self.client = results, MlflowClient(tracking_uri=to)
        self.begin, self.made, self.drawn = runs.started(results), results.run, results.pictures
        found = self.client.get_experiment_by_name(results.name)
        self.id = found.experiment_id if found else self.client.create_experiment(results.name)

    def earlier(self):
        """The runs that an earlier export wrote."""
        found, page = [], None
        while True:
            page = self.client.search_runs([self.id], max_results=1000, page_token=page and page.token)
            found += [r.info.run_id for r in page if MADE_BY in r.data.tags]
            if not page.token:
                return found

    def whole(self):
        """Writes the run of the whole experiment, and returns its id."""
        results = self.results
        run = self.begin_run(results.name, {"mlflow.note.content": results.plan.get("description", "")})
        self.params(run, {v["name"]: v["value"] for v in results.plan.get("variables") or []})
        self.artifacts(run, ["experiment.hcl", "experiment.hcl.json", "report.html", "metrics.csv", "comparisons.csv",
                             "run.json"] + self.pictures(None))
        self.client.set_terminated(run, "FINISHED", self.millis(0))
        return run

    def cell(self, cell, result, whole):
        seconds = result.get("seconds") or 0
        run = self.begin_run(cell.name, {"mlflow.parentRunId": whole, "variant": runs.variant(cell)})
        self.params(run, {**runs.params(cell), "replicate": cell.replicate, "seed": cell.seed})
        points = [Metric(_key(n), v, self.millis(seconds), 0) for n, v in runs.metrics(result).items()]
        for name, curve in runs.curves(cell).items():
            points += [Metric(_key(name), value, self.millis(t), step) for t, step, value in curve]
        for i in range(0, len(points), _METRICS):
            self.client.log_batch(run, metrics=points[i:i + _METRICS])
        self.artifacts(run, self.pictures(cell.name))
        state = "FAILED" if result.get("state") == "failed" else "FINISHED"
        self.client.set_terminated(run, state, self.millis(seconds))

    def begin_run(self, name, tags):
        made = self.made
        tags = {"mlflow.source.name": made.get("file", ""), "mlflow.source.type": "LOCAL",
                "mlflow.source.git.commit": made.get("git", ""), MADE_BY: made.get("version", ""), **tags}
        run = self.client.create_run(self.id, start_time=self.millis(0), run_name=name)
        self.client.log_batch(run.info.run_id, tags=[RunTag(k, v) for k, v in tags.items()])
        return run.info.run_id

    def params(self, run, values):
        made = [Param(_key(k), str(v)) for k, v in values.items()]
        for i in range(0, len(made), _PARAMS):
            self.client.log_batch(run, params=made[i:i + _PARAMS])

    def pictures(self, cell):
        """The picture files of a cell; without a cell, of the whole experiment."""
        drawn = [p for p in self.drawn if p.get("cell") == cell]
        return [p[form] for p in drawn for form in ("svg", "png") if p.get(form)]

    def artifacts(self, run, files):
        for name in files:
            path = runs.file(self.results, name)
            if path:
                self.client.log_artifact(run, path, os.path.dirname(name) or None)

    def millis(self, seconds):
        return int((self.begin + seconds) * 1000)


def _key(name):
    """A name without the characters that MLflow rejects."""
    return re.sub(r"[^A-Za-z0-9_\-./ ]", "_", name)
