"""Tests of the exports of tfexp_results, which are read back with the libraries of the trackers where these are installed."""

import base64
import contextlib
import importlib.util
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))

import tfexp_results  # noqa: E402
from tfexp_results import __main__ as command  # noqa: E402
from tfexp_results import runs  # noqa: E402

START = 1767323045  # 2026-01-02T03:04:05Z
PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")


def has(module):
    return importlib.util.find_spec(module) is not None


class Case(unittest.TestCase):
    """An experiment of a cell that finished, with a report and pictures, and a trial that failed."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = folder.name
        cell = {"workload": "w", "hardware": "h", "policy": "fcfs", "engine": "process", "seed": 7, "axes": [
            {"name": "load", "value": "0.5"}, {"name": "quantum", "value": "1s"}]}
        self.cells = [{**cell, "cell": "a", "replicate": 2},
                      {**cell, "cell": "b", "replicate": 1, "trial": {"settings": [{"name": "rate", "value": "0.1"}]}},
                      {**cell, "cell": "later", "replicate": 3}]
        self.plan()
        self.write("run.json", json.dumps({"started": "2026-01-02T03:04:05Z", "version": "v1", "file": "hi.hcl"}))
        self.write("cells/a/cell.json", json.dumps({"state": "finished", "seconds": 1.5, "metrics": {
            "makespan_s": 12.25, "mean_jct_s": None, "jobs": 2}}))
        self.write("cells/b/cell.json", json.dumps({"state": "failed", "seconds": 2, "metrics": {"jobs": 1}}))
        self.write("cells/a/progress.csv", "t_s,job,epoch,step,loss,accuracy\n0.5,j,0,10,0.75,0.5\n1,j,0,20,,0.625\n"
                   "1,k,1,5,2,\n2,k,2,9,1,\n")
        self.write("cells/a/occupancy.csv", "t_s,cores_held,running,queued,paused\n0,2,1,3,4\n1.5,1,1,0,1\n")
        self.write("report.html", "<html>")
        self.write("plots/gantt-a.png", PIXEL)
        self.write("plots/all.png", PIXEL)
        self.write("plots/pictures.json", json.dumps([
            {"name": "gantt-a", "kind": "gantt", "cell": "a", "png": "gantt-a.png", "svg": "missing.svg"},
            {"name": "all", "kind": "metrics", "png": "all.png"}, {"name": "none", "kind": "jct", "skipped": "no data"}]))

    def plan(self):
        self.write("plan.json", json.dumps({"experiment": "hi", "description": "two", "cells": self.cells,
                                            "variables": [{"name": "jobs: n", "value": "3"}]}))

    def write(self, name, content):
        path = pathlib.Path(self.out, "hi", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def run_command(self, *args):
        """What a command returns and prints."""
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            status = command.main(args)
        return status, out.getvalue() + err.getvalue()

    def export(self, tracker):
        to = os.path.join(self.out, "to")
        status, text = self.run_command(tracker, self.out, "--to", to)
        self.assertEqual(status, 0, text)
        self.assertIn("hi: 2 runs in", text)
        return to


class Runs(Case):
    def test_curves(self):
        results = tfexp_results.read(self.out)
        self.assertEqual([c.name for c, _ in runs.runs(results)], ["a", "b"])
        self.assertEqual(runs.curves(results.cell("a")), {
            "loss/j": [(0.5, 10, 0.75)], "accuracy/j": [(0.5, 10, 0.5), (1, 20, 0.625)], "loss/k": [(1, 1, 2), (2, 2, 1)],
            "over time/cores in use": [(0, 0, 2), (1.5, 1500, 1)], "over time/jobs waiting": [(0, 0, 7), (1.5, 1500, 1)]})
        self.assertEqual(runs.curves(results.cell("b")), {})
        self.assertEqual(runs.variant(results.cell("b")), "fcfs load=0.5 quantum=1s rate=0.1")
        self.assertEqual(runs.metrics(results.cell("a").result), {"makespan_s": 12.25, "jobs": 2})

    def test_many_changes(self):
        """Of a cell whose occupancy changes often, each second, fourth, eighth change is kept, from the first on."""
        for rows, kept, every in (1999, 1999, 1), (2000, 1000, 2), (2001, 1001, 2), (4000, 1000, 4), (9000, 1125, 8):
            self.write("cells/a/occupancy.csv", "t_s,cores_held,running,queued,paused\n" + "".join(
                "%d,%d,1,%d,0\n" % (i, i, 2 * i) for i in range(rows)))
            found = runs.curves(tfexp_results.read(self.out).cell("a"))
            self.assertEqual(found["over time/cores in use"], [(every * i, 1000 * every * i, every * i) for i in range(kept)])
            self.assertEqual(found["over time/jobs waiting"][-1][2], 2 * every * (kept - 1))

    def test_start(self):
        results = tfexp_results.read(self.out)
        self.assertEqual(runs.started(results), START)
        for text, want in ("2026-01-02T05:04:05.123456789+02:00", START), ("", 0), ("soon", 0):
            self.write("run.json", json.dumps({"started": text}))
            self.assertEqual(runs.started(results), want)

    def test_nothing_from_outside(self):
        """Results of others are not trusted."""
        results = tfexp_results.read(self.out)
        self.write("../secret", "x")
        os.symlink(os.path.join(self.out, "secret"), os.path.join(self.out, "hi", "plots", "link.png"))
        for name in "../secret", "plots/link.png", os.path.join(self.out, "secret"), "", "plots", "absent":
            self.assertIsNone(runs.file(results, name), name)
        self.assertEqual(os.path.basename(runs.file(results, "plots/all.png")), "all.png")
        self.cells[0]["cell"] = "../../cell"
        self.plan()
        status, text = self.run_command("tensorboard", self.out)
        self.assertNotEqual(status, 0, text)
        self.write("plan.json", '{"experiment": "/x", "cells": []}')
        self.assertEqual(self.run_command("tensorboard", self.out)[0], 1)

    def test_what_is_wrong_is_named(self):
        self.assertEqual(self.run_command("mlflow", os.path.join(self.out, "nowhere"))[0], 2)
        with self.assertRaises(SystemExit):
            self.run_command("wandb", self.out)
        self.write("plan.json", "{")
        self.assertEqual(self.run_command("mlflow", self.out)[0], 1)
        self.plan()
        for tracker in "mlflow", "tensorboard":
            if not has(tracker):
                status, text = self.run_command(tracker, self.out)
                self.assertEqual((status, tracker in text.splitlines()[0].split("pip install ")[1]), (6, True), text)


class MLflow(Case):
    def setUp(self):
        if not has("mlflow"):
            self.skipTest("needs mlflow: pip install mlflow-skinny")
        super().setUp()

    def client(self, to):
        from mlflow import MlflowClient
        return MlflowClient(pathlib.Path(to).as_uri())

    def found(self, client):
        id = client.get_experiment_by_name("hi").experiment_id
        return {r.info.run_name: r for r in client.search_runs([id], max_results=1000)}

    def test_runs(self):
        client = self.client(to := self.export("mlflow"))
        found = self.found(client)
        self.assertEqual(sorted(found), ["a", "b", "hi"])
        whole, a, b = found["hi"], found["a"], found["b"]
        self.assertEqual(a.data.params, {"workload": "w", "hardware": "h", "policy": "fcfs", "engine": "process",
                                         "load": "0.5", "quantum": "1s", "replicate": "2", "seed": "7"})
        self.assertEqual(b.data.params["rate"], "0.1")
        self.assertEqual(whole.data.params, {"jobs_ n": "3"})
        self.assertEqual((whole.data.tags["mlflow.note.content"], a.data.tags["mlflow.source.name"]), ("two", "hi.hcl"))
        self.assertEqual(a.data.tags["mlflow.parentRunId"], whole.info.run_id)
        self.assertEqual([(r.info.status, r.info.start_time, r.info.end_time) for r in (a, b)], [
            ("FINISHED", START * 1000, START * 1000 + 1500), ("FAILED", START * 1000, START * 1000 + 2000)])
        self.assertEqual((a.data.metrics["makespan_s"], b.data.metrics), (12.25, {"jobs": 1}))
        self.assertNotIn("mean_jct_s", a.data.metrics)
        self.assertEqual([(p.timestamp - START * 1000, p.step, p.value) for p in client.get_metric_history(
            a.info.run_id, "accuracy/j")], [(500, 10, 0.5), (1000, 20, 0.625)])
        self.assertEqual([f.path for f in client.list_artifacts(a.info.run_id, "plots")], ["plots/gantt-a.png"])
        self.assertEqual(sorted(f.path for f in client.list_artifacts(whole.info.run_id)), ["plots", "report.html", "run.json"])

    def test_again(self):
        """Another export replaces the runs of tfexp, and no others."""
        client = self.client(to := self.export("mlflow"))
        id = client.get_experiment_by_name("hi").experiment_id
        client.create_run(id, run_name="of others")
        before = {r.info.run_id for r in self.found(client).values()}
        del self.cells[2]
        self.cells.reverse()
        self.plan()
        self.export("mlflow")
        after = self.found(self.client(to))
        self.assertEqual(sorted(after), ["a", "b", "hi", "of others"])
        self.assertEqual(len(before & {r.info.run_id for r in after.values()}), 1)


class TensorBoard(Case):
    def setUp(self):
        if not has("tensorboard"):
            self.skipTest("needs tensorboard: pip install tensorboard")
        super().setUp()

    def read(self, *run):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        found = EventAccumulator(os.path.join(self.out, "to", "hi", *run))
        found.Reload()
        return found

    def test_runs(self):
        self.export("tensorboard")
        a = self.read("a")
        self.assertEqual([(p.wall_time - START, p.step, p.value) for p in a.Scalars("accuracy/j")], [
            (0.5, 10, 0.5), (1, 20, 0.625)])
        self.assertEqual([(p.wall_time - START, p.value) for p in a.Scalars("makespan_s")], [(1.5, 12.25)])
        self.assertNotIn("mean_jct_s", a.Tags()["scalars"])
        self.assertEqual([(p.width, p.height, p.encoded_image_string) for p in a.Images("gantt")], [(1, 1, PIXEL)])
        self.assertEqual(self.read().Tags()["images"], ["all"])

    def test_hyperparameters(self):
        from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
        from tensorboard.context import RequestContext
        from tensorboard.plugins.base_plugin import TBContext
        from tensorboard.plugins.hparams import api_pb2, backend_context, list_session_groups

        folder = os.path.join(self.export("tensorboard"), "hi")
        found = plugin_event_multiplexer.EventMultiplexer()
        found.AddRunsFromDirectory(folder)
        found.Reload()
        context = backend_context.Context(
            TBContext(logdir=folder, data_provider=data_provider.MultiplexerDataProvider(found, folder)))
        request = api_pb2.ListSessionGroupsRequest(start_index=0, slice_size=100)
        request.allowed_statuses.extend([api_pb2.STATUS_SUCCESS, api_pb2.STATUS_FAILURE])
        groups = list_session_groups.Handler(RequestContext(), context, "", request).run().session_groups
        self.assertEqual([(g.hparams["load"].number_value, g.hparams["quantum"].string_value, [
            (s.name, s.status) for s in g.sessions]) for g in sorted(groups, key=lambda g: g.sessions[0].name)], [
                (0.5, "1s", [("a", api_pb2.STATUS_SUCCESS)]), (0.5, "1s", [("b", api_pb2.STATUS_FAILURE)])])
        self.assertEqual([(v.name.tag, v.value) for g in groups for v in g.metric_values if v.name.tag == "makespan_s"], [
            ("makespan_s", 12.25)])

    def test_again(self):
        """Another export replaces the files of tfexp, and no others."""
        self.export("tensorboard")
        other = os.path.join(self.out, "to", "hi", "b", "notes")
        pathlib.Path(other).touch()
        self.cells.reverse()
        self.cells.append({**self.cells.pop(), "cell": "c"})
        self.plan()
        os.rename(os.path.join(self.out, "hi", "cells", "a"), os.path.join(self.out, "hi", "cells", "c"))
        self.export("tensorboard")
        folder = os.path.join(self.out, "to", "hi")
        self.assertEqual([len(os.listdir(os.path.join(folder, n))) for n in ("b", "c")], [2, 1])
        self.assertFalse(os.path.exists(os.path.join(folder, "a")))
        self.assertTrue(os.path.exists(other))


if __name__ == "__main__":
    unittest.main()
