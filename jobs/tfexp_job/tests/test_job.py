"""Tests of tfexp_job: python3 -m unittest discover -s jobs/tfexp_job/tests"""

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))

import tfexp_job  # noqa: E402


def lines(text):
    """The progress lines of an output."""
    return [json.loads(line)["tfexp"] for line in text.splitlines() if line.startswith('{"tfexp"')]


def times(text):
    found = re.findall(r"<TIME_WRITTER_OUTPUT>\[(.*)\]</TIME_WRITTER_OUTPUT>", text)
    assert len(found) == 1, text
    return [float(t) for t in found[0].split(",")]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.control = os.path.join(self.folder, "control")
        self.checkpoints = os.path.join(self.folder, "ck")
        old = signal.getsignal(signal.SIGTERM)
        self.addCleanup(signal.signal, signal.SIGTERM, old)

    def allot(self, text):
        with open(self.control + ".new", "w") as f:
            f.write(text)
        os.replace(self.control + ".new", self.control)

    def program(self, mode, settings="a", **env):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("TFEXP_")}
        return subprocess.Popen(
            [sys.executable, os.path.join(HERE, "program.py"), mode, settings], env={**clean, **env},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)

    def until(self, process, epoch):
        """Read the program's output up to the line of an epoch."""
        out = ""
        while True:
            line = process.stdout.readline()
            out += line
            if not line or any(p.get("epoch") == epoch for p in lines(line)):
                return out


class Environment(Case):
    def job(self, *args, **env):
        with mock.patch.dict(os.environ, env):
            return tfexp_job.start(*args)

    def test_defaults(self):
        job = self.job()
        self.assertEqual((job.name, job.epochs, job.steps, job.inter, job.gpus, job.checkpoint), ("job", 10, None, 1, 0, None))
        self.assertGreaterEqual(job.intra, 1)

    def test_variables(self):
        job = self.job(3, TFEXP_JOB="long-1", TFEXP_STEPS="60", TFEXP_INTER_THREADS="2", TFEXP_INTRA_THREADS="3", TFEXP_NUM_GPUS="1")
        self.assertEqual((job.name, job.epochs, job.steps, job.inter, job.intra, job.gpus), ("long-1", None, 60, 2, 3, 1))

    def test_control_comes_before_the_environment(self):
        self.allot("2 5\n")
        job = self.job(TFEXP_INTRA_THREADS="3", TFEXP_CONTROL=self.control)
        self.assertEqual((job.inter, job.intra), (2, 5))
        self.allot("1 4")
        self.assertEqual(job.allotment(), (1, 4))
        self.assertEqual((job.inter, job.intra), (1, 4))

    def test_malformed(self):
        for env in ({"TFEXP_EPOCHS": "0"}, {"TFEXP_STEPS": "ten"}, {"TFEXP_INTRA_THREADS": "-1"}, {"TFEXP_EPOCHS": "1", "TFEXP_STEPS": "1"},
                    {"TFEXP_BUDGET": "-1"}, {"TFEXP_BUDGET": "much"}, {"TFEXP_TARGET_LOSS": "0"}, {"TFEXP_CHECKPOINT_EVERY": "often"}, {"TFEXP_CHECKPOINT_EVERY": "0steps"}):
            with self.subTest(env), self.assertRaises(ValueError):
                self.job(**env)

    def test_restart_needs_save(self):
        with self.assertRaises(ValueError):
            list(self.job().train(resize=tfexp_job.RESTART))


class Output(Case):
    def run_job(self, job, **end):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            for _ in job.train():
                job.epoch(loss=float("inf"), accuracy=0.25) if job.steps is None else job.step(loss=1)
            job.end(**end)
        return out.getvalue()

    def test_epochs(self):
        saved = []
        out = self.run_job(tfexp_job.start(3), save=lambda: saved.append(1))
        self.assertEqual([p["epoch"] for p in lines(out)], [1, 2, 3])
        self.assertTrue(all(p["accuracy"] == 0.25 and p["loss"] == float("inf") and p["seconds"] >= 0 for p in lines(out)))
        self.assertEqual((len(times(out)), saved), (5, [1]))

    def test_rate_of_learning(self):
        out = io.StringIO()
        job = tfexp_job.start(2)
        with contextlib.redirect_stdout(out):
            for _ in job.train():
                job.epoch(loss=1, lr=0.1 / job.done_epochs if job.done_epochs else float("nan"))
            job.end()
        self.assertEqual([p.get("lr") for p in lines(out.getvalue())], [None, 0.1])

    def test_short_steps_do_not_flood_the_log(self):
        out = self.run_job(tfexp_job.start(steps=5000))
        self.assertEqual(len(times(out)), 5002)
        self.assertLess(len(lines(out)), 500)
        self.assertEqual(lines(out)[-1]["step"], 5000)

    def test_steps_left(self):
        job = tfexp_job.start(steps=25)
        seen = []
        with contextlib.redirect_stdout(io.StringIO()):
            for _ in job.train():
                seen.append(job.steps_left(10))
                job.epoch(steps=seen[-1])
        self.assertEqual(seen, [10, 10, 5])

    def test_startup_begins_with_the_process(self):
        process = self.program("ignore")
        out, _ = process.communicate()
        self.assertEqual(process.returncode, 0)
        # At the least the interpreter has started, by clock ticks of 10 ms.
        self.assertGreater(times(out)[0], 0)
        self.assertTrue(all(t >= 0.02 for t in times(out)[1:-1]), out)


class Programs(Case):
    def test_follows_the_allotment(self):
        self.allot("1 4")
        process = self.program("follow", TFEXP_EPOCHS="100", TFEXP_CONTROL=self.control)
        out = self.until(process, 2)
        self.allot("2 1")
        out += process.communicate()[0]
        self.assertEqual(process.returncode, 0)
        self.assertIn("begins with 1 and 4", out)
        self.assertIn("now 2 and 1", out)
        resized = [p["resized"] for p in lines(out) if "resized" in p]
        self.assertEqual([(r["inter"], r["intra"]) for r in resized], [(2, 1)])
        self.assertEqual((lines(out)[0]["threads"], lines(out)[-1]["threads"]), (4, 3))

    def test_a_broken_control_file_is_told_once(self):
        self.allot("1 2")
        process = self.program("follow", TFEXP_EPOCHS="20", TFEXP_CONTROL=self.control)
        self.until(process, 2)
        self.allot("many")
        out, err = process.communicate()
        self.assertEqual(process.returncode, 0)
        self.assertEqual(err.count("cannot read the control file"), 1)
        self.assertEqual(lines(out)[-1]["threads"], 2)

    def test_restarts_to_follow_the_allotment(self):
        for name, env in (("with a place", {"TFEXP_CHECKPOINT_DIR": self.checkpoints}), ("without", {})):
            with self.subTest(name):
                self.allot("1 4")
                process = self.program("restart", TFEXP_EPOCHS="60", TFEXP_CONTROL=self.control, TMPDIR=self.folder, **env)
                out = self.until(process, 2)
                self.allot("1 2")
                out += self.until(process, 30)
                self.allot("2 1")
                rest, err = process.communicate()
                out += rest
                self.assertEqual(process.returncode, 0, err)
                progress = lines(out)
                epochs = [p for p in progress if "epoch" in p]
                # Each epoch once, the loss goes on, and the last line has the times of all.
                self.assertEqual([p["epoch"] for p in epochs], list(range(1, 61)))
                self.assertEqual([p["loss"] for p in epochs], [n * (n + 1) / 2 for n in range(1, 61)])
                self.assertEqual([p["step"] for p in epochs], [10 * n for n in range(1, 61)])
                self.assertEqual(len(times(out)), 62)
                resized = [p["resized"] for p in progress if "resized" in p]
                self.assertEqual([(r["inter"], r["intra"]) for r in resized], [(1, 2), (2, 1)])
                self.assertTrue(all(r["seconds"] > 0 for r in resized))
                # The process stays the same one.
                self.assertEqual(len(set(re.findall(r"process (\d+) begins", out))), 1)
                self.assertEqual(len(re.findall("begins with", out)), 3)
                left = [n for n in os.listdir(self.folder) if n not in ("control", "ck")]
                left += os.listdir(self.checkpoints) if os.path.isdir(self.checkpoints) else []
                self.assertEqual(left, [])

    def test_stops_and_goes_on(self):
        env = {"TFEXP_EPOCHS": "40", "TFEXP_CHECKPOINT_DIR": self.checkpoints}
        out = ""
        for epoch in (3, 12):
            process = self.program("ignore", **env)
            out += self.until(process, epoch)
            process.send_signal(signal.SIGTERM)
            out += process.communicate()[0]
            self.assertEqual(process.returncode, tfexp_job.STOPPED)
            self.assertEqual(len(os.listdir(self.checkpoints)), 3)
        process = self.program("ignore", **env)
        rest, err = process.communicate()
        out += rest
        self.assertIn("continuing from the checkpoint", err)
        self.assertEqual([p["epoch"] for p in lines(out) if "epoch" in p], list(range(1, 41)))
        self.assertEqual([p["checkpoint"]["step"] for p in lines(out) if "checkpoint" in p][0] % 10, 0)
        self.assertEqual(lines(out)[-1]["loss"], 820)
        self.assertEqual(len(times(rest)), 42)
        self.assertEqual(os.listdir(self.checkpoints), [])

    def test_checkpoints_on_the_way_survive_a_kill(self):
        env = {"TFEXP_EPOCHS": "6", "TFEXP_CHECKPOINT_DIR": self.checkpoints}
        process = self.program("every", **env)
        process.communicate()
        self.assertEqual(process.returncode, 9)
        process = self.program("ignore", **env)
        out, err = process.communicate()
        self.assertEqual([(p["epoch"], p["loss"]) for p in lines(out) if "epoch" in p], [(3, 6), (4, 10), (5, 15), (6, 21)], err)
        self.assertEqual([p["resumed"]["lost_steps"] > 0 for p in lines(out) if "resumed" in p], [True])

    def test_checkpoints_at_an_interval(self):
        """A program that is killed knows what it lost, to the step."""
        for every in ("20steps", "2epochs", "30ms"):
            with self.subTest(every):
                env = {"TFEXP_EPOCHS": "12", "TFEXP_CHECKPOINT_DIR": self.checkpoints, "TFEXP_CHECKPOINT_EVERY": every}
                process = self.program("ignore", **env)
                out = self.until(process, 9)
                process.kill()
                out += process.communicate()[0]
                saved = [p["checkpoint"] for p in lines(out) if "checkpoint" in p]
                process = self.program("ignore", **env)
                rest, err = process.communicate()
                self.assertEqual(process.returncode, 0, err)
                resumed = [p["resumed"] for p in lines(rest) if "resumed" in p]
                self.assertEqual(len(resumed), 1)
                self.assertGreaterEqual(resumed[0]["step"], saved[-1]["step"])
                self.assertGreaterEqual(resumed[0]["step"] + resumed[0]["lost_steps"], 80)
                self.assertGreaterEqual(resumed[0]["lost_seconds"], 0)
                self.assertGreater(resumed[0]["seconds"], 0)
                epochs = [p["epoch"] for p in lines(rest) if "epoch" in p]
                self.assertEqual(epochs, list(range(resumed[0]["step"] // 10 + 1, 13)))
                self.assertEqual(os.listdir(self.checkpoints), [])

    def test_budget(self):
        process = self.program("ignore", TFEXP_BUDGET="3")  # and not the epochs that the program has by itself
        out, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        epochs = [p for p in lines(out) if "epoch" in p]
        self.assertTrue(epochs and all(0 < p["time_left"] <= 3 for p in epochs))
        self.assertEqual([p["at"] for p in epochs], sorted(p["at"] for p in epochs))
        final = lines(out)[-1]
        self.assertEqual(final["final_accuracy"], 0.5)
        self.assertGreaterEqual(final["trained"], 3)
        self.assertEqual(len(times(out)), len(epochs) + 2)

    def test_target_loss(self):
        out, err = self.program("ignore", TFEXP_EPOCHS="5", TFEXP_TARGET_LOSS="1").communicate()
        self.assertEqual([p["epoch"] for p in lines(out)], [1], err)  # its loss is 1, then 3
        self.assertEqual(len(times(out)), 3)
        out, err = self.program("ignore", TFEXP_EPOCHS="5", TFEXP_TARGET_LOSS="0.5").communicate()
        self.assertEqual([p["epoch"] for p in lines(out)], [1, 2, 3, 4, 5], err)

    def test_no_budget_at_all(self):
        out, err = self.program("ignore", TFEXP_EPOCHS="100000", TFEXP_BUDGET="0").communicate()
        self.assertEqual([p["final_accuracy"] for p in lines(out)], [0.5], err)

    def test_a_pause_is_not_taken_from_the_budget(self):
        process = self.program("ignore", TFEXP_EPOCHS="100000", TFEXP_BUDGET="1.5")
        out = self.until(process, 3)
        left = lines(out)[-1]["time_left"]
        process.send_signal(signal.SIGSTOP)
        time.sleep(2)
        process.send_signal(signal.SIGCONT)
        out += self.until(process, 6)
        self.assertGreater(lines(out)[-1]["time_left"], left - 1)
        process.communicate()

    def test_requests(self):
        control = {"intra": 2, "serial": 1, "settings": {"rate": 0.5, "seed": 1}, "deepen": 0}
        self.allot(json.dumps(control))
        process = self.program("requests", TFEXP_EPOCHS="1000000", TFEXP_CONTROL=self.control, TFEXP_CHECKPOINT_DIR=self.checkpoints)
        out = self.until(process, 3)
        self.allot(json.dumps(dict(control, allotment=3, change="down")))  # the same requests
        out += self.until(process, 6)
        self.allot(json.dumps({"serial": 2, "deepen": 7, "checkpoint": True, "settings": control["settings"]}))
        out += self.until(process, 9)
        self.allot(json.dumps({"serial": 2, "time_left": 0.2}))
        rest, err = process.communicate()
        news = [p for p in lines(out + rest) if "epoch" not in p]
        for p in news:
            for of in p.values():
                if isinstance(of, dict):
                    of.pop("seconds", None)
        self.assertEqual(news[0], {"changed": {"settings": {"rate": 0.5}}} if "changed" in news[0] else {"refused": "seed", "reason": "it is fixed"}, err)
        self.assertIn({"changed": {"settings": {"rate": 0.5}}}, news)
        self.assertEqual(news.count({"refused": "seed", "reason": "it is fixed"}), 1)
        self.assertEqual(news.count({"deepened": {"block": 0, "layers": 2, "accuracy_before": 0.5, "accuracy_after": 0.5}}), 1)
        self.assertEqual(news.count({"refused": "deepen", "reason": "there is no block 7"}), 1)
        self.assertEqual(sum("checkpoint" in p for p in news), 1)
        self.assertEqual(news[-1], {"final_accuracy": 0.5})

    def test_what_a_program_cannot_do_it_refuses(self):
        self.allot(json.dumps({"inter": 1, "intra": 2, "serial": 1, "settings": {"batch": 3}, "deepen": 0, "checkpoint": True}))
        out, err = self.program("ignore", TFEXP_EPOCHS="3", TFEXP_CONTROL=self.control).communicate()
        self.assertEqual([p["refused"] for p in lines(out) if "refused" in p], ["batch", "deepen", "checkpoint"], err)

    def test_useless_checkpoints(self):
        process = self.program("ignore", "b", TFEXP_EPOCHS="1000", TFEXP_CHECKPOINT_DIR=self.checkpoints)
        self.until(process, 2)
        process.send_signal(signal.SIGTERM)
        process.communicate()
        state = os.path.join(self.checkpoints, "state.json")
        with open(state) as f:
            good = f.read()
        for name, text in (("other settings", good), ("cut short", good[:40]), ("no object", "[1]"), ("no folder", good.replace('"checkpoint-', '"checkpoint-no'))):
            with self.subTest(name):
                with open(state, "w") as f:
                    f.write(text)
                settings = "a" if name == "other settings" else "b"
                with mock.patch.dict(os.environ, {"TFEXP_CHECKPOINT_DIR": self.checkpoints}), contextlib.redirect_stderr(io.StringIO()) as err:
                    job = tfexp_job.start(settings={"case": settings})
                self.assertEqual((job.checkpoint, job.done_epochs), (None, 0))
                self.assertIn("starting from the beginning", err.getvalue())


if __name__ == "__main__":
    unittest.main()
