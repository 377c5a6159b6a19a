"""The job contract of tfexp (jobs/README.md) for training programs in Python.

    import tfexp_job

    job = tfexp_job.start(epochs=10)
    model = build(threads=job.intra)
    for epoch in job.train(save=write_state, resize=model.set_threads):
        loss = model.train_one_epoch()
        job.epoch(loss=loss)
    job.end()

start() reads tfexp's settings from the environment. epoch() (or step()) reports
that an epoch is finished, and end() reports the times of all epochs. Without
tfexp the program runs with its defaults. All times are seconds. The module is
one file that can be copied; it needs only Python 3.8 or newer.
"""

import json
import math
import os
import re
import shutil
import signal
import socket
import struct
import sys
import tempfile
import threading
import time

__all__ = ["Job", "RESTART", "Refused", "STOPPED", "start"]

#: The exit status of a program that ended because of SIGTERM: 128 + 15.
STOPPED = 143

#: The value of `resize` for train() if the program can change its threads only
#: at its start: the program is saved and starts again in the same process.
RESTART = "restart"


class Refused(Exception):
    """Raised by functions of the program for a request that it cannot fulfil."""


# This variable tells the process after exec that it is a restart.
_RESTARTED = "TFEXP_JOB_RESTARTED"
# The file that makes a checkpoint valid; it has the name of the checkpoint's folder.
_STATE = "state.json"
_VERSION = 2
# The least time between two lines about steps, since steps can be very short.
_LINE_EVERY = 0.1
# The file with the steps and seconds so far, if checkpoints are written at an
# interval.
_REACHED = "reached"
# How often the clock of a budget checks whether the process was stopped.
_BEAT = 0.02


def _process_began():
    """The instant at which this process began, on time.monotonic()'s clock.

    A program's start-up includes its imports. If the system does not report the
    start of the process, the import of this module is used.
    """
    now = time.monotonic()
    try:
        with open("/proc/self/stat") as f:
            ticks = int(f.read().rpartition(")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return now
    return now - max(age, 0.0)


_BEGAN = _process_began()


def start(epochs=10, steps=None, settings=None):
    """Begin the job: read the environment, the control file and a checkpoint.

    epochs or steps is the total work if tfexp sets neither work nor a budget. settings (any
    JSON value) has all that affects the course of training: a checkpoint with
    other settings is not used. Raises ValueError if a variable is malformed.
    """
    return Job(epochs, steps, settings)


def _number(name, least, default):
    text = os.environ.get(name, "")
    if not text:
        return default
    if not text.strip().isdigit() or int(text) < least:
        raise ValueError("%s is %r, want a whole number of at least %d" % (name, text, least))
    return int(text)


def _seconds(name):
    text = os.environ.get(name, "")
    if not text:
        return None
    try:
        seconds = float(text)
        if not 0 <= seconds < math.inf:
            raise ValueError
    except ValueError:
        raise ValueError("%s is %r, want a number of seconds of at least 0" % (name, text)) from None
    return seconds


def _loss(name):
    text = os.environ.get(name, "")
    if not text:
        return None
    try:
        loss = float(text)
        if not 0 < loss < math.inf:
            raise ValueError
    except ValueError:
        raise ValueError("%s is %r, want a loss above 0" % (name, text)) from None
    return loss


def _interval(name):
    """Return the steps, epochs and seconds (one is not 0) of an interval such as "500steps", "2epochs" or "1h30m"."""
    text = os.environ.get(name, "")
    if not text:
        return 0, 0, 0.0
    count = re.fullmatch(r"(\d+)\s*(steps|epochs)", text)
    if count and int(count.group(1)) > 0:
        n = int(count.group(1))
        return (n, 0, 0.0) if count.group(2) == "steps" else (0, n, 0.0)
    if re.fullmatch(r"((\d+\.?\d*|\.\d+)(ms|s|m|h))+", text):
        unit = {"ms": 1e-3, "s": 1, "m": 60, "h": 3600}
        seconds = sum(float(n) * unit[u] for n, u in re.findall(r"([\d.]+)(ms|s|m|h)", text))
        if seconds > 0:
            return 0, 0, seconds
    raise ValueError('%s is %r, want an interval such as "500steps", "2epochs" or "10m"' % (name, text))


class _Clock:
    """Service time: the seconds since the process began in which it was not stopped.

    A thread records the time every few milliseconds. After a stop the process
    receives SIGCONT; the time since the last record is the length of the stop.
    """

    def __init__(self):
        self._stopped, self._last = 0.0, None
        self._lock = threading.Lock()
        self._signals = None

    def watch(self):
        if self._signals is not None:
            return
        self._signals, theirs = socket.socketpair()
        self._signals.setblocking(False)
        theirs.setblocking(False)
        self._theirs = theirs  # kept open
        try:
            signal.signal(signal.SIGCONT, lambda *_: None)
            signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
        except ValueError:
            return  # not the main thread: all time counts
        self._last = time.monotonic()
        threading.Thread(target=self._run, daemon=True).start()

    def _continued(self):
        try:
            return signal.SIGCONT in self._signals.recv(4096)
        except OSError:
            return False

    def _run(self):
        while True:
            time.sleep(_BEAT)
            now, continued = time.monotonic(), self._continued()
            for _ in range(10):  # the signal may come after the tick
                if continued or now - self._last <= 4 * _BEAT:
                    break
                time.sleep(_BEAT)
                now, continued = time.monotonic(), self._continued()
            with self._lock:
                if continued:
                    now = time.monotonic()
                    self._stopped += now - self._last
                self._last = now

    def service(self):
        with self._lock:
            now = time.monotonic()
            if self._last is not None:
                now = min(now, self._last + 6 * _BEAT)
            return now - _BEGAN - self._stopped


def _warn(text):
    print("tfexp_job: " + text, file=sys.stderr, flush=True)


class Job:
    """The job that the program runs.

    name             the job's name, unique in its cell
    epochs, steps    the total work; one of them is None. With a budget alone epochs is math.inf
    done_epochs, done_steps  finished work, including earlier starts
    inter, intra     the current allotment: operations at once, threads of each
    gpus             number of GPUs; CUDA_VISIBLE_DEVICES lists them
    checkpoint       the folder from which to restore the program's state, or None
    checkpoint_dir   the folder for checkpoints, or None
    stopping         True after the program was asked to end
    target_loss      the training loss at which the job is done, or None without one
    time_left        the rest of the budget in seconds, or None without one
    spent            True when the budget is used up
    change           "up" or "down" when the allotment has just changed, or None
    warning          seconds until the job's server is taken away, or None
    role, task, cluster  identify the program in a job with roles, or None
    """

    def __init__(self, epochs=10, steps=None, settings=None):
        self.name = os.environ.get("TFEXP_JOB", "") or "job"
        given_epochs = _number("TFEXP_EPOCHS", 1, None)
        given_steps = _number("TFEXP_STEPS", 1, None)
        if given_epochs and given_steps:
            raise ValueError("both TFEXP_EPOCHS and TFEXP_STEPS are set, want one of them")
        if given_epochs or given_steps:
            self.epochs, self.steps = given_epochs, given_steps
        elif os.environ.get("TFEXP_BUDGET"):
            self.epochs, self.steps = math.inf, None  # to the end of the budget
        else:
            self.epochs, self.steps = (None, steps) if steps else (epochs, None)
        self.target_loss = _loss("TFEXP_TARGET_LOSS")
        self._at_target = False
        self.inter = _number("TFEXP_INTER_THREADS", 1, 1)
        self.intra = _number("TFEXP_INTRA_THREADS", 1, None) or self._spare()
        self.gpus = _number("TFEXP_NUM_GPUS", 0, 0)
        self.checkpoint_dir = os.environ.get("TFEXP_CHECKPOINT_DIR") or None
        self._checkpoint = self._restoring = self._resumed = None
        self.stopping = False
        self.done_epochs = self.done_steps = 0
        self.change = self.warning = None
        self.role = os.environ.get("TFEXP_ROLE") or None
        self.task = _number("TFEXP_TASK", 0, 0) if self.role else None
        self.cluster = json.loads(os.environ.get("TFEXP_CLUSTER") or "null") if self.role else None

        self._control = os.environ.get("TFEXP_CONTROL") or None
        self._settings = json.loads(json.dumps(settings))
        self._startup, self._times, self._elapsed = 0.0, [], 0.0
        self._began = _BEGAN
        self._training = self._ended = self._warned = False
        self._line_at = -math.inf
        self._save = self._resize = None
        self._resized_at = None  # when the resize began that restarted the program
        self._temporary = None  # a temporary checkpoint folder
        self._within = 0  # steps of the epoch that is not finished
        self._every_steps, self._every_epochs, self._every_seconds = _interval("TFEXP_CHECKPOINT_EVERY")
        self._saved_steps, self._saved_epochs, self._saved_at, self._reached = 0, 0, 0.0, None
        self._clock, self._used, self._end = _Clock(), 0.0, None
        self._whole = self._trained = None  # the budget; the clock's time when training stopped
        self._change = self._deepen = None
        self._control_seen = self._request = None
        self._message, self._unfollowed = {}, False
        self._taken = {}  # settings that were adopted or refused
        try:
            signal.signal(signal.SIGTERM, self._on_term)
        except ValueError:
            pass  # only the main thread can set a handler; others ignore requests to end
        self._read_checkpoint()
        budget = _seconds("TFEXP_BUDGET")
        if budget is not None:
            self._whole = budget
            self._set_budget(budget - self._used)
        self._read_control()  # after the variable: the file has the current rest
        if self._every_seconds:
            self._clock.watch()

    def _spare(self):
        """The number of threads without tfexp: all cores that the process may use."""
        try:
            return max(1, len(os.sched_getaffinity(0)) - (self.inter - 1))
        except AttributeError:
            return os.cpu_count() or 1

    # -- the loop

    @property
    def checkpoint(self):
        """The folder of the checkpoint from which to continue; None without one.

        The time from the first access until train() counts as reading it.
        """
        if self._checkpoint is not None and self._restoring is None:
            self._restoring = time.monotonic()
        return self._checkpoint

    def train(self, save=None, resize=None, every=0, change=None, deepen=None):
        """Iterate over the remaining epochs (or steps); start-up ends here.

        save(folder) writes the state of training into a folder. It is called
        before the program ends on SIGTERM, and after every `every` epochs
        unless `every` is 0. resize(inter, intra) adopts another allotment;
        RESTART means that this needs a restart; None ignores allotments.
        change(name, value) adopts another setting. deepen(block) adds a layer
        and returns (layers, accuracy before, accuracy after), or None if the
        block requests nothing. Both raise Refused for impossible requests; if
        they are None, all requests are refused.
        Between epochs (or steps), SIGTERM is obeyed, the control file is read,
        and checkpoints are written as TFEXP_CHECKPOINT_EVERY requires. The
        iteration ends early when the budget is used up.
        """
        if resize is RESTART and save is None:
            raise ValueError("RESTART needs save: training goes on from what it wrote")
        self._save, self._resize, self._training = save, resize, True
        self._change, self._deepen = change, deepen
        if self._often and (save is None or self.checkpoint_dir is None):
            _warn("no checkpoints are written: %s" % ("the program has none" if save is None else "TFEXP_CHECKPOINT_DIR is not set"))
        now = time.monotonic()
        if self._resized_at is not None:
            self._print_resized(now - self._resized_at)
        else:
            self._startup += now - self._began
        self._began = now - self._elapsed
        if self._resumed is not None:
            self._print_resumed(*self._resumed, now)
        first = True
        while not self.finished and not self.spent:
            if self.stopping:
                self.stop()
            self._note_reached()
            # A checkpoint that was just restored exists already.
            if every and not first and save and self.checkpoint_dir and self.done_epochs % every == 0:
                self._save_now()
            first = False
            self._save_if_due()
            self.follow()
            if self.spent:
                break
            yield self.done_epochs if self.steps is None else self.done_steps
        self._stop_training()

    @property
    def finished(self):
        """Whether all work is done, or an epoch has reached the target loss."""
        if self._at_target:
            return True
        if self.steps is not None:
            return self.done_steps >= self.steps
        return self.done_epochs >= self.epochs

    def steps_left(self, per_epoch):
        """The number of steps of the next epoch; at the end of a job in steps it may be smaller."""
        if self.steps is None:
            return per_epoch
        return min(per_epoch, self.steps - self.done_steps)

    def between_steps(self, done):
        """Obey requests between two steps of an epoch, of which `done` are finished.

        It handles SIGTERM, the control file and TFEXP_CHECKPOINT_EVERY. So the
        state that save() writes must include the finished steps of the epoch.
        Returns False if the epoch must end now, because the budget is used up.
        """
        self._within = done
        if self.stopping:
            self.stop()
        self._note_reached()
        self._save_if_due()
        if self._resize is not RESTART:
            self.follow()
        return not self.spent

    def epoch(self, loss=None, accuracy=None, steps=0, lr=None):
        """Report a finished epoch with this number of steps.

        loss is the training loss, accuracy (0 to 1) the accuracy on held-out data,
        and lr the learning rate. An epoch that ends after the budget is not reported.
        """
        self._within = 0
        if self.spent:
            return
        self.done_epochs += 1
        self.done_steps += steps
        if self.target_loss and loss is not None:
            self._at_target = float(loss) <= self.target_loss
        self._unit(loss, accuracy, lr, always=True)

    def step(self, loss=None, accuracy=None, lr=None):
        """Report a finished step. Not every very short step has a line."""
        self.done_steps += 1
        self._unit(loss, accuracy, lr, always=self.finished)

    def _unit(self, loss, accuracy, lr, always):
        now = time.monotonic()
        seconds, self._began, self._elapsed = now - self._began, now, 0.0
        self._times.append(seconds)
        if not always and now - self._line_at < _LINE_EVERY:
            return
        self._line_at = now
        line = {}
        if self.steps is None:
            line["epoch"] = self.done_epochs
        if self.done_steps:
            line["step"] = self.done_steps
        for name, value in (("loss", loss), ("accuracy", accuracy)):
            # A loss that is NaN or infinite means that the training has diverged.
            if value is not None and (name == "loss" or math.isfinite(float(value))):
                line[name] = round(float(value), 6)
        if lr is not None and math.isfinite(float(lr)):
            line["lr"] = float("%.6g" % float(lr))
        line["seconds"] = round(seconds, 6)
        line["threads"] = self.inter + self.intra if self.inter > 1 else self.intra
        if self.time_left is not None:
            line["time_left"], line["at"] = round(self.time_left, 6), round(time.time(), 6)
        self._print(line)

    def final(self, accuracy):
        """Report the accuracy of the model at the end of the budget.

        The model is the one after the last reported epoch, so keep a copy of it.
        """
        fields = {"final_accuracy": round(float(accuracy), 6)}
        if self._whole is not None and self._trained is not None:
            fields["trained"] = round(self._whole - (self._end - self._trained), 6)
        self._print(fields)

    def end(self, save=None):
        """End the job: save() the model, report all times and delete the checkpoint."""
        if not self._training:
            self._startup += time.monotonic() - self._began
        self._ended = True
        began = time.monotonic()
        if save is not None:
            save()
        self._remove_checkpoint()
        times = [self._startup] + self._times + [time.monotonic() - began]
        print("<TIME_WRITTER_OUTPUT>[%s]</TIME_WRITTER_OUTPUT>" % ", ".join("%.6f" % t for t in times), flush=True)

    # -- the allotment

    def allotment(self):
        """Return the present (inter, intra).

        A program that fixes its threads should call this just before, since the
        allotment may change during imports.
        """
        self._read_control()
        return self.inter, self.intra

    def follow(self):
        """Obey the control file if it is new. Return True if the allotment has changed.

        train() and between_steps() call it.
        """
        before = self.inter, self.intra
        if not self._read_control() and not self._unfollowed:
            return False
        self._unfollowed = False
        resized = self._resize is not None and (self.inter, self.intra) != before
        if resized:
            if self._resize is RESTART:
                self._restart()
            began = time.monotonic()
            self._pause_clock(lambda: self._resize(self.inter, self.intra))
            self._print_resized(time.monotonic() - began)
        self._follow_settings()
        self._follow_requests()
        return resized

    def _read_control(self):
        """Read the control file. Return False if it is not new or cannot be read."""
        if self._control is None:
            return False
        try:
            with open(self._control) as f:
                st = os.fstat(f.fileno())
                text = f.read(65536)
            seen = st.st_ino, st.st_mtime_ns, text
            if seen == self._control_seen:
                return False
            message = self._parse_control(text)
        except (OSError, ValueError, TypeError) as e:
            if not self._warned:
                _warn("cannot read the control file %s: %s" % (self._control, e))
                self._warned = True
            return False
        self._control_seen, self._warned, self._message, self._unfollowed = seen, False, message, True
        message["_request"] = [message["serial"], 0] if message.get("serial") else [0, st.st_mtime_ns]
        if self._training and self._resize is None:
            pass  # the program keeps the threads of its start
        elif message.get("intra"):
            self.inter, self.intra = message.get("inter") or 1, message["intra"]
        elif message.get("allotment"):
            self.inter, self.intra = 1, message["allotment"]
        self.change, self.warning = message.get("change"), message.get("warning")
        if message.get("budget") is not None:
            self._whole = message["budget"]
            self._set_budget(message["budget"] - self._used)
        if message.get("time_left") is not None:
            # This was the rest when the file was written.
            now = self._clock.service()
            age = min(max(time.time() - st.st_mtime, 0.0), now)
            self._set_budget(now - age + message["time_left"])
        return True

    @staticmethod
    def _parse_control(text):
        """Parse both forms of the file: a JSON object, or "inter intra"."""
        if not text.lstrip().startswith("{"):
            inter, intra = (int(n) for n in text.split())
            if inter < 1 or intra < 1:
                raise ValueError("want two whole numbers of at least 1")
            return {"inter": inter, "intra": intra}
        message = json.loads(text)
        for name in ("inter", "intra", "allotment", "serial", "deepen"):
            if message.get(name) is not None and (isinstance(message[name], bool) or not isinstance(message[name], int)):
                raise ValueError("%s is not a whole number" % name)
        for name in ("inter", "intra", "allotment", "serial", "budget", "time_left", "warning"):
            if message.get(name) is not None and not float(message[name]) >= 0:
                raise ValueError("%s is negative" % name)
        if not isinstance(message.get("settings", {}), dict):
            raise ValueError("settings is not an object")
        if message.get("change") not in (None, "", "up", "down"):
            raise ValueError("change is neither up nor down")
        return message

    def _follow_settings(self):
        changed, began = {}, time.monotonic()
        for name, value in sorted(self._message.get("settings", {}).items()):
            if name in self._taken and self._taken[name] == value:
                continue
            self._taken[name] = value
            try:
                if self._change is None:
                    raise Refused("the program has no settings that change while it trains")
                self._pause_clock(lambda: self._change(name, value))
                changed[name] = value
            except Refused as e:
                self._refuse(name, e)
        if changed:
            self._print({"changed": {"settings": changed, "seconds": round(time.monotonic() - began, 6)}})

    def _follow_requests(self):
        """Carry out the requests of the control file, once."""
        message = self._message
        deepen, save = message.get("deepen"), message.get("checkpoint") or message.get("warning") is not None
        if deepen is None and not save or message["_request"] == self._request:
            return
        if deepen is not None:
            began = time.monotonic()
            try:
                if self._deepen is None:
                    raise Refused("the program cannot deepen its network")
                done = self._deepen(deepen)
                if done is not None:
                    layers, before, after = done
                    self._print({"deepened": {
                        "block": deepen, "layers": layers, "accuracy_before": round(float(before), 6),
                        "accuracy_after": round(float(after), 6), "seconds": round(time.monotonic() - began, 6)}})
            except Refused as e:
                self._refuse("deepen", e)
        self._request = message["_request"]
        if not save:
            return
        if self._save is None:
            self._refuse("checkpoint", "the program has no checkpoints")
        elif self.checkpoint_dir is None:
            self._refuse("checkpoint", "TFEXP_CHECKPOINT_DIR is not set")
        else:
            self._save_now()

    def _refuse(self, what, reason):
        self._print({"refused": what, "reason": str(reason)})

    # -- the budget

    def _set_budget(self, end):
        self._clock.watch()
        self._end = end

    @property
    def time_left(self):
        """The rest of the budget in seconds; None without a budget."""
        return None if self._end is None else max(self._end - self._clock.service(), 0.0)

    @property
    def controlled(self):
        """Whether there is a control file, which may set a budget."""
        return self._control is not None

    @property
    def spent(self):
        """Whether the budget is used up."""
        if self._end is None or self.time_left > 0:
            return False
        self._stop_training()
        return True

    def _stop_training(self):
        if self._trained is None:
            self._trained = self._clock.service()

    def _print_resized(self, seconds):
        self._print({"resized": {"inter": self.inter, "intra": self.intra, "seconds": round(seconds, 6)}})
        self._resized_at = None

    def _restart(self):
        began = time.monotonic()
        if self.checkpoint_dir is None:
            self.checkpoint_dir = self._temporary = tempfile.mkdtemp(prefix="tfexp_job-")
        self._write_checkpoint()
        os.environ.update({
            _RESTARTED: json.dumps({"pid": os.getpid(), "at": began, "folder": self._temporary}),
            "TFEXP_CHECKPOINT_DIR": self.checkpoint_dir,
            "TFEXP_INTER_THREADS": str(self.inter),
            "TFEXP_INTRA_THREADS": str(self.intra),
            "OMP_NUM_THREADS": str(self.intra),
        })
        sys.stdout.flush()
        sys.stderr.flush()
        argv = getattr(sys, "orig_argv", [sys.executable] + sys.argv)
        os.execv(sys.executable, [sys.executable] + argv[1:])

    # -- the end on SIGTERM

    def _on_term(self, *_):
        self.stopping = True
        if not self._training and not self._ended:
            sys.exit(STOPPED)  # training has not begun: nothing to save

    def stop(self):
        """Save and end the program with status 143.

        train() calls it if `stopping` is set. A program with long epochs should check
        `stopping` between steps and call it; the state that save() writes must
        then include the finished steps of the epoch.
        """
        self._elapsed = time.monotonic() - self._began
        if self._temporary:
            shutil.rmtree(self._temporary, ignore_errors=True)  # no later start would find it
        elif self._save is not None and self.checkpoint_dir is not None:
            self._save_now()
        sys.exit(STOPPED)

    # -- checkpoints

    def _pause_clock(self, action):
        """Run the body without counting its time in an epoch."""
        began = time.monotonic()
        action()
        self._began += time.monotonic() - began

    def _save_now(self):
        """Write a checkpoint and report it. Its time counts in no epoch."""
        began = time.monotonic()
        self._elapsed = began - self._began
        self._pause_clock(self._write_checkpoint)
        self._elapsed = 0.0
        line = {"step": self.done_steps + self._within, "seconds": round(time.monotonic() - began, 6)}
        if self.done_epochs:
            line["epoch"] = self.done_epochs
        self._print({"checkpoint": line})
        self._saved_steps, self._saved_epochs, self._saved_at = line["step"], self.done_epochs, self._clock.service()

    @property
    def _often(self):
        """Whether TFEXP_CHECKPOINT_EVERY is set to an interval."""
        return bool(self._every_steps or self._every_epochs or self._every_seconds)

    def _save_if_due(self):
        """Write a checkpoint if one is due by TFEXP_CHECKPOINT_EVERY."""
        if self._save is None or self.checkpoint_dir is None:
            return
        if self._every_steps:
            steps = self.done_steps + self._within
            due = steps // self._every_steps > self._saved_steps // self._every_steps
        elif self._every_epochs:
            due = self.done_epochs // self._every_epochs > self._saved_epochs // self._every_epochs
        else:
            due = self._every_seconds > 0 and self._clock.service() - self._saved_at >= self._every_seconds
        if due:
            self._save_now()

    def _note_reached(self):
        """Record the finished steps, so that a start after a kill can report the lost ones."""
        if self.checkpoint_dir is None or self._save is None:
            return
        try:
            if self._reached is None:
                os.makedirs(self.checkpoint_dir, exist_ok=True)
                self._reached = os.open(os.path.join(self.checkpoint_dir, _REACHED), os.O_RDWR | os.O_CREAT, 0o644)
            os.pwrite(self._reached, struct.pack("<Qd", self.done_steps + self._within, self._used + self._clock.service()), 0)
        except OSError:
            pass  # lost steps are then unknown, which is no reason to fail

    def _print_resumed(self, steps, used, now):
        """Report the step from which training continues, the lost steps and the time to read the checkpoint."""
        self._resumed = None
        self._saved_steps, self._saved_epochs, self._saved_at = steps, self.done_epochs, self._clock.service()
        try:
            with open(os.path.join(self.checkpoint_dir, _REACHED), "rb") as f:
                reached, seconds = struct.unpack("<Qd", f.read(16))
        except (OSError, struct.error):
            return
        lost = max(reached - steps, 0)
        seconds = max(seconds - used, 0.0) if lost and math.isfinite(seconds) else 0.0
        if not lost and (not steps or not self._often):
            return
        news = {"step": steps, "lost_steps": lost, "lost_seconds": round(seconds, 6)}
        if steps and self._restoring is not None:
            news["seconds"] = round(now - self._restoring, 6)
        self._print({"resumed": news})

    def _write_checkpoint(self):
        """Write a checkpoint atomically: it exists completely or not at all."""
        os.makedirs(self.checkpoint_dir, exist_ok=True)
        folder = tempfile.mkdtemp(prefix="checkpoint-", dir=self.checkpoint_dir)
        self._save(folder)
        state = {
            "version": _VERSION, "settings": self._settings, "folder": os.path.basename(folder),
            "epochs": self.done_epochs, "steps": self.done_steps,
            "startup": self._startup, "times": self._times, "elapsed": self._elapsed,
            "within": self._within, "used": self._used + self._clock.service(), "used_before": self._used,
            "request": self._request,
        }
        path = os.path.join(self.checkpoint_dir, _STATE)
        with open(path + ".new", "w") as f:
            json.dump(state, f)
            f.flush()
            os.fsync(f.fileno())
        os.replace(path + ".new", path)
        self._drop_folders(keep=os.path.basename(folder))

    def _read_checkpoint(self):
        restarted = self._restarted()
        if self.checkpoint_dir is None:
            return
        path = os.path.join(self.checkpoint_dir, _STATE)
        try:
            with open(path) as f:
                state = json.load(f)
            if not isinstance(state, dict) or state.get("version") != _VERSION:
                raise ValueError("it is of another version")
            if state["settings"] != self._settings:
                raise ValueError("it is of other settings")
            folder = os.path.join(self.checkpoint_dir, state["folder"])
            if not os.path.isdir(folder):
                raise ValueError("its folder %s is missing" % state["folder"])
            done = int(state["epochs"]), int(state["steps"])
            times = [float(t) for t in state["times"]], float(state["startup"]), float(state["elapsed"])
            within, used, request = int(state["within"]), float(state["used"]), state["request"]
        except FileNotFoundError:
            if not restarted:
                self._resumed = (0, 0.0)
            return
        except (OSError, ValueError, KeyError, TypeError) as e:
            _warn("starting from the beginning: cannot use the checkpoint %s: %s" % (path, e))
            return
        self._checkpoint = folder
        self.done_epochs, self.done_steps = done
        self._times, self._startup, self._elapsed = times
        self._within, self._used, self._request = within, used, request
        if restarted:
            self._resized_at = restarted["at"]
            self._used = float(state["used_before"])  # the process continues, and so does its clock
        else:
            self._resumed = (done[1] + within, used)
        _warn("continuing from the checkpoint after %s" % (
            "%d steps" % done[1] if self.steps is not None else "%d epochs" % done[0]))

    def _restarted(self):
        """The state that _restart() passed to this process; removed, so that child processes do not get it."""
        try:
            note = json.loads(os.environ.pop(_RESTARTED, "null"))
        except ValueError:
            return None
        if not note or note.get("pid") != os.getpid():
            return None
        if note["folder"]:
            self._temporary = note["folder"]
            os.environ.pop("TFEXP_CHECKPOINT_DIR", None)
        return note

    def _drop_folders(self, keep=None):
        for name in os.listdir(self.checkpoint_dir):
            if name.startswith("checkpoint-") and name != keep:
                shutil.rmtree(os.path.join(self.checkpoint_dir, name), ignore_errors=True)

    def _remove_checkpoint(self):
        if self.checkpoint_dir is None or not os.path.isdir(self.checkpoint_dir):
            return
        for name in (_STATE, _STATE + ".new", _REACHED):
            try:
                os.remove(os.path.join(self.checkpoint_dir, name))
            except FileNotFoundError:
                pass
        self._drop_folders()
        if self._temporary:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def _print(self, fields):
        print(json.dumps({"tfexp": fields}), flush=True)
