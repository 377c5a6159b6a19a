"""Tests of tfexp_policy: python3 -m unittest discover -s jobs/tfexp_policy/tests"""
import contextlib
import importlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.dirname(HERE)
EXAMPLES = os.path.join(LIBRARY, "examples")
sys.path[:0] = [LIBRARY, EXAMPLES]

import tfexp_policy  # noqa: E402
from tfexp_policy import Policy, PolicyError, decisions, seconds  # noqa: E402

HELLO = {"type": "hello", "protocol": 1, "seed": 3, "settings": {"quantum": "2s", "rate": "0.5", "deep": "true"},
         "capabilities": {"pause": True, "resize": True, "migrate": True},
         "cluster": {"nodes": [{"name": "a", "cores": 4, "gpus": 1}, {"name": "b", "cores": 2, "up": False}]}}


def arrive(job, number, cores=1, at=0, **more):
    return {"event": "arrive", "job": job, "number": number, "cores": cores, "at_ns": at, **more}


def start(job, cores, on, at=0, **more):
    return {"event": "start", "job": job, "cores": cores, "on": on, "at_ns": at, **more}


def session(decide, sizes=False, hello=None):
    p = Policy()
    p.decide, p.sizes = decide, sizes
    s = tfexp_policy._Session(p)
    s.answer(json.dumps(hello or HELLO))
    return s


def events(s, now, *happened):
    return json.loads(s.answer(json.dumps({"type": "events", "events": happened, "now_ns": now})))


class Durations(unittest.TestCase):
    def test_read(self):
        for text, want in [("1s", 1), ("1m30s", 90), ("250ms", 0.25), ("2h", 7200), (3, 3)]:
            self.assertAlmostEqual(seconds(text), want)
        for text in "1", "s", "1x", "":
            with self.assertRaises(ValueError):
                seconds(text)


class Sessions(unittest.TestCase):
    def test_settings_are_typed(self):
        s = session(lambda *_: None)
        self.assertEqual(s.policy.settings, {"quantum": "2s", "rate": 0.5, "deep": True})

    def test_a_decision_counts_at_once(self):
        seen = []

        def decide(now, waiting, running, cluster):
            for job in waiting:
                if cluster.free >= job.cores:
                    yield job.start(why="fits")
                seen.append((job.name, cluster.free, len(waiting), len(running)))
        got = events(session(decide), 0, arrive("x", 0, 3), arrive("y", 1, 2), arrive("z", 2, 1))
        self.assertEqual(got, {"do": [{"start": "x", "why": "fits"}, {"start": "z", "why": "fits"}]})
        self.assertEqual(seen, [("x", 1, 2, 1), ("y", 1, 2, 1), ("z", 0, 1, 2)])

    def test_nodes_that_come_and_go(self):
        s = session(lambda *_: None)
        self.assertEqual((s.cluster.free, s.cluster.total_free), (4, 4))
        events(s, 1, {"event": "node_up", "node": 1, "at_ns": 1})
        self.assertEqual(s.cluster.total_free, 6)
        events(s, 2, arrive("x", 0, 2), start("x", 2, "4-5"))
        self.assertEqual([n.free for n in s.cluster.nodes], [4, 0])
        events(s, 3, {"event": "again", "job": "x", "reason": "revoke", "at_ns": 3}, {"event": "node_down", "node": 1, "at_ns": 3})
        self.assertEqual((s.cluster.total_free, len(s.waiting)), (4, 1))

    def test_service(self):
        s = session(lambda *_: None)
        events(s, 0, arrive("x", 0, 2, requested_ns=10_000), start("x", 2, "0-1"))
        events(s, 3000)
        job = s.jobs["x"]
        self.assertEqual((job.attained_ns, job.service_ns, job.remaining_ns, job.ends_ns), (6000, 3000, 7000, 10_000))
        events(s, 4000, {"event": "pause", "job": "x", "at_ns": 4000})
        events(s, 9000)
        self.assertEqual((job.state, job.attained_ns, job.remaining_ns, job.preemptions), ("paused", 8000, 6000, 1))
        events(s, 9000, {"event": "progress", "job": "x", "done": 1, "total": 2, "left_ns": 20_000, "at_ns": 9000})
        self.assertEqual((job.done, job.remaining_ns), (1, 20_000))

    def test_what_was_decided_comes_back(self):
        def decide(now, waiting, running, cluster):
            for job in list(running):
                yield job.migrate(["b"])
            for job in waiting:
                yield job.start()
        s = session(decide)
        events(s, 0, {"event": "node_up", "node": 1, "at_ns": 0}, arrive("x", 0, 2))
        events(s, 5, start("x", 2, "0-1"))
        job = s.jobs["x"]
        s.policy.decide = lambda *_: None
        events(s, 5, {"event": "pause", "job": "x", "at_ns": 5}, start("x", 2, "4-5", 5))
        self.assertEqual(([n.name for n in job.placed], job.state, job.preemptions), (["b"], "running", 1))
        self.assertEqual([n.free for n in s.cluster.nodes], [4, 0])
        events(s, 7, {"event": "end", "job": "x", "state": "finished", "at_ns": 7})
        self.assertEqual([n.free for n in s.cluster.nodes], [4, 2])

    def test_rules(self):
        def refused(want, act, *more, sizes=False, running=True):
            def decide(now, waiting, running, cluster):
                act(s.jobs["x"])
            s = session(decide, sizes)
            with self.assertRaisesRegex(PolicyError, want):
                events(s, 5, arrive("x", 0, 2, **dict(more)), *([start("x", 2, "0-1")] if running else []))
        refused("it is running: only jobs that wait start", lambda j: j.start())
        refused("it is waiting: only jobs that run", lambda j: j.pause(), running=False)
        refused("there is no room: it needs 9 cores", lambda j: j.start(cores=9), sizes=True, running=False)
        refused("says sizes=True", lambda j: j.start(cores=1), running=False)
        refused("it is rigid", lambda j: j.resize(1), sizes=True)
        refused("1 to 2 cores", lambda j: j.resize(4), ("malleable", True), sizes=True)
        refused("not after now", lambda j: j._cluster.call_at(0))

    def test_waiting_stays_in_order(self):
        s = session(lambda *_: None)
        names = [f"j{i}" for i in range(500)]
        for i, name in enumerate(names):
            events(s, i, arrive(name, i, 1, at=i))
        gone = set()
        for i in range(0, 400, 2):
            events(s, 1000 + i, start(names[i], 1, "0"))
            events(s, 1001 + i, {"event": "pause" if i % 4 else "end", "job": names[i], "state": "finished", "at_ns": 1001 + i})
            gone |= set() if i % 4 else {names[i]}
        self.assertEqual([j.name for j in s.waiting], [n for n in names if n not in gone])
        self.assertEqual(len(s.waiting), 500 - len(gone))

    def test_a_call(self):
        self.assertEqual(events(session(lambda now, w, r, c: c.call_at(now + 1.5)), 5), {"do": [], "call_at_ns": 1_500_000_005})

    def test_reasons_to_wait(self):
        got = events(session(lambda now, w, r, c: [j.wait("later") for j in w]), 0, arrive("x", 0))
        self.assertEqual(got, {"do": [], "waits": {"x": "later"}})


class Examples(unittest.TestCase):
    def test_they_decide(self):
        jobs = [{"job": "long", "cores": 2, "requested_time": 60}, {"job": "short", "cores": 2, "requested_time": 1, "arrival": 1}]
        for name, cores, want in [("fcfs", 2, ["long"]), ("sjf", 2, ["short"]), ("easy", 4, ["long", "short"]),
                                  ("las", 2, ["long"]), ("equal_share", 2, ["long"]), ("q_learning", 4, None)]:
            with self.subTest(name):
                tfexp_policy._registered = None
                module = importlib.reload(importlib.import_module(name))
                made = tfexp_policy._registered or module
                got = [d.get("start") for d in decisions(made, jobs, cores=cores, now=2)]
                self.assertEqual(sorted(got) if want is None else got, want or ["long", "short"])

    def test_las_pauses(self):
        tfexp_policy._registered = None
        importlib.reload(importlib.import_module("las"))
        got = decisions(tfexp_policy._registered, [{"job": "new", "cores": 2, "arrival": 5}],
                        [{"job": "old", "cores": 2}], cores=2, now=5)
        self.assertEqual([list(d)[0] for d in got], ["pause", "start"])


class Program(unittest.TestCase):
    def run_program(self, text, *args, stdin=""):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "p.py")
            with open(path, "w") as f:
                f.write("from tfexp_policy import policy, run\n" + text)
            return subprocess.run([sys.executable, path, *args], input=stdin, text=True, capture_output=True,
                                  env={**os.environ, "PYTHONPATH": LIBRARY}, timeout=60)

    def test_it_answers_and_its_prints_are_no_answers(self):
        lines = [json.dumps(m) for m in (HELLO, {"type": "events", "events": [arrive("x", 0)], "now_ns": 0}, {"type": "end"})]
        done = self.run_program("@policy\ndef d(now, w, r, c):\n  print('deciding')\n  for j in w:\n    yield j.start()\nrun()\n",
                                stdin="".join(line + "\n" for line in lines))
        self.assertEqual([json.loads(a) for a in done.stdout.splitlines()][1:],
                         [{"do": [{"start": "x"}]}, {"type": "bye", "state": None}])
        self.assertEqual((done.returncode, done.stderr), (0, "deciding\n"))

    def test_replay_shows_what_differs(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "policy.jsonl"), "w") as f:
                for line in (HELLO, {"type": "ready"}, {"type": "events", "events": [arrive("x", 0)], "now_ns": 2_000_000_000},
                             {"do": [{"start": "x"}]}):
                    f.write(json.dumps(line, separators=(",", ":")) + "\n")
            done = self.run_program("@policy\ndef d(now, w, r, c): pass\nrun()\n", "--replay",
                                    os.path.join(folder, "events.jsonl"), "--at", "3")
        self.assertEqual(done.returncode, 1, done.stderr)
        for want in ("waiting x: 1 cores", "1 decisions, 1 of them other than recorded", 'was {"do":[{"start":"x"}]}'):
            self.assertIn(want, done.stdout)

    def test_without_a_policy(self):
        done = self.run_program("run()\n")
        self.assertIn("there is no policy", done.stderr)


if __name__ == "__main__":
    with contextlib.redirect_stdout(io.StringIO()):
        unittest.main()
