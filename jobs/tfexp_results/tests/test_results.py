"""Tests of tfexp_results: python3 -m unittest discover -s jobs/tfexp_results/tests"""

import json
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))

import tfexp_results  # noqa: E402

JOBS = """cell,policy,replicate,quantum,job,waiting_s,saturated,finish_s,state
w-m-fcfs-r1,fcfs,1,,7,1.5,true,2,finished
w-m-rr-r1,rr,1,0.5,7,0.25,false,,failed
"""


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = folder.name
        self.write("x/plan.json", json.dumps({"experiment": "x", "axes": ["quantum"], "cells": [
            {"cell": "w-m-fcfs-r1", "workload": "w", "hardware": "m", "policy": "fcfs", "replicate": 1},
            {"cell": "w-m-rr-r1", "workload": "w", "hardware": "m", "policy": "rr", "replicate": 1,
             "axes": [{"name": "quantum", "value": "0.5"}]},
        ]}))
        self.write("x/jobs.csv", JOBS)

    def write(self, name, text):
        path = os.path.join(self.out, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def test_values_have_their_types(self):
        for folder in (self.out, os.path.join(self.out, "x")):
            jobs = tfexp_results.read(folder).jobs
            self.assertEqual(dict(jobs[0]), {
                "cell": "w-m-fcfs-r1", "policy": "fcfs", "replicate": 1, "quantum": None, "job": "7", "waiting_s": 1.5,
                "saturated": True, "finish_s": 2, "state": "finished"})
            self.assertEqual(jobs[1]["finish_s"], None)
            self.assertEqual(jobs.column("quantum"), [None, 0.5])

    def test_rows_are_chosen(self):
        jobs = tfexp_results.read(self.out).jobs
        self.assertEqual([j["waiting_s"] for j in jobs.where(policy="rr", replicate=1)], [0.25])
        with self.assertRaisesRegex(KeyError, "no column 'polcy'"):
            jobs.where(polcy="rr")

    def test_what_is_missing_is_named(self):
        results = tfexp_results.read(self.out)
        with self.assertRaisesRegex(AttributeError, "no table 'metrics'.*jobs"):
            results.metrics
        with self.assertRaises(FileNotFoundError):
            tfexp_results.read(os.path.join(self.out, "x", "cells"))
        self.write("y/plan.json", json.dumps({"experiment": "y", "cells": []}))
        with self.assertRaisesRegex(ValueError, "x, y"):
            tfexp_results.read(self.out)
        self.assertEqual(sorted(tfexp_results.read_all(self.out)), ["x", "y"])

    def test_what_is_damaged_is_named(self):
        self.write("x/plan.json", "{")
        with self.assertRaisesRegex(ValueError, r"plan\.json is damaged"):
            tfexp_results.read(self.out)

    def test_cells(self):
        self.write("x/cells/w-m-rr-r1/cell.json", "{}")
        self.write("x/cells/w-m-rr-r1/events.jsonl", '{"t_s": 0, "event": "arrive", "job": "7"}\n{"t_s": 1')
        self.write("x/cells/w-m-rr-r1/logs/7.log", "epoch 1\n")
        results = tfexp_results.read(self.out)
        self.assertEqual([c.complete for c in results.cells], [False, True])
        cell = results.cell("w-m-rr-r1")
        self.assertEqual(cell.axes, {"quantum": "0.5"})
        self.assertEqual([e["event"] for e in cell.events()], ["arrive"])
        self.assertEqual(cell.log("7"), "epoch 1\n")
        self.assertEqual(cell.progress(), [])

    def test_results_of_cells(self):
        results = tfexp_results.read(self.out)
        self.assertEqual([c.result for c in results.cells], [None, None])
        self.write("x/plan.json", json.dumps({"experiment": "x", "cells": [
            {"cell": name, "key": "k", "workload": "w", "hardware": "m", "policy": "p", "replicate": 1}
            for name in ("own", "shared", "earlier", "absent")]}))
        self.write("x/cells/own/cell.json", '{"key": "k", "seconds": 1}')
        self.write("x/cells/earlier/cell.json", '{"key": "of an earlier plan"}')
        self.write("x/cells/a-1.jsonl", '{"cell": "shared", "result": {"key": "k", "seconds": 2}}\n'
                   '{"cell": "absent", "result": {"key": "of an earlier plan"}}\n{"cell": "abs')
        self.write("x/cells/own/occupancy.csv", "t_s,cores_held,running,queued,paused\n0,2,1,3,0\n1.5,0,0,0,0\n")
        results = tfexp_results.read(self.out)
        self.assertEqual([(c.result or {}).get("seconds") for c in results.cells], [1, 2, None, None])
        self.assertEqual([row["t_s"] for row in results.cell("own").occupancy()], [0, 1.5])
        self.assertEqual(list(results.cell("shared").occupancy()), [])

    def test_pandas(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("needs pandas")
        frame = tfexp_results.read(self.out).jobs.pandas()
        self.assertEqual(frame.shape, (2, 9))


if __name__ == "__main__":
    unittest.main()
