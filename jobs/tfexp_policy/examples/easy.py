"""EASY backfilling: later jobs may start before the first job without room if they do not delay it, by estimated run
times (D. A. Lifka, JSSPP 1995)."""
from tfexp_policy import Policy, run


class Reservation:
    """The earliest start of a job without room now, and the free resources at that time."""

    def __init__(self, job, running, cluster):
        self.job, self.at, self.rooms = job, None, cluster.rooms()
        ends = sorted((max(r.ends_ns, cluster.now_ns), r.number, r) for r in running if r.ends_ns is not None)
        for i, (end, _, other) in enumerate(ends):
            if self.at is not None and end > self.at:
                break
            self.rooms.release(other)
            last = i + 1 == len(ends) or ends[i + 1][0] > end  # the last of the jobs that end at this time
            if last and self.at is None and self.rooms.fits(job):
                self.at = end

    def lets_pass(self, job, nodes, now_ns):
        """Whether a job on these nodes ends before the reservation, or leaves enough resources for it."""
        if self.at is None:
            return True
        length = job.length_ns()
        if length is not None and length <= self.at - now_ns:
            return True
        self.rooms.take(job, nodes)
        if self.rooms.fits(self.job):
            return True
        self.rooms.put_back(job, nodes)
        return False


class Easy(Policy):
    ask = "waiting"

    def decide(self, now, waiting, running, cluster):
        held = None
        for job in waiting:
            if cluster.total_free <= 0:
                break
            nodes = cluster.fits(job)
            if nodes and (held is None or held.lets_pass(job, nodes, cluster.now_ns)):
                job.start(why="first in the order" if held is None else "fits while jobs before it wait")
            elif held is None:
                held = Reservation(job, running, cluster)
            elif nodes:
                job.wait(f"would delay {held.job.name}")


run(Easy)
