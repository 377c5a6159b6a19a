"""Run an unchanged scheduler of the simulator Batsim as a policy of tfexp.

    policy "easy" {
      order   = "external"
      command = ["python3", "-m", "tfexp_batsim", "pybatsim", "easyBackfill", "-t", "0"]
    }

The arguments are the command of the scheduler. ``--socket-endpoint=ENDPOINT`` is added, unless an argument contains
``{endpoint}``, and ``--options=JSON`` with the settings of the policy, if it has any. tfexp and this program use tfexp's
protocol (docs/external.md). This program and the scheduler use version 3 of Batsim's protocol over ZeroMQ, which needs
pyzmq; it is installed with pybatsim.

Each core is a resource. A job has the id "w0!NUMBER"; later attempts have "w0!NUMBER#ATTEMPT".
"""

from __future__ import annotations

import bisect
import json
import math
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from typing import Any, Dict, List, NoReturn, Tuple

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

MAX_ANSWER = 16 << 20
"""The largest size of an answer, in bytes."""

MAX_GROWTH = 64 << 20
"""The largest memory in bytes that an incomplete answer may use: its parts might never end."""

MAX_WAITING = 100_000
"""The largest number of decisions or calls for later. It bounds their sum over all answers."""

FAREWELL = 2.0
"""How long a scheduler may run after the end of the simulation, in seconds."""

_NS = 1_000_000_000
_WORKLOAD = "w0"

# Answers that change nothing.
_NO_CONSEQUENCE = ("SET_JOB_METADATA", "PUBLISH", "NOTIFY")


class Failure(Exception):
    """Raised if the cell cannot continue; the text is shown to the user."""


def _nanoseconds(seconds: Any) -> int:
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds < 2**63 / _NS:
        raise ValueError(f"{seconds!r} s is not a time of a simulation")
    return round(seconds * _NS)


def _events(answer: bytes) -> List[Tuple[int, str, Dict[str, Any]]]:
    """The events of an answer: each with its time in nanoseconds, its type and its data."""
    try:
        return [(_nanoseconds(e["timestamp"]), str(e["type"]), dict(e.get("data") or {}))
                for e in json.loads(answer)["events"]]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as e:
        shown = repr(answer[:120])[1:] + ("…" if len(answer) > 120 else "")
        raise Failure(f"its answer {shown} is not of Batsim's protocol: {type(e).__name__}: {e}") from None


class Link:
    """The process of a scheduler, and the socket to it."""

    def __init__(self, command: List[str], settings: Dict[str, str]) -> None:
        zmq = self.zmq = _zmq()
        self.folder = ""
        if os.name == "nt":
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                endpoint = "tcp://127.0.0.1:%d" % free.getsockname()[1]
        else:
            self.folder = tempfile.mkdtemp(prefix="tfexp-")
            endpoint = f"ipc://{self.folder}/batsim"
        told = any("{endpoint}" in arg for arg in command)
        command = [arg.replace("{endpoint}", endpoint) for arg in command]
        if not told:
            command.append("--socket-endpoint=" + endpoint)
        if settings:
            command.append("--options=" + json.dumps({name: _value(text) for name, text in settings.items()}))
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.REQ)
        for option, value in (zmq.MAXMSGSIZE, MAX_ANSWER), (zmq.LINGER, 0), (zmq.RECONNECT_IVL, 10):
            self.socket.setsockopt(option, value)
        self.watch = self.socket.get_monitor_socket(zmq.EVENT_DISCONNECTED | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL |
                                                    zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL)
        self.poller = zmq.Poller()
        self.poller.register(self.socket, zmq.POLLIN)
        self.poller.register(self.watch, zmq.POLLIN)
        try:
            # Its output must not go to our standard output, which carries the protocol.
            self.program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr)
        except OSError as e:
            self.program = None
            self.close()
            raise Failure(f"program {command[0]!r}: {e}") from None
        self.socket.connect(endpoint)

    def ask(self, message: Dict[str, Any]) -> bytes:
        """Send a message, and return the answer."""
        self.socket.send(json.dumps(message).encode())
        before = _memory()
        while True:
            ready = dict(self.poller.poll(50))
            if self.socket in ready or self.watch in ready and self.socket.poll(0):
                parts = self.socket.recv_multipart()
                self.remove()  # both sides have opened the socket, so its file is no longer needed
                if len(parts) != 1:
                    raise Failure(f"its answer has {len(parts)} parts, want one")
                return parts[0]
            if self.watch in ready:
                try:
                    how = _status(self.program.wait(FAREWELL))
                except subprocess.TimeoutExpired:
                    raise Failure(f"it closed the connection, sent more than {MAX_ANSWER >> 20} MiB, or something that "
                                  "is not ZeroMQ's protocol") from None
                raise Failure(f"it ended before it answered: {how}")
            if self.program.poll() is not None:
                raise Failure(f"it ended before it answered: {_status(self.program.returncode)}")
            if _memory() - before > MAX_GROWTH:
                raise Failure(f"its answer is longer than {MAX_ANSWER >> 20} MiB, or has no end")

    def end(self) -> None:
        """Wait until the scheduler exits."""
        try:
            status = self.program.wait(FAREWELL)
        except subprocess.TimeoutExpired:
            raise Failure(f"it did not end within {FAREWELL:g} s of SIMULATION_ENDS") from None
        if status != 0:
            raise Failure("it ended badly: " + _status(status))

    def close(self) -> None:
        """Kill the scheduler if it still runs."""
        if self.program is not None and self.program.poll() is None:
            self.program.kill()
            self.program.wait()
        if not self.context.closed:
            self.socket.disable_monitor()
            self.context.destroy(linger=0)
        self.remove()

    def remove(self) -> None:
        """Delete the folder of the socket."""
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = ""


class Translator:
    """Translates messages between tfexp and the scheduler of a cell."""

    def __init__(self, command: List[str]) -> None:
        self.command = command
        self.link: Any = None
        self.now = 0
        self.events: List[Dict[str, Any]] = []  # of the next message
        self.later: List[Tuple[int, str, Dict[str, Any]]] = []  # answers for later, by time
        self.calls: List[int] = []  # in order
        self.ids: Dict[str, str] = {}  # by name
        self.names: Dict[str, str] = {}  # by id
        self.jobs: Dict[str, Dict[str, Any]] = {}  # arrived jobs, by name
        self.attempts: Dict[str, int] = {}
        self.expected = 0

    def answer(self, line: bytes) -> Dict[str, Any]:
        """Answer a message of tfexp."""
        message = json.loads(line)
        if message["type"] == "hello":
            return self.hello(message)
        if message["type"] == "end":
            self.add(self.now, "SIMULATION_ENDS", {})
            self.exchange()
            self.link.end()
            return {"type": "bye"}
        self.now = message["now_ns"]
        for event in message["events"]:
            hear = getattr(self, "on_" + event["event"], None)
            if hear:
                hear(event)
        self.on_timer({"at_ns": self.now})
        if self.events:
            self.take(self.exchange())
        return self.due()

    def hello(self, told: Dict[str, Any]) -> Dict[str, Any]:
        if told["protocol"] != 1:
            raise Failure(f"tfexp speaks version {told['protocol']} of its protocol, and this program version 1")
        self.link = Link(self.command, told["settings"])
        self.expected = told["jobs"]
        nodes = [node["name"] for node in told["cluster"]["nodes"] for _ in range(node["cores"])]
        resources = [{"id": i, "name": f"{node}-{i}", "state": "idle", "core_count": 1, "properties": {"node": node},
                      "zone_properties": {}} for i, node in enumerate(nodes)]
        self.add(0, "SIMULATION_BEGINS", {
            "nb_resources": len(resources), "nb_compute_resources": len(resources), "nb_storage_resources": 0,
            "allow_compute_sharing": False, "allow_storage_sharing": False, "allow_time_sharing": False,
            "config": {"profiles-forwarded-on-submission": True, "dynamic-jobs-enabled": False,
                       "dynamic-jobs-acknowledged": False, "forward-unknown-events": False, "redis-enabled": False},
            "compute_resources": resources, "storage_resources": [], "workloads": {_WORKLOAD: told["workload"]},
            "profiles": {_WORKLOAD: {}}})
        self.take(self.exchange())
        return {"type": "ready", "protocol": 1, "name": os.path.basename(self.command[0]), "ask": "always"}

    # Messages from tfexp.

    def on_arrive(self, event: Dict[str, Any]) -> None:
        self.jobs[event["job"]] = event
        self.submit(event, event["at_ns"])
        if len(self.jobs) == self.expected:
            self.add(event["at_ns"], "NOTIFY", {"type": "no_more_static_job_to_submit"})

    def on_again(self, event: Dict[str, Any]) -> None:
        self.completed(event["job"], event["at_ns"], "COMPLETED_FAILED", 1)
        job = self.jobs[event["job"]]
        job["cores"] = event.get("cores", job["cores"])
        self.attempts[event["job"]] = self.attempts.get(event["job"], 0) + 1
        self.submit(job, event["at_ns"])

    def on_end(self, event: Dict[str, Any]) -> None:
        if event["state"] == "finished":
            self.completed(event["job"], event["at_ns"], "COMPLETED_SUCCESSFULLY", 0)
        else:
            self.completed(event["job"], event["at_ns"], "COMPLETED_FAILED", 1)

    def on_timer(self, event: Dict[str, Any]) -> None:
        due = bisect.bisect_right(self.calls, event["at_ns"])
        for _ in range(due):
            self.add(event["at_ns"], "REQUESTED_CALL", {})
        del self.calls[:due]

    def submit(self, job: Dict[str, Any], at: int) -> None:
        attempt = self.attempts.get(job["job"])
        id = f"{_WORKLOAD}!{job['number']}" + (f"#{attempt}" if attempt else "")
        self.ids[job["job"]], self.names[id] = id, job["job"]
        run = job.get("requested_ns", 0)
        told = {"id": id, "subtime": at / _NS, "res": job["cores"],
                "profile": f"{job.get('class', '')}-{job['number']}"}
        if run > 0:
            told["walltime"] = run / _NS
        self.add(at, "JOB_SUBMITTED", {"job_id": id, "job": told, "profile": {"type": "delay", "delay": run / _NS}})

    def completed(self, job: str, at: int, state: str, code: int) -> None:
        self.add(at, "JOB_COMPLETED", {"job_id": self.ids[job], "job_state": state, "return_code": code, "alloc": ""})

    # Answers of the scheduler.

    def add(self, at: int, kind: str, data: Dict[str, Any]) -> None:
        self.events.append({"timestamp": at / _NS, "type": kind, "data": data})

    def exchange(self) -> bytes:
        events, self.events = self.events, []
        return self.link.ask({"now": self.now / _NS, "events": events})

    def take(self, answer: bytes) -> None:
        """Process the decisions of the scheduler, which may be for later."""
        for event in _events(answer):
            if event[1] != "CALL_ME_LATER":
                self.later.append(event)
                continue
            try:
                at = _nanoseconds(event[2].get("timestamp"))
            except ValueError as e:
                raise Failure(f"its CALL_ME_LATER: {e}") from None
            if at <= self.now:
                raise Failure(f"it wants to be called at {at / _NS} s, which is not after now, {self.now / _NS} s")
            self.calls.append(at)
        if max(len(self.calls), len(self.later)) > MAX_WAITING:
            raise Failure(f"it has more than {MAX_WAITING} decisions or calls for later")
        self.calls.sort()
        self.later.sort(key=lambda event: event[0])

    def due(self) -> Dict[str, Any]:
        """The due decisions, and the time of the next call."""
        due = [event for event in self.later if event[0] <= self.now]
        del self.later[:len(due)]
        answer: Dict[str, Any] = {
            "do": [self.perform(kind, data) for _, kind, data in due if kind not in _NO_CONSEQUENCE]}
        calls = self.calls[:1] + [event[0] for event in self.later[:1]]
        if calls:
            answer["call_at_ns"] = min(calls)
        return answer

    def perform(self, kind: str, data: Dict[str, Any]) -> Dict[str, Any]:
        if kind != "EXECUTE_JOB":
            raise Failure(f"it answers {kind}, which tfexp does not carry out: only EXECUTE_JOB and CALL_ME_LATER are")
        name = self.names.get(str(data.get("job_id")))
        if name is None:
            raise Failure(f"EXECUTE_JOB of job {data.get('job_id')!r}: there is no such job")
        return {"start": name, "on": ",".join(str(data.get("alloc", "")).split())}


def _zmq() -> Any:
    try:
        import zmq
    except ImportError as e:
        raise Failure(f"it needs pyzmq, which pybatsim brings ({e}): {sys.executable} -m pip install pyzmq") from None
    return zmq


def _value(text: str) -> Any:
    """The value of a setting: a number if the text is one, else the text."""
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        return value if math.isfinite(value) else text
    return text


def _memory() -> int:
    """The peak memory of this process in bytes; 0 if unknown."""
    if resource is None:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _status(code: int) -> str:
    return f"killed by signal {-code}" if code < 0 else f"exit status {code}"


def _serve(command: List[str]) -> int:
    translator = Translator(command)
    try:
        for line in sys.stdin.buffer:
            sys.stdout.buffer.write(json.dumps(translator.answer(line)).encode() + b"\n")
            sys.stdout.buffer.flush()
    except Failure as e:
        print(f"tfexp_batsim: {e}", file=sys.stderr)
        return 1
    finally:
        if translator.link is not None:
            translator.link.close()
    return 0


def main() -> NoReturn:
    """Run the policy; the arguments are the command of the scheduler."""
    command = sys.argv[1:]
    if command[:1] == ["--"]:
        command = command[1:]
    if not command or command[0] in ("-h", "--help"):
        print(__doc__, file=sys.stdout if command else sys.stderr)
        sys.exit(0 if command else 2)
    try:
        sys.exit(_serve(command))
    except BrokenPipeError:
        sys.exit(1)  # tfexp has ended, or has stopped the cell


if __name__ == "__main__":
    main()
