"""Tests of tfexp_batsim. Those with a socket need pyzmq."""

import contextlib
import importlib.util
import io
import json
import os
import sys
import tempfile
import time
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))

import tfexp_batsim  # noqa: E402
from tfexp_batsim import Failure, Link, Translator  # noqa: E402

HAS_ZMQ = importlib.util.find_spec("zmq") is not None

HELLO = {"type": "hello", "protocol": 1, "workload": "mixed", "jobs": 2, "settings": {},
         "cluster": {"nodes": [{"name": "n", "cores": 2}, {"name": "m", "cores": 1}]}}

SCHEDULER = """
import json, os, sys, time, zmq
socket = zmq.Context().socket(zmq.REP)
socket.bind(sys.argv[1])
def hear():
    return json.loads(socket.recv())
def say(*events):
    socket.send_string(json.dumps({"now": 0, "events": [{"timestamp": t, "type": k, "data": d} for t, k, d in events]}))
"""

# A peer whose bytes are chosen freely: it gets a connection of a Unix socket.
RAW = """
import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1][len("ipc://"):])
s.listen()
c = s.accept()[0]
def greet():
    c.sendall(b"\\xff" + bytes(8) + b"\\x7f\\x03\\x00NULL" + bytes(48))
    ready = b"\\x05READY\\x0bSocket-Type\\x00\\x00\\x00\\x03REP"
    c.sendall(bytes([4, len(ready)]) + ready + b"\\x01\\x00")
def rest():
    time.sleep(1000)
def flood(frames):
    try:
        while True:
            c.sendall(frames)
    except OSError:
        rest()  # newer versions of ZeroMQ close the connection themselves
"""


def event(kind, at, **more):
    return {"event": kind, "at_ns": at, **more}


class Fake:
    """A link to a scheduler whose answers are given."""

    def __init__(self, *answers):
        self.answers, self.heard, self.ended = list(answers), [], False

    def ask(self, message):
        self.heard.append(message)
        events = self.answers.pop(0) if self.answers else []
        return json.dumps({"now": 0, "events": [{"timestamp": t, "type": k, "data": d} for t, k, d in events]}).encode()

    def end(self):
        self.ended = True

    def close(self):
        pass


class Translation(unittest.TestCase):
    def begin(self, *answers, **hello):
        self.translator = Translator(["sched"])
        self.link = Fake(*answers)
        with mock.patch.object(tfexp_batsim, "Link", lambda *_: self.link):
            return self.say({**HELLO, **hello})

    def say(self, message):
        return self.translator.answer(json.dumps(message).encode())

    def events(self, now, *events):
        return self.say({"type": "events", "events": list(events), "now_ns": now})

    def heard(self):
        return [(e["timestamp"], e["type"], e["data"]) for e in self.link.heard.pop()["events"]]

    def test_a_cell(self):
        ready = self.begin([], [(1, "EXECUTE_JOB", {"job_id": "w0!0", "alloc": "0 2"})], [])
        self.assertEqual(ready, {"type": "ready", "protocol": 1, "name": "sched", "ask": "always"})
        (_, kind, told), = self.heard()
        self.assertEqual((kind, told["nb_resources"], told["workloads"]), ("SIMULATION_BEGINS", 3, {"w0": "mixed"}))
        self.assertEqual([(r["id"], r["name"], r["properties"]["node"]) for r in told["compute_resources"]],
                         [(0, "n-0", "n"), (1, "n-1", "n"), (2, "m-2", "m")])
        arrive = event("arrive", 10**9, job="a-1", number=0, cores=2, requested_ns=5 * 10**8)
        arrive["class"] = "a"
        self.assertEqual(self.events(10**9, arrive), {"do": [{"start": "a-1", "on": "0,2"}]})
        self.assertEqual(self.heard(), [(1.0, "JOB_SUBMITTED", {"job_id": "w0!0", "job": {
            "id": "w0!0", "subtime": 1.0, "res": 2, "profile": "a-0", "walltime": 0.5}, "profile": {"type": "delay", "delay": 0.5}})])
        self.assertEqual(self.events(10**9, event("start", 10**9, job="a-1", cores=2, on="0,2")), {"do": []})
        self.assertEqual(self.link.heard, [])  # it is not asked about its own decisions
        self.events(2 * 10**9, event("end", 15 * 10**8, job="a-1", state="failed"),
                    event("arrive", 2 * 10**9, job="b", number=1, cores=1))
        self.assertEqual([(t, k) for t, k, _ in self.heard()], [
            (1.5, "JOB_COMPLETED"), (2.0, "JOB_SUBMITTED"), (2.0, "NOTIFY")])
        self.assertEqual(self.say({"type": "end"}), {"type": "bye"})
        self.assertEqual(([k for _, k, _ in self.heard()], self.link.ended), (["SIMULATION_ENDS"], True))

    def test_later(self):
        """Decisions and calls for later come at their time, without and with a question to the scheduler."""
        self.begin([], [(7.5, "EXECUTE_JOB", {"job_id": "w0!0", "alloc": "0"}), (0, "CALL_ME_LATER", {"timestamp": 5}),
                        (0, "SET_JOB_METADATA", {})])
        self.assertEqual(self.events(0, event("arrive", 0, job="a", number=0, cores=1)), {"do": [], "call_at_ns": 5 * 10**9})
        self.link.heard.clear()
        self.assertEqual(self.events(5 * 10**9, event("timer", 5 * 10**9)), {"do": [], "call_at_ns": 75 * 10**8})
        self.assertEqual(self.heard(), [(5.0, "REQUESTED_CALL", {})])
        self.assertEqual(self.events(75 * 10**8, event("timer", 75 * 10**8)), {"do": [{"start": "a", "on": "0"}]})
        self.assertEqual(self.link.heard, [])

    def test_another_attempt(self):
        self.begin([], [], [(3, "EXECUTE_JOB", {"job_id": "w0!0#1", "alloc": "1"})])
        self.events(0, event("arrive", 0, job="a", number=0, cores=2))
        answer = self.events(3 * 10**9, event("again", 3 * 10**9, job="a", reason="retry", cores=1))
        self.assertEqual(answer["do"], [{"start": "a", "on": "1"}])
        self.assertEqual([(k, d["job_id"]) for _, k, d in self.heard()], [("JOB_COMPLETED", "w0!0"), ("JOB_SUBMITTED", "w0!0#1")])

    def test_what_cannot_be_done_is_named(self):
        for answer, want in (
                ((0, "KILL_JOB", {"job_ids": ["w0!0"]}), "it answers KILL_JOB, which tfexp does not carry out"),
                ((0, "EXECUTE_JOB", {"job_id": "w0!9", "alloc": "0"}), "EXECUTE_JOB of job 'w0!9': there is no such job"),
                ((0, "EXECUTE_JOB", {}), "EXECUTE_JOB of job None"),
                ((0, "CALL_ME_LATER", {"timestamp": 0}), "it wants to be called at 0.0 s, which is not after now, 0.0 s"),
                ((0, "CALL_ME_LATER", {}), "its CALL_ME_LATER: None s is not a time"),
                ((-1, "NOTIFY", {}), "-1 s is not a time of a simulation"),
                (("0", "NOTIFY", {}), "'0' s is not a time of a simulation"),
                ((float("nan"), "NOTIFY", {}), "nan s is not a time"),
                ((0, "NOTIFY", [1]), "is not of Batsim's protocol")):
            self.begin([], [answer])
            with self.assertRaises(Failure) as caught:
                self.events(0, event("arrive", 0, job="a", number=0, cores=1))
            self.assertIn(want, str(caught.exception))
        with self.assertRaisesRegex(Failure, "version 2 of its protocol"):
            self.begin(protocol=2)

    def test_many_calls(self):
        """Many calls take no more than linear time, and their number has a bound, as that of decisions has."""
        self.begin([], [(0, "CALL_ME_LATER", {"timestamp": 5})] * 90_000, [(0, "CALL_ME_LATER", {"timestamp": 6 + i}) for i in range(9)])
        began = time.monotonic()
        self.assertEqual(self.events(0, event("arrive", 0, job="a", number=0, cores=1)), {"do": [], "call_at_ns": 5 * 10**9})
        self.assertEqual(self.events(5 * 10**9), {"do": [], "call_at_ns": 6 * 10**9})
        self.assertEqual(len(self.heard()), 90_000)
        self.assertLess(time.monotonic() - began, 60)
        for later in ((0, "CALL_ME_LATER", {"timestamp": 50}), (50, "EXECUTE_JOB", {"job_id": "w0!0", "alloc": "0"})):
            self.begin([], [later] * (tfexp_batsim.MAX_WAITING // 2 + 1), [later] * (tfexp_batsim.MAX_WAITING // 2))
            self.events(0, event("arrive", 0, job="a", number=0, cores=1))
            with self.assertRaisesRegex(Failure, "more than 100000 decisions or calls for later"):
                self.events(0, event("arrive", 0, job="b", number=1, cores=1))

    def test_garbage(self):
        for raw in b"", b"{", b"[]", b'{"events": 1}', b'{"events": [1]}', b"\xff\xfe", b"[" * 10**5, b'{"events": [{"type": "x"}]}':
            with self.assertRaisesRegex(Failure, "is not of Batsim's protocol"):
                tfexp_batsim._events(raw)

    def test_settings(self):
        self.assertEqual([tfexp_batsim._value(t) for t in ("1", "0.5", "1s", "nan", "")], [1, 0.5, "1s", "nan", ""])

    def test_the_library_is_missing(self):
        err = io.StringIO()
        stdin = mock.Mock(buffer=io.BytesIO(json.dumps(HELLO).encode() + b"\n"))
        with mock.patch.dict(sys.modules, {"zmq": None}), mock.patch("sys.stdin", stdin), contextlib.redirect_stderr(err):
            self.assertEqual(tfexp_batsim._serve(["sched"]), 1)
        self.assertIn("it needs pyzmq, which pybatsim brings", err.getvalue())
        self.assertIn("-m pip install pyzmq", err.getvalue())


@unittest.skipUnless(HAS_ZMQ, "needs pyzmq: pip install pyzmq")
class Sockets(unittest.TestCase):
    def link(self, code, settings=None):
        link = Link([sys.executable, "-c", code, "{endpoint}"], settings or {})
        self.addCleanup(link.close)
        return link

    def test_a_scheduler(self):
        link = self.link(SCHEDULER + "hear(); print('busy'); say((1, 'X', {})); hear(); say()")
        self.assertEqual(tfexp_batsim._events(link.ask({"now": 0, "events": []})), [(10**9, "X", {})])
        self.assertEqual(link.folder, "")
        self.assertEqual(tfexp_batsim._events(link.ask({"now": 0, "events": []})), [])
        link.end()

    def test_arguments(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "argv")
            link = Link([sys.executable, "-c", "import sys; open(%r, 'w').write('\\n'.join(sys.argv[1:]))" % out, "x"], {"a": "1"})
            self.addCleanup(link.close)
            link.end()
            with open(out) as f:
                argv = f.read().split("\n")
        self.assertEqual((argv[0], argv[1][:18], argv[2]), ("x", "--socket-endpoint=", '--options={"a": 1}'))

    def test_bad_ends(self):
        for code, want in (
                ("", "it ended before it answered: exit status 0"),
                ("hear(); sys.exit(3)", "it ended before it answered: exit status 3"),
                ("hear(); os.kill(os.getpid(), 9)", "it ended before it answered: killed by signal 9"),
                ("hear(); socket.send_multipart([b'a', b'b']); time.sleep(9)", "its answer has 2 parts")):
            link = self.link(SCHEDULER + code)
            with self.assertRaises(Failure) as caught:
                link.ask({"now": 0, "events": []})
            self.assertIn(want, str(caught.exception))
        with self.assertRaisesRegex(Failure, "program 'no_such_program'"):
            Link(["no_such_program"], {})
        link = self.link(SCHEDULER + "hear(); say(); sys.exit(2)")
        link.ask({})
        with self.assertRaisesRegex(Failure, "it ended badly: exit status 2"):
            link.end()
        with mock.patch.object(tfexp_batsim, "FAREWELL", 0.1):
            link = self.link(SCHEDULER + "hear(); say(); time.sleep(1000)")
            link.ask({})
            with self.assertRaisesRegex(Failure, "it did not end within 0.1 s"):
                link.end()

    @unittest.skipIf(os.name == "nt", "needs Unix sockets")
    def test_hostile_peers(self):
        """Too long a message, one without end and bytes that are no message end the cell, and take little memory."""
        for code, want in (
                ("greet(); c.sendall(b'\\x02' + (1 << 40).to_bytes(8, 'big')); rest()", "sent more than 16 MiB"),
                ("greet(); flood((b'\\x03' + (1 << 16).to_bytes(8, 'big') + bytes(1 << 16)) * 16)", "has no end|sent more"),
                ("greet(); flood(b'\\x01\\x00' * (1 << 16))", "has no end|sent more"),
                ("c.sendall(b'HTTP/1.1 200 OK\\r\\n\\r\\n'); c.close(); rest()", "not ZeroMQ's protocol"),
                ("c.sendall(bytes(range(255, -1, -1)) * 64); rest()", "not ZeroMQ's protocol"),
                ("c.close(); rest()", "it closed the connection")):
            with mock.patch.object(tfexp_batsim, "FAREWELL", 0.1):
                link = self.link(RAW + code)
                before = tfexp_batsim._memory()
                with self.assertRaises(Failure) as caught:
                    link.ask({"now": 0, "events": []})
                self.assertRegex(str(caught.exception), want, code)
                self.assertLess(tfexp_batsim._memory() - before, 1 << 30, code)
                link.close()


if __name__ == "__main__":
    unittest.main()
