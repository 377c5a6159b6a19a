"""EASY backfilling: jobs pass the first one that has no room if they do not delay it, by the run times that the policy is
told (D. A. Lifka, JSSPP 1995)."""
from tfexp_policy import Policy, run


class Reservation:
    """The earliest start of a job that has no room now, and what is free then."""

    def __init__(self, job, running, cluster):
        self.job, self.at, self.rooms = job, None, cluster.rooms()
        ends = sorted((max(r.ends_ns, cluster.now_ns), r.number, r) for r in running if r.ends_ns is not None)
        for i, (end, _, other) in enumerate(ends):
            if self.at is not None and end > self.at:
                break
            self.rooms.release(other)
            last = i + 1 == len(ends) or ends[i + 1][0] > end  # of those that end then
            if last and self.at is None and self.rooms.fits(job):
                self.at = end

    def lets_pass(self, job, nodes, now_ns):
        """Whether a job on these nodes ends before, or leaves enough beside it."""
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
                job.start(why="first in the order" if held is None else "fits beside those before it")
            elif held is None:
                held = Reservation(job, running, cluster)
            elif nodes:
                job.wait(f"would delay {held.job.name}")


run(Easy)
