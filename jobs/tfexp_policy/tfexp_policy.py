"""Write a scheduling policy for tfexp in Python.

    from tfexp_policy import policy, run

    @policy
    def decide(now, waiting, running, cluster):
        for job in sorted(waiting, key=lambda j: j.requested_time):
            if cluster.free >= job.cores:
                yield job.start()

    run()

tfexp starts the program for each cell of ``policy "mine" { order = "external" ... }`` and asks it for decisions after
events; docs/external.md has the protocol. The library keeps the state: ``waiting`` and ``running`` have the jobs, and
``cluster`` the free resources. Decisions by a job's methods (``start``, ``pause``, ``resize``, ``migrate``) change this
state at once, for example ``cluster.free``. The methods return the decision: a function can ``yield`` it or return a list.

A policy with state is a class:

    class Mine(Policy):
        def decide(self, now, waiting, running, cluster): ...

    run(Mine)

Times are seconds since the start of the cell, as floats; attributes that end in ``_ns`` are integers in nanoseconds, so
their sums are exact. ``python3 my_policy.py --replay results/.../policy.jsonl`` repeats the decisions of a cell without
tfexp. Only Python 3.9 or newer is needed.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import random as _random
import re
import select
import sys
import time
from bisect import bisect_right
from operator import attrgetter
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

__all__ = ["Cluster", "Job", "Node", "Policy", "PolicyError", "Rooms", "decisions", "policy", "run", "seconds"]

PROTOCOL = 1
"""The version of the protocol."""

_NS = 1_000_000_000
_quote = json.dumps
_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class PolicyError(Exception):
    """Raised for an impossible decision; the text names the job and the rule."""


def seconds(text: Union[str, float]) -> float:
    """Convert a duration in tfexp's form to seconds: "1m30s" is 90.0."""
    if not isinstance(text, str):
        return float(text)
    parts = re.findall(r"([0-9.]+)\s*(ns|us|µs|ms|s|m|h|d)", text)
    if not parts or "".join(n + u for n, u in parts) != text.replace(" ", ""):
        raise ValueError(f"{text!r} is no duration such as \"1.5s\"")
    return sum(float(n) * _UNITS[u] for n, u in parts)


def _value(text: str) -> Union[str, int, float, bool]:
    """The value of a setting: a number or a bool if the text is one, else the text."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _spans(text: str) -> Iterator[Tuple[int, int]]:
    """The first and the last number of each range in a text such as "0-3,7"."""
    for part in text.split(","):
        low, _, high = part.partition("-")
        yield int(low), int(high or low)


class Node:
    """A node of the cluster. ``free`` (cores), ``free_gpus`` and ``free_memory`` (bytes) change during the cell."""

    __slots__ = ("name", "number", "cores", "gpus", "gpu", "memory", "rack", "up", "free", "free_gpus", "free_memory",
                 "leaves")

    def __init__(self, number: int, told: Dict[str, Any]) -> None:
        self.name: str = told["name"]
        self.number = number
        self.cores: int = told["cores"]
        self.gpus: int = told.get("gpus", 0)
        self.gpu: str = told.get("gpu", "")
        self.memory: float = told.get("memory", 0) or math.inf
        self.rack: str = told.get("rack", "")
        self.up: bool = told.get("up", True)
        self.leaves = math.inf
        """The time in seconds at which the node will be taken away; infinite if that is not announced."""
        self.free, self.free_gpus, self.free_memory = self.cores, self.gpus, self.memory

    def __repr__(self) -> str:
        return f"<node {self.name}: {self.free} of {self.cores} cores free>"


class Rooms:
    """The free resources of each node, now or in a plan. It is a copy that may be changed."""

    __slots__ = ("rooms", "nodes", "moves")

    def __init__(self, nodes: Sequence[Node], moves: bool) -> None:
        self.nodes, self.moves = nodes, moves
        self.rooms: List[List[float]] = [
            [n.free, n.free_gpus, n.free_memory] if n.up else [-1, -1, -1] for n in nodes]

    def fits(self, job: Job, cores: Optional[int] = None) -> Optional[List[Node]]:
        """The nodes on which a job would start: the first ones with room; None if there is no room."""
        count, each, gpus, memory = job._needs(cores)
        home = job._home
        if home:
            if all(self.rooms[n.number][0] >= each and self.rooms[n.number][1] >= gpus for n in home):
                return home
            if not self.moves:
                return None
        found = []
        for n in self.nodes:
            room = self.rooms[n.number]
            if room[0] >= each and room[1] >= gpus and room[2] >= memory and (not job.gpu or job.gpu == n.gpu):
                found.append(n)
                if len(found) == count:
                    return found
        return None

    def take(self, job: Job, nodes: Sequence[Node], cores: Optional[int] = None, sign: int = 1) -> None:
        """Subtract the resources that a job needs on these nodes."""
        _, each, gpus, memory = job._needs(cores)
        for n in nodes:
            room = self.rooms[n.number]
            room[0] -= sign * each
            room[1] -= sign * gpus
            if n not in job._home:
                room[2] -= sign * memory

    def put_back(self, job: Job, nodes: Sequence[Node], cores: Optional[int] = None) -> None:
        """Add the resources that take has subtracted."""
        self.take(job, nodes, cores, -1)

    def release(self, job: Job, ended: bool = True) -> None:
        """Add the resources of a running job, as if it had ended or was paused."""
        for n, cores, gpus in job._held:
            room = self.rooms[n.number]
            room[0] += cores
            room[1] += gpus
            if ended:
                room[2] += job._memory


class Cluster:
    """The nodes and their free resources."""

    def __init__(self, told: List[Dict[str, Any]], moves: bool) -> None:
        self.nodes: List[Node] = [Node(i, n) for i, n in enumerate(told)]
        self.cores: int = sum(n.cores for n in self.nodes)
        """The number of cores of all nodes."""
        self.gpus: int = sum(n.gpus for n in self.nodes)
        self.now_ns = 0
        self.now = 0.0
        self._moves = moves
        self._by_name = {n.name: n for n in self.nodes}
        self._core_bounds, self._gpu_bounds = [0], [0]
        for n in self.nodes:
            self._core_bounds.append(self._core_bounds[-1] + n.cores)
            self._gpu_bounds.append(self._gpu_bounds[-1] + n.gpus)
        self._only = self.nodes[0] if len(self.nodes) == 1 else None
        self._call_at: Optional[int] = None

    @property
    def free(self) -> int:
        """The largest number of free cores on one node, which a job on one node can get."""
        if self._only is not None:
            return self._only.free if self._only.up else 0
        return max((n.free for n in self.nodes if n.up), default=0)

    @property
    def total_free(self) -> int:
        """The number of free cores of all nodes."""
        return sum(n.free for n in self.nodes if n.up)

    def rooms(self) -> Rooms:
        """A copy of the free resources of each node, for planning."""
        return Rooms(self.nodes, self._moves)

    def fits(self, job: Job, cores: Optional[int] = None) -> Optional[List[Node]]:
        """The nodes on which a waiting job would start now; None if there is no room."""
        if self._only is not None and job._plain:
            node = self._only
            return self.nodes if node.up and node.free >= (cores or job.cores) else None
        return self.rooms().fits(job, cores)

    def call_at(self, at: float) -> None:
        """Call decide at an instant, in seconds, even without an event. The last call before the answer counts, and only
        until decide is called again."""
        self.call_at_ns(round(at * _NS))

    def call_at_ns(self, at: int) -> None:
        """As call_at, with the instant in nanoseconds."""
        if at <= self.now_ns:
            raise PolicyError(f"call_at: {at / _NS} s is not after now, {self.now} s")
        self._call_at = at if self._call_at is None else min(at, self._call_at)

    def _where(self, bounds: List[int], text: str) -> Dict[int, int]:
        """How many of the numbers in a text such as "0-3,7" belong to each node."""
        if self._only is not None:
            return {0: sum(high - low + 1 for low, high in _spans(text))}
        counts: Dict[int, int] = {}
        for low, high in _spans(text):
            while low <= high:
                node = bisect_right(bounds, low) - 1
                end = min(high, bounds[node + 1] - 1)
                counts[node] = counts.get(node, 0) + end - low + 1
                low = end + 1
        return counts


class Job:
    """A job. ``name``, ``number`` (its place in the workload), ``class_name``, ``user``, ``cores`` (its request), ``gpus``,
    ``memory`` (bytes), ``nodes`` (how many), ``malleable``, ``min_cores``, ``max_cores``, ``priority`` (0 is best),
    ``deadline`` and ``arrival`` (seconds), ``requested_time`` (its estimated run time on its request in seconds;
    infinite if unknown) and ``requested_ns`` (None if unknown), ``alternatives``. These attributes change:
    ``state`` ("waiting", "paused", "running", "over"), ``held`` (cores), ``on`` (their numbers), ``done`` and ``total``
    (epochs or steps, if it reports them), ``preemptions``. ``data`` is for the policy's use."""

    __slots__ = ("name", "number", "class_name", "user", "cores", "gpus", "gpu", "memory", "nodes", "malleable",
                 "min_cores", "max_cores", "priority", "deadline", "arrival", "arrival_ns", "requested_time",
                 "requested_ns", "alternatives", "state", "held", "on", "done", "total", "preemptions", "data", "waiting",
                 "weight", "_cluster", "_session", "_json", "_plain", "_checked", "_held", "_home", "_memory", "_since",
                 "_service", "_core_time", "_lost", "_left", "_listed", "_key", "_said", "started_ns")

    def __init__(self, session: _Session, told: Dict[str, Any]) -> None:
        get = told.get
        self._session, self._cluster = session, session.cluster
        self.name: str = told["job"]
        self._json = _quote(self.name)
        self.number: int = told["number"]
        self.class_name: str = get("class", "")
        self.user: str = get("user", "")
        self.cores: int = told["cores"]
        self.gpus: int = get("gpus", 0)
        self.gpu: str = ""
        self.memory: int = get("memory", 0)
        self.nodes: int = get("nodes", 1)
        self.malleable: bool = get("malleable", False)
        self.min_cores: int = max(get("min_cores", 0), 1)
        self.max_cores: int = get("max_cores", 0) or self.cores
        self.priority: int = get("priority", 0)
        self.weight: float = get("weight_ppm", 1_000_000) / 1e6
        deadline = get("deadline_ns")
        self.deadline: float = math.inf if deadline is None else deadline / _NS
        self.arrival_ns: int = told["at_ns"]
        self.arrival = self.arrival_ns / _NS
        requested = get("requested_ns")
        self.requested_ns: Optional[int] = requested
        self.requested_time: float = math.inf if requested is None else requested / _NS
        self.alternatives: List[Dict[str, Any]] = get("alternatives", [])
        self._checked = not (self.alternatives or "roles" in told or get("divided"))
        self._plain = self._checked and not self.gpus and not self.memory and self.nodes == 1
        self._memory = -(-self.memory // self.nodes)
        self.state = "waiting"
        self.waiting = False
        self.held = 0
        self.on = ""
        self.done = self.total = self.preemptions = 0
        self.data: Any = None
        self.started_ns: Optional[int] = None
        self._held: List[Tuple[Node, int, int]] = []
        self._home: List[Node] = []
        self._since = self._service = self._core_time = self._lost = 0
        self._said = 0  # number of decisions that tfexp has not confirmed yet
        self._left: Optional[Tuple[int, int]] = None
        self._listed = False
        self._key = (self.arrival_ns, self.number)

    def __repr__(self) -> str:
        return f"<job {self.name}: {self.state}, {self.held or self.cores} cores>"

    def _needs(self, cores: Optional[int]) -> Tuple[int, int, int, int]:
        n = self.nodes
        return n, (cores or self.cores) // n, self.gpus // n, 0 if self._home and not self._session.moves else self._memory

    # Attained service.

    @property
    def running(self) -> bool:
        """Whether the job runs."""
        return self.state == "running"

    @property
    def paused(self) -> bool:
        """Whether the job is paused and waits to resume."""
        return self.state == "paused"

    @property
    def placed(self) -> List[Node]:
        """The nodes on which the job runs, or ran before it was paused."""
        return self._home

    @property
    def attained_ns(self) -> int:
        """The job's attained service: cores × time, in core-nanoseconds."""
        if self.state != "running":
            return self._core_time
        return self._core_time + (self._cluster.now_ns - self._since) * self.held

    @property
    def attained(self) -> float:
        """The job's attained service in core-seconds."""
        return self.attained_ns / _NS

    @property
    def service_ns(self) -> int:
        """How long the job has run, in nanoseconds."""
        return self._service + (self._cluster.now_ns - self._since if self.state == "running" else 0)

    @property
    def service(self) -> float:
        """How long the job has run, in seconds."""
        return self.service_ns / _NS

    @property
    def since_ns(self) -> int:
        """When the job last began to run or to wait, in seconds."""
        return self._since

    @property
    def remaining_ns(self) -> Optional[int]:
        """The estimated remaining run time on its request, in nanoseconds; None if unknown."""
        if self.requested_ns is None:
            return None
        attained = self.attained_ns
        if self._left is not None:
            left, then = self._left
            return max(left - (attained - then) // self.cores, 0)
        return max(self.requested_ns - (attained - self._lost) // self.cores, 0)

    @property
    def remaining(self) -> float:
        """The estimated remaining run time in seconds; infinite if unknown."""
        left = self.remaining_ns
        return math.inf if left is None else left / _NS

    def length_ns(self, cores: Optional[int] = None) -> Optional[int]:
        """The remaining run time with this number of cores in nanoseconds, assuming speed proportional to cores; None if
        unknown."""
        left = self.remaining_ns
        if left is None or not cores or cores == self.cores:
            return left
        return left * self.cores // cores

    @property
    def ends_ns(self) -> Optional[int]:
        """The expected end of a running job in nanoseconds; None if unknown."""
        left = self.length_ns(self.held)
        return None if left is None else self._cluster.now_ns + left

    # Decisions.

    def start(self, cores: Optional[int] = None, nodes: Optional[Sequence[Union[str, Node]]] = None,
              on: Union[str, Sequence[int], None] = None, alternative: str = "", why: str = "") -> Job:
        """Start or resume the job. Without arguments it gets its request on the first nodes with room. ``on`` lists its
        cores, as "0-3,7" or [0, 1, 2, 3, 7]."""
        if self.state not in ("waiting", "paused"):
            raise PolicyError(f"start of job {self.name}: it is {self.state}: only jobs that wait start")
        self._begin("start", cores, nodes, on, alternative, why)
        return self

    resume = start

    def pause(self, why: str = "") -> Job:
        """Pause the job. It keeps its memory and its progress, and waits."""
        self._must_run("pause", "pause")
        self._session.say('{"pause":' + self._json, why)
        self._said += 1
        self._session.paused(self)
        return self

    def resize(self, cores: int, why: str = "") -> Job:
        """Give a running malleable job more or fewer cores. The policy must have sizes=True."""
        self._must_run("resize", "resize")
        if not self._session.policy.sizes:
            raise PolicyError(f"resize of job {self.name}: a policy that sizes jobs says sizes=True")
        if not self.malleable:
            raise PolicyError(f"resize of job {self.name}: it is rigid")
        if not self.min_cores <= cores <= max(self.max_cores, self.cores):
            raise PolicyError(f"resize of job {self.name}: it runs on {self.min_cores} to {self.max_cores} cores, not {cores}")
        if cores == self.held:
            return self
        node = self._held[0][0]
        if cores - self.held > node.free:
            raise PolicyError(f"resize of job {self.name}: it needs {cores - self.held} cores more, {node.free} are free")
        self._session.say('{"resize":%s,"cores":%d' % (self._json, cores), why)
        self._said += 1
        self._session.resized(self, cores)
        return self

    def migrate(self, nodes: Sequence[Union[str, Node]], why: str = "") -> Job:
        """Move a running job to other nodes."""
        self._must_run("migrate", "migrate")
        self._session.paused(self, quietly=True)
        self._begin("migrate", None, nodes, None, "", why)
        return self

    def wait(self, why: str) -> None:
        """Set the reason why the job waits, which `tfexp explain` shows."""
        self._session.waits[self.name] = why

    def _must_run(self, verb: str, power: str) -> None:
        if self.state != "running":
            raise PolicyError(f"{verb} of job {self.name}: it is {self.state}: only jobs that run can be")
        if not self._session.capabilities.get(power, True):
            raise PolicyError(f"{verb} of job {self.name}: the engine cannot {power} jobs")

    def _begin(self, verb: str, cores: Optional[int], nodes: Optional[Sequence[Union[str, Node]]],
               on: Union[str, Sequence[int], None], alternative: str, why: str) -> None:
        c = self._cluster
        text = '{"%s":%s' % (verb, self._json)
        if cores is not None and cores != self.cores:
            if not self._session.policy.sizes:
                raise PolicyError(f"{verb} of job {self.name} on {cores} cores: a policy that sizes jobs says sizes=True")
            text += ',"cores":%d' % cores
        if nodes is not None:
            where = [n if isinstance(n, Node) else c._by_name[n] for n in nodes]
            text += ',"nodes":' + _quote([n.name for n in where])
        elif on is not None:
            on = on if isinstance(on, str) else ",".join(map(str, on))
            where = [c.nodes[i] for i in c._where(c._core_bounds, on)]
            text += ',"on":' + _quote(on)
        else:
            where = c.fits(self, cores) or []
            if not where and self._checked:
                raise PolicyError(f"{verb} of job {self.name}: there is no room: it needs {cores or self.cores} cores" +
                                  (f" and {self.gpus} GPUs" if self.gpus else "") + f", {c.free} are free on one node")
        if alternative:
            text += ',"alternative":' + _quote(alternative)
        self._session.say(text, why)
        self._said += 2 if verb == "migrate" else 1
        self._session.started(self, cores or self.cores, where)


class _Jobs(Sequence[Job]):
    """A sorted list of jobs. It may change during an iteration."""

    def __getitem__(self, i: Any) -> Any:
        return list(self)[i]

    def __bool__(self) -> bool:
        return len(self) > 0

    def __repr__(self) -> str:
        return repr(list(self))


class Waiting(_Jobs):
    """The waiting jobs, sorted by arrival and number. Started jobs are removed from the internal list later."""

    def __init__(self) -> None:
        self._jobs: List[Job] = []
        self._head = self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Job]:
        return filter(attrgetter("waiting"), map(self._jobs.__getitem__, range(self._head, len(self._jobs))))

    def _add(self, job: Job) -> None:
        self._count += 1
        job.waiting = True
        if job._listed:
            self._head = 0
            return
        job._listed = True
        jobs = self._jobs
        if not jobs or jobs[-1]._key <= job._key:
            jobs.append(job)
            return
        low, high = 0, len(jobs)
        while low < high:
            middle = (low + high) // 2
            if jobs[middle]._key < job._key:
                low = middle + 1
            else:
                high = middle
        self._jobs = jobs[:low] + [job] + jobs[low:]
        self._head = 0

    def _remove(self, job: Job) -> None:
        self._count -= 1
        job.waiting = False

    def _tidy(self) -> None:
        jobs, head = self._jobs, self._head
        while head < len(jobs) and not jobs[head].waiting:
            head += 1
        self._head = head
        if head > 64 and head > len(jobs) // 2 or len(jobs) > 2 * self._count + 64:
            for job in jobs:
                job._listed = job.waiting
            self._jobs = [job for job in jobs if job.waiting]
            self._head = 0


class Running(_Jobs):
    """The running jobs, in the order in which they last started."""

    def __init__(self) -> None:
        self._jobs: Dict[Job, None] = {}

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[Job]:
        return iter(tuple(self._jobs))


class Policy:
    """The base class of policies with state. A subclass must define ``decide``; the other methods are optional."""

    ask = "always"
    """When decide is called: "always", or "waiting" for only while jobs wait, which is faster."""
    sizes = False
    """Whether the policy chooses the numbers of cores; if not, each job gets its request."""
    settings: Dict[str, Any]
    """The settings in the policy block, a dict."""
    seed: int
    random: _random.Random
    """A stream of random numbers from the cell's seed."""
    state: Any
    """The result of ``end`` in the previous replicate (learns = true); None in the first."""
    cluster: Cluster
    hello: Dict[str, Any]
    """The first message, a dict: cell, workload, replicate, capabilities and others."""

    def begin(self) -> None:
        """Called when the cell begins; settings, random, state and cluster are set."""

    def decide(self, now: float, waiting: Waiting, running: Running, cluster: Cluster) -> Optional[Iterable[Any]]:
        """Make the decisions for this instant, by calling methods of jobs."""
        raise NotImplementedError("a policy has a method decide")

    def arrived(self, job: Job) -> None:
        """Called when a job has arrived."""

    def ended(self, job: Job) -> None:
        """Called when a job or its attempt has ended."""

    def progressed(self, job: Job) -> None:
        """Called when a job has reported its progress, job.done of job.total."""

    def end(self) -> Any:
        """Called at the end of the cell. The result, made of lists, dicts, texts and numbers, becomes ``state`` in the next
        replicate."""


_registered: Optional[Policy] = None


def policy(made: Any = None, *, sizes: bool = False, ask: str = "always") -> Any:
    """Make a function or a class the policy of this program: ``@policy``, or ``@policy(sizes=True)``."""
    if made is None:
        return lambda later: policy(later, sizes=sizes, ask=ask)
    global _registered
    if isinstance(made, type):
        _registered = made()
    else:
        _registered = Policy()
        _registered.sizes, _registered.ask = sizes, ask
        _registered.decide = made  # type: ignore[method-assign]
    return made


class _Session:
    """The state of a cell according to the messages."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.jobs: Dict[str, Job] = {}
        self.waiting, self.running = Waiting(), Running()
        self.parts: List[str] = []
        self.waits: Dict[str, str] = {}
        self.later: List[Job] = []
        self.deciding = False
        self.hear: Dict[str, Callable[[Dict[str, Any]], None]] = {
            "arrive": self.on_arrive, "start": self.on_start, "end": self.on_end, "pause": self.on_pause,
            "resize": self.on_resize, "request": self.on_request, "progress": self.on_progress, "again": self.on_again,
            "node_up": self.on_node_up, "node_warned": self.on_node_warned, "node_down": self.on_node_down,
        }

    def answer(self, line: Union[str, bytes]) -> Optional[str]:
        """The answer to a message; None after the last message."""
        message = json.loads(line)
        kind = message["type"]
        if kind == "events":
            return self.decide(message)
        if kind == "hello":
            return self.greet(message)
        if kind == "end":
            return _quote({"type": "bye", "state": self.policy.end()})
        raise PolicyError(f"a message of the type {kind!r} is not of version {PROTOCOL} of the protocol")

    def greet(self, hello: Dict[str, Any]) -> str:
        p = self.policy
        self.capabilities: Dict[str, bool] = hello.get("capabilities", {})
        self.moves = self.capabilities.get("migrate", False)
        self.cluster = Cluster(hello["cluster"]["nodes"], self.moves)
        p.hello, p.cluster, p.state = hello, self.cluster, hello.get("state")
        p.settings = {name: _value(text) for name, text in hello.get("settings", {}).items()}
        p.seed = hello.get("seed", 0)
        p.random = _random.Random(p.seed)
        p.begin()
        return _quote({"type": "ready", "protocol": PROTOCOL, "name": type(p).__name__, "ask": p.ask, "sizes": p.sizes})

    def decide(self, message: Dict[str, Any]) -> str:
        cluster, hear = self.cluster, self.hear
        for event in message["events"]:
            on = hear.get(event["event"])  # ignore unknown kinds of events
            if on is not None:
                on(event)
        now = message["now_ns"]
        cluster.now_ns, cluster.now, cluster._call_at = now, now / _NS, None
        self.parts.clear()
        self.waits.clear()
        self.waiting._tidy()
        self.deciding = True
        decided = self.policy.decide(cluster.now, self.waiting, self.running, cluster)
        if decided is not None:
            for _ in decided:
                pass
        self.deciding = False
        for job in self.later:
            if job.state == "paused" and not job.waiting:
                self.waiting._add(job)
        self.later.clear()
        if not self.parts and cluster._call_at is None and not self.waits:
            return "{}"
        text = '{"do":[' + ",".join(self.parts) + "]"
        if cluster._call_at is not None:
            text += ',"call_at_ns":%d' % cluster._call_at
        if self.waits:
            text += ',"waits":' + _quote(self.waits)
        return text + "}"

    def say(self, text: str, why: str) -> None:
        self.parts.append(text + (',"why":' + _quote(why) + "}" if why else "}"))

    # Changes by a decision or by a message of tfexp.

    def started(self, job: Job, cores: int, nodes: List[Node], gpus: Optional[int] = None) -> None:
        now = self.cluster.now_ns
        if job.waiting:
            self.waiting._remove(job)
        if nodes:
            each, of = cores // len(nodes), (job.gpus if gpus is None else gpus) // len(nodes)
            for n in nodes:
                n.free -= each
                n.free_gpus -= of
                if n not in job._home:
                    n.free_memory -= job._memory
            for n in job._home:
                if n not in nodes:
                    n.free_memory += job._memory
            job._held = [(n, each, of) for n in nodes]
            job._home = nodes
        job.state, job.held, job._since = "running", cores, now
        if job.started_ns is None:
            job.started_ns = now
        self.running._jobs[job] = None

    def settle(self, job: Job, at: int) -> None:
        job._service += at - job._since
        job._core_time += (at - job._since) * job.held
        job._since = at

    def release(self, job: Job, ended: bool) -> None:
        for n, cores, gpus in job._held:
            n.free += cores
            n.free_gpus += gpus
        job._held = []
        if ended:
            for n in job._home:
                n.free_memory += job._memory
            job._home = []
        job.held = 0
        self.running._jobs.pop(job, None)

    def paused(self, job: Job, at: Optional[int] = None, quietly: bool = False) -> None:
        self.settle(job, self.cluster.now_ns if at is None else at)
        self.release(job, False)
        job.state = "paused"
        job.preemptions += 1
        if quietly:
            return
        if self.deciding:
            self.later.append(job)
        else:
            self.waiting._add(job)

    def resized(self, job: Job, cores: int, at: Optional[int] = None) -> None:
        self.settle(job, self.cluster.now_ns if at is None else at)
        node, before, gpus = job._held[0]
        node.free += before - cores
        job._held[0] = (node, cores, gpus)
        job.held = cores

    # Messages of tfexp.

    def on_arrive(self, event: Dict[str, Any]) -> None:
        job = Job(self, event)
        job._since = event["at_ns"]
        self.jobs[job.name] = job
        self.waiting._add(job)
        self.policy.arrived(job)

    def on_start(self, event: Dict[str, Any]) -> None:
        job, cores, on = self.jobs[event["job"]], event["cores"], event["on"]
        job.on = on
        if job._said:
            job._said -= 1
            if job._said:
                return
        if job.state == "running" and job.held == cores:
            job._since = event["at_ns"]  # on a real clock this is later than the decision
            if self.cluster._only is not None:
                return
            held = {n.number: c for n, c, _ in job._held}
            if held == self.cluster._where(self.cluster._core_bounds, on):
                return
        if job.state == "running":
            self.release(job, True)
        nodes = [self.cluster.nodes[i] for i in self.cluster._where(self.cluster._core_bounds, on)]
        gpus = event.get("gpus")
        self.started(job, cores, nodes, sum(h - l + 1 for l, h in _spans(gpus)) if gpus else 0)
        job._since = event["at_ns"]

    def on_end(self, event: Dict[str, Any]) -> None:
        job = self.jobs.pop(event["job"])
        self.off(job, event["at_ns"], True)
        job.state = "over"
        self.policy.ended(job)

    def off(self, job: Job, at: int, ended: bool) -> None:
        if job.state == "running":
            self.settle(job, at)
            self.release(job, ended)
            return
        if job.waiting:
            self.waiting._remove(job)
        if ended:
            self.release(job, True)

    def on_again(self, event: Dict[str, Any]) -> None:
        job = self.jobs[event["job"]]
        self.off(job, event["at_ns"], True)
        job.cores = event.get("cores", job.cores)
        job.state, job._since, job._lost, job._left = "waiting", event["at_ns"], job._core_time, None
        self.waiting._add(job)
        self.policy.ended(job)

    def on_pause(self, event: Dict[str, Any]) -> None:
        job = self.jobs[event["job"]]
        if job._said:
            job._said -= 1
        elif job.state == "running":
            self.paused(job, event["at_ns"])

    def on_resize(self, event: Dict[str, Any]) -> None:
        job = self.jobs[event["job"]]
        job.on = event["on"]
        if job._said:
            job._said -= 1
        elif job.held != event["cores"]:
            self.resized(job, event["cores"], event["at_ns"])

    def on_request(self, event: Dict[str, Any]) -> None:
        self.jobs[event["job"]].cores = event["cores"]

    def on_progress(self, event: Dict[str, Any]) -> None:
        job = self.jobs[event["job"]]
        job.done, job.total = event["done"], event["total"]
        if "left_ns" in event:
            then = job._core_time + ((event["at_ns"] - job._since) * job.held if job.state == "running" else 0)
            job._left = (event["left_ns"], then)
            job.requested_ns = job.requested_ns or event["left_ns"]
        self.policy.progressed(job)

    def on_node_up(self, event: Dict[str, Any]) -> None:
        node = self.cluster.nodes[event["node"]]
        node.up, node.leaves = True, math.inf
        node.free, node.free_gpus, node.free_memory = node.cores, node.gpus, node.memory

    def on_node_warned(self, event: Dict[str, Any]) -> None:
        node = self.cluster.nodes[event["node"]]
        node.up, node.leaves = False, event["until_ns"] / _NS

    def on_node_down(self, event: Dict[str, Any]) -> None:
        self.cluster.nodes[event["node"]].up = False


def _messages(spin: float) -> Iterator[bytes]:
    """The lines of the input. Before the process sleeps, it polls for the next line for this many microseconds, because
    waking up takes about as long. After polls without success it sleeps at once, for up to 1024 messages."""
    if spin <= 0:
        yield from sys.stdin.buffer
        return
    os.set_blocking(0, False)
    read, clock, text = os.read, time.perf_counter, b""
    sleeps = patience = 0
    while True:
        until = 0.0
        sleeps -= 1
        if sleeps > 0:
            select.select([0], [], [])
        else:
            patience //= 2
        while True:
            try:
                got = read(0, 1 << 20)
                break
            except BlockingIOError:
                now = clock()
                if not until:
                    until = now + spin / 1e6
                elif now > until:
                    patience = min(max(4 * patience, 16), 1024)
                    sleeps = patience
                    select.select([0], [], [])
        if not got:
            return
        text += got
        if got.endswith(b"\n"):  # only one message is sent at a time
            yield text
            text = b""


def _serve(session: _Session) -> int:
    """Answer tfexp's messages. Output that the policy prints goes to standard error, which tfexp keeps."""
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    gc.set_threshold(50_000, 20, 50)
    answer, write = session.answer, out.write
    for line in _messages(float(os.environ.get("TFEXP_POLICY_SPIN", "0"))):
        text = answer(line)
        write((text or "{}").encode() + b"\n")
    return 0


def _replay(session: _Session, path: str, at: Optional[float], shown: int) -> int:
    """Repeat the decisions of a cell, and print the differences; with ``at``, print the state at that time."""
    if os.path.isdir(path):
        path = os.path.join(path, "policy.jsonl")
    elif os.path.basename(path) == "events.jsonl":
        path = os.path.join(os.path.dirname(path), "policy.jsonl")
    asked = differ = 0
    if at is not None:
        with open(path, encoding="utf-8") as lines:
            asks = [json.loads(line)["now_ns"] / _NS for line in lines if line.startswith('{"type":"events"')]
        at = max((now for now in asks if now <= at), default=None)
    with open(path, encoding="utf-8") as lines:
        while True:
            message, was = lines.readline(), lines.readline().strip()
            if not message.endswith("\n"):
                break
            told = json.loads(message)
            now = told.get("now_ns", 0) / _NS
            look = told["type"] == "events" and now == at
            answer = session.answer(message) or "{}"
            asked += told["type"] == "events"
            if look:
                print(f"at {now} s")
                for event in told["events"]:
                    print("  event   ", json.dumps(event))
                print("  decided ", answer)
                for name, jobs in ("waiting", session.waiting), ("running", session.running):
                    for job in jobs:
                        print(f"  {name} {job.name}: {job.cores} cores, {job.requested_time} s, has had {job.attained} core-s")
                print("  free    ", ", ".join(f"{n.name}: {n.free}" for n in session.cluster.nodes))
            if was and told["type"] == "events" and json.loads(answer) != json.loads(was):
                differ += 1
                if differ <= shown:
                    print(f"at {now} s\n  was {was}\n  is  {answer}")
    print(f"{asked} decisions, {differ} of them other than recorded")
    return 1 if differ else 0


def run(made: Any = None) -> None:
    """Run a policy: a Policy, a subclass of it, or a function; by default the one that ``policy`` has registered. It
    does nothing if the module was imported, for example by a test."""
    if isinstance(made, Policy):
        global _registered
        _registered = made
    elif made is not None:
        policy(made)
    if sys._getframe(1).f_globals.get("__name__") != "__main__":
        return
    parser = argparse.ArgumentParser(description="A scheduling policy. tfexp starts it, for a policy block with "
                                     "order = \"external\" that has it as its command.")
    parser.add_argument("--replay", metavar="FILE", help="decide again what was decided in a cell: its policy.jsonl, or "
                        "the events.jsonl beside that")
    parser.add_argument("--at", type=float, metavar="SECONDS", help="with --replay: show what was seen and decided "
                        "then, the last time before")
    parser.add_argument("--most", type=int, default=10, help="with --replay: how many differences are shown")
    options = parser.parse_args()
    if _registered is None:
        parser.error("there is no policy: mark one with @policy, or pass it to run")
    session = _Session(_registered)
    try:
        if options.replay:
            sys.exit(_replay(session, options.replay, options.at, options.most))
        if sys.stdin.isatty():
            parser.error("tfexp starts this program, and talks to it; to look into a cell: --replay FILE")
        sys.exit(_serve(session))
    except BrokenPipeError:
        sys.exit(1)  # tfexp has ended, or has stopped the cell


def decisions(made: Any, waiting: Sequence[Dict[str, Any]], running: Sequence[Dict[str, Any]] = (), cores: int = 4,
              now: float = 0.0, nodes: Optional[List[Dict[str, Any]]] = None,
              settings: Optional[Dict[str, str]] = None) -> List[Dict[str, Any]]:
    """Return the decisions of a policy in a situation, for tests. Waiting and running jobs are dicts with ``job`` (a name),
    ``cores``, ``requested_time``, ``arrival`` and other members of an arriving job; running ones began at ``start``."""
    p = made() if isinstance(made, type) else made
    if not isinstance(p, Policy):
        p = Policy()
        p.decide, p.sizes = made, True  # type: ignore[method-assign]
    session = _Session(p)
    session.answer(json.dumps({
        "type": "hello", "cluster": {"nodes": nodes or [{"name": "node", "cores": cores}]}, "settings": settings or {},
        "capabilities": {"pause": True, "resize": True, "migrate": True, "memory": True, "gpus": True}}))
    decide, p.decide = p.decide, lambda *a: None  # type: ignore[method-assign]
    events: List[Dict[str, Any]] = []
    first = 0
    for number, told in enumerate([*running, *waiting]):
        event = {"event": "arrive", "number": number, "at_ns": round(told.get("arrival", 0) * _NS), **told}
        if "requested_time" in told:
            event["requested_ns"] = round(told["requested_time"] * _NS)
        events.append(event)
    for told in running:
        events.append({"event": "start", "job": told["job"], "cores": told["cores"],
                       "at_ns": round(told.get("start", 0) * _NS), "on": f"{first}-{first + told['cores'] - 1}"})
        first += told["cores"]
    session.answer(json.dumps({"type": "events", "events": events, "now_ns": round(now * _NS)}))
    p.decide = decide  # type: ignore[method-assign]
    answer = session.answer(json.dumps({"type": "events", "events": [], "now_ns": round(now * _NS)}))
    return list(json.loads(answer or "{}").get("do", []))
