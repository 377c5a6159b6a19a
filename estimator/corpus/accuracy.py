"""Runs experiments several times, quiet and beside a program that keeps one core busy, and prints the errors of their estimates.

usage: accuracy.py TFEXP OUT EXPERIMENT.hcl ...; the environment: RUNS (5) of each, LOADS ("quiet busy")
"""
import csv
import os
import subprocess
import sys

COLUMNS = ["model", "made", "runs", "mean_abs_error_pct", "sd_error_pct", "bias_pct", "coverage", "machine_error_pct"]


def errors(folder):
    """The rows of accuracy.csv over all runs, and the seconds that samples took."""
    with open(os.path.join(folder, "accuracy.csv")) as f:
        rows = [r for r in csv.DictReader(f) if r["by"] == "all"]
    samples = os.path.join(folder, "samples.csv")
    cost = 0.0
    if os.path.exists(samples):
        with open(samples) as f:
            cost = sum(float(r["sampling_s"] or 0) for r in csv.DictReader(f))
    return rows, cost


def main(tfexp, out, *experiments):
    table = csv.writer(sys.stdout)
    table.writerow(["load", "experiment", "run", *COLUMNS, "sampling_s"])
    failed = 0
    for load in os.environ.get("LOADS", "quiet busy").split():
        busy = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if load == "busy" else None
        try:
            for experiment in experiments:
                name = os.path.splitext(os.path.basename(experiment))[0]
                for n in range(1, int(os.environ.get("RUNS", "5")) + 1):
                    folder = os.path.join(out, f"{load}-{n}")
                    done = subprocess.run([tfexp, "run", experiment, "--out", folder, "--quiet"], stdout=subprocess.DEVNULL)
                    if done.returncode:
                        print(f"{experiment}, {load}, run {n} failed: exit status {done.returncode}", file=sys.stderr)
                        failed += 1
                        continue
                    rows, cost = errors(os.path.join(folder, name))
                    for row in rows:
                        table.writerow([load, name, n, *(row[c] for c in COLUMNS), f"{cost:.1f}"])
                    sys.stdout.flush()
        finally:
            if busy:
                busy.kill()
                busy.wait()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 3 else __doc__)
