"""The job contract of tfexp (jobs/README.md) for training programs in Python.

    import tfexp_job

    job = tfexp_job.start(epochs=10)
    model = build(threads=job.intra)
    for epoch in job.train(save=write_state, resize=model.set_threads):
        loss = model.train_one_epoch()
        job.epoch(loss=loss)
    job.end()

start() reads what tfexp says in the environment, epoch() (or step()) reports
that one is done, end() reports the times of all. Without tfexp the same program
runs on its own, with its defaults. All times are seconds. The module needs
nothing but Python 3.8 or newer, and is one file that can be copied.
"""

import json
import math
import os
import shutil
import signal
import sys
import tempfile
import time

__all__ = ["Job", "RESTART", "STOPPED", "start"]

#: The exit status of a program that ended because of SIGTERM: 128 + 15.
STOPPED = 143

#: What to give train() as `resize` when the program can take on other threads
#: only from its start: it is saved, and starts itself again in the same process.
RESTART = "restart"

# How this process learns, across exec, that it is a restart.
_RESTARTED = "TFEXP_JOB_RESTARTED"
# The file that makes a checkpoint count; it names the folder that holds it.
_STATE = "state.json"
_VERSION = 1
# Steps can be far shorter than a line is worth.
_LINE_EVERY = 0.1


def _process_began():
    """The instant at which this process began, on time.monotonic()'s clock.

    Imports belong to a program's start-up. Where the system does not tell, the
    import of this module counts as the beginning.
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

    epochs or steps is the total work where tfexp says nothing. settings (any
    JSON value) is what the course of training hangs on: a checkpoint of other
    settings is not used. Raises ValueError when a variable is malformed.
    """
    return Job(epochs, steps, settings)


def _number(name, least, default):
    text = os.environ.get(name, "")
    if not text:
        return default
    if not text.strip().isdigit() or int(text) < least:
        raise ValueError("%s is %r, want a whole number of at least %d" % (name, text, least))
    return int(text)


def _warn(text):
    print("tfexp_job: " + text, file=sys.stderr, flush=True)


class Job:
    """A job as the program sees it.

    name             the job's name, unique in its cell
    epochs, steps    the total work; one of them is None
    done_epochs, done_steps  what is finished, by earlier starts too
    inter, intra     the present allotment: operations at once, threads of each
    gpus             how many GPUs; CUDA_VISIBLE_DEVICES says which
    checkpoint       the folder to restore the program's state from, or None
    checkpoint_dir   where checkpoints go, or None
    stopping         True once the program is asked to end
    """

    def __init__(self, epochs=10, steps=None, settings=None):
        self.name = os.environ.get("TFEXP_JOB", "") or "job"
        given_epochs = _number("TFEXP_EPOCHS", 1, None)
        given_steps = _number("TFEXP_STEPS", 1, None)
        if given_epochs and given_steps:
            raise ValueError("both TFEXP_EPOCHS and TFEXP_STEPS are set, want one of them")
        if given_epochs or given_steps:
            self.epochs, self.steps = given_epochs, given_steps
        else:
            self.epochs, self.steps = (None, steps) if steps else (epochs, None)
        self.inter = _number("TFEXP_INTER_THREADS", 1, 1)
        self.intra = _number("TFEXP_INTRA_THREADS", 1, None) or self._spare()
        self.gpus = _number("TFEXP_NUM_GPUS", 0, 0)
        self.checkpoint_dir = os.environ.get("TFEXP_CHECKPOINT_DIR") or None
        self.checkpoint = None
        self.stopping = False
        self.done_epochs = self.done_steps = 0

        self._control = os.environ.get("TFEXP_CONTROL") or None
        self._settings = json.loads(json.dumps(settings))
        self._startup, self._times, self._elapsed = 0.0, [], 0.0
        self._began = _BEGAN
        self._training = self._ended = self._warned = False
        self._line_at = -math.inf
        self._save = self._resize = None
        self._resized_at = None  # when the resize began that this start completes
        self._temporary = None  # a checkpoint folder of our own
        try:
            signal.signal(signal.SIGTERM, self._on_term)
        except ValueError:
            pass  # only the main thread may; another one is not asked to end
        self._read_control()
        self._read_checkpoint()

    def _spare(self):
        """Threads for a program that runs on its own: all that it may use."""
        try:
            return max(1, len(os.sched_getaffinity(0)) - (self.inter - 1))
        except AttributeError:
            return os.cpu_count() or 1

    # -- the loop

    def train(self, save=None, resize=None, every=0):
        """Iterate over the epochs (or steps) that are left; start-up ends here.

        save(folder) writes all that training needs into a folder. It is called
        before the program ends on SIGTERM, and after each `every` epochs
        unless that is 0. resize(inter, intra) takes on another allotment;
        RESTART says that this takes a new start; None ignores allotments.
        Between two of them SIGTERM is obeyed and the control file is read.
        """
        if resize is RESTART and save is None:
            raise ValueError("RESTART needs save: training goes on from what it wrote")
        self._save, self._resize, self._training = save, resize, True
        now = time.monotonic()
        if self._resized_at is not None:
            self._print_resized(now - self._resized_at)
        else:
            self._startup += now - self._began
        self._began = now - self._elapsed
        first = True
        while not self.finished:
            if self.stopping:
                self.stop()
            # A checkpoint that has just been restored is there already.
            if every and not first and save and self.checkpoint_dir and self.done_epochs % every == 0:
                self._pause_clock(self._write_checkpoint)
            first = False
            self.follow()
            yield self.done_epochs if self.steps is None else self.done_steps

    @property
    def finished(self):
        """Whether all work is done."""
        if self.steps is not None:
            return self.done_steps >= self.steps
        return self.done_epochs >= self.epochs

    def steps_left(self, per_epoch):
        """The steps that the next epoch has: fewer at the end of a job by steps."""
        if self.steps is None:
            return per_epoch
        return min(per_epoch, self.steps - self.done_steps)

    def epoch(self, loss=None, accuracy=None, steps=0):
        """Report that an epoch is done, in which so many steps were taken.

        loss is the training loss, accuracy (0 to 1) that on held-out data.
        """
        self.done_epochs += 1
        self.done_steps += steps
        self._unit(loss, accuracy, always=True)

    def step(self, loss=None, accuracy=None):
        """Report that a step is done. Of very short ones not each has a line."""
        self.done_steps += 1
        self._unit(loss, accuracy, always=self.finished)

    def _unit(self, loss, accuracy, always):
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
            # JSON has no infinities.
            if value is not None and math.isfinite(float(value)):
                line[name] = round(float(value), 6)
        line["seconds"] = round(seconds, 6)
        line["threads"] = self.inter + self.intra if self.inter > 1 else self.intra
        self._print(line)

    def end(self, save=None):
        """End the job: save() the model, report all times, drop the checkpoint."""
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

        A program that fixes its threads asks once more just before, since
        imports can take seconds.
        """
        self._read_control()
        return self.inter, self.intra

    def follow(self):
        """Take on the present allotment, if it has changed; True if it has.

        train() calls it; a program with long epochs can call it between steps,
        unless it restarts.
        """
        if self._resize is None:
            return False
        before = self.inter, self.intra
        if not self._read_control() or (self.inter, self.intra) == before:
            return False
        if self._resize is RESTART:
            self._restart()
        began = time.monotonic()
        self._pause_clock(lambda: self._resize(self.inter, self.intra))
        self._print_resized(time.monotonic() - began)
        return True

    def _read_control(self):
        """Read the control file; False where there is none to be read."""
        if self._control is None:
            return False
        try:
            with open(self._control) as f:
                inter, intra = (int(n) for n in f.read(64).split())
            if inter < 1 or intra < 1:
                raise ValueError("want two whole numbers of at least 1")
        except (OSError, ValueError) as e:
            if not self._warned:
                _warn("cannot read the control file %s: %s" % (self._control, e))
                self._warned = True
            return False
        self.inter, self.intra, self._warned = inter, intra, False
        return True

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
            sys.exit(STOPPED)  # there is nothing yet that could be saved

    def stop(self):
        """Save and end the program with status 143.

        train() calls it when `stopping` is set; a program with long epochs
        looks at `stopping` between steps and calls it. What save() writes must
        then tell how far the epoch has come.
        """
        self._elapsed = time.monotonic() - self._began
        if self._temporary:
            shutil.rmtree(self._temporary, ignore_errors=True)  # nobody would look there
        elif self._save is not None and self.checkpoint_dir is not None:
            self._write_checkpoint()
        sys.exit(STOPPED)

    # -- checkpoints

    def _pause_clock(self, action):
        """Do something whose time belongs to no epoch."""
        began = time.monotonic()
        action()
        self._began += time.monotonic() - began

    def _write_checkpoint(self):
        """Leave a checkpoint that is there as a whole, or not at all."""
        os.makedirs(self.checkpoint_dir, exist_ok=True)
        folder = tempfile.mkdtemp(prefix="checkpoint-", dir=self.checkpoint_dir)
        self._save(folder)
        state = {
            "version": _VERSION, "settings": self._settings, "folder": os.path.basename(folder),
            "epochs": self.done_epochs, "steps": self.done_steps,
            "startup": self._startup, "times": self._times, "elapsed": self._elapsed,
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
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError) as e:
            _warn("starting from the beginning: cannot use the checkpoint %s: %s" % (path, e))
            return
        self.checkpoint = folder
        self.done_epochs, self.done_steps = done
        self._times, self._startup, self._elapsed = times
        if restarted:
            self._resized_at = restarted["at"]
        _warn("going on from the checkpoint after %s" % (
            "%d steps" % done[1] if self.steps is not None else "%d epochs" % done[0]))

    def _restarted(self):
        """What _restart() left for this process; nothing for its children."""
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
        for name in (_STATE, _STATE + ".new"):
            try:
                os.remove(os.path.join(self.checkpoint_dir, name))
            except FileNotFoundError:
                pass
        self._drop_folders()
        if self._temporary:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def _print(self, fields):
        print(json.dumps({"tfexp": fields}), flush=True)
