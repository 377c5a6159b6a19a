"""Compares the speed of tfexp with that of other simulators, on the same jobs: make bench-peers.

    python3 peers.py TFEXP HEAP [JOBS [RUNS]]

JOBS jobs of one core each come to 16 cores at random, at a load of 0.93, and are served in the order of their arrivals.
Each simulator reads them and reports their mean waiting time, RUNS times in turn; the table has the medians. It is an
error if a simulator finds another mean. The limit is a heap of the ends, in Python and in Go
(HEAP is the program of the tests of hardware/simulated), which do nothing else.
AccaSim and Ciw are left out where they are not installed. The jobs of Ciw are given as lists; the others read a log.
"""

import collections
import collections.abc
import heapq
import json
import logging
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

CORES = 16
LOG = "log.swf"

EXPERIMENT = """
experiment "peers" {
  replicates = 1
  records    = "metrics"
}
workload "log" {
  trace { file = "log.swf" }
}
hardware "cluster" {
  engine  = "simulated"
  threads = %d
}
policy "fcfs" { order = "fcfs" }
""" % CORES


def draw(count):
    """Returns jobs as (arrival, seconds), both whole."""
    source, now, jobs = random.Random(1), 0.0, []
    for _ in range(count):
        now += source.expovariate(1)
        jobs.append((int(now), 1 + int(source.expovariate(1 / 14.4))))
    return jobs


def write_log(jobs):
    with open(LOG, "w") as out:
        out.write("; UnixStartTime: 0\n; MaxProcs: %d\n" % CORES)
        for i, (arrival, seconds) in enumerate(jobs):
            out.write("%d %d -1 %d 1 -1 -1 1 %d -1 1 1 1 1 1 -1 -1 -1\n" % (i + 1, arrival, seconds, seconds))


def read_log():
    with open(LOG) as lines:
        return [(int(f[1]), int(f[3])) for f in map(str.split, lines) if f[0] != ";"]


def heap(_):
    jobs = read_log()
    free, waited = [0] * CORES, 0
    for arrival, seconds in jobs:
        start = max(arrival, heapq.heappop(free))
        waited += start - arrival
        heapq.heappush(free, start + seconds)
    return waited / len(jobs)


def go_heap(_):
    out = subprocess.run([BENCH, "-test.run=^$", "-test.bench=BareHeap", "-test.benchtime=1x"],
                         check=True, capture_output=True, text=True, env={**os.environ, "TFEXP_LOG": LOG}).stdout
    return float(re.search(r"([0-9.e+-]+) s_waited", out)[1])


def tfexp(_):
    subprocess.run([TFEXP, "run", "--quiet", "--fresh", "peers.hcl", "--out", "results"], check=True, capture_output=True)
    with open("results/peers/metrics.csv") as rows:
        head, row = (line.strip().split(",") for line in rows)
    return float(row[head.index("mean_waiting_s")])


def accasim(_):
    for name in ("Iterable", "Mapping", "Sequence"):  # where older Pythons have them
        setattr(collections, name, getattr(collections.abc, name))
    from accasim.base.allocator_class import FirstFit
    from accasim.base.scheduler_class import FirstInFirstOut
    from accasim.base.simulator_class import Simulator
    with open("system.json", "w") as out:
        json.dump({"groups": {"node": {"core": CORES, "mem": 1}}, "resources": {"node": 1},
                   "equivalence": {"processor": {"core": 1}}, "start_time": 0}, out)
    logging.disable(logging.CRITICAL)
    Simulator(LOG, "system.json", FirstInFirstOut(FirstFit()), scheduling_output=False, show_statistics=False,
              RESULTS_FOLDER_PATH=os.path.abspath("accasim")).start_simulation()
    with open("accasim/stats-" + LOG) as text:
        return float(re.search(r"Avg. waiting times: ([0-9.]+)", text.read())[1])


def ciw(jobs):
    import ciw
    between = [b[0] - a[0] for a, b in zip([(0, 0)] + jobs, jobs)]
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Sequential(between + [float("inf")])],
        service_distributions=[ciw.dists.Sequential([seconds for _, seconds in jobs])], number_of_servers=[CORES])
    simulation = ciw.Simulation(network)
    simulation.simulate_until_max_customers(len(jobs), method="Finish")
    return statistics.fmean(record.waiting_time for record in simulation.get_all_records())


def main():
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 100000
    runs = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    jobs = draw(count)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_log(jobs)
        with open("peers.hcl", "w") as out:
            out.write(EXPERIMENT)
        took, means = collections.defaultdict(list), {}
        for _ in range(runs):
            for name, simulate in (("heap, Go", go_heap), ("heap, Python", heap), ("tfexp", tfexp),
                                   ("AccaSim", accasim), ("Ciw", ciw)):
                began = time.perf_counter()
                try:
                    means[name] = simulate(jobs)
                except ImportError as missing:
                    if name not in took:
                        print("%s is left out: %s (python3 -m pip install %s)" % (name, missing, name.lower()))
                    took[name] = []
                    continue
                took[name].append(time.perf_counter() - began)
        os.chdir("/")
    print("%-14s %9s %11s %10s   (%d jobs, %d runs)" % ("", "seconds", "µs per job", "mean wait", count, runs))
    for name, seconds in took.items():
        if seconds:
            median = statistics.median(seconds)
            print("%-14s %9.2f %11.2f %8.2f s" % (name, median, 1e6 * median / count, means[name]))
    if max(means.values()) - min(means.values()) > 0.011:  # AccaSim prints two digits
        sys.exit("the mean waiting times differ")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    TFEXP, BENCH = (os.path.abspath(path) for path in sys.argv[1:3])
    main()
