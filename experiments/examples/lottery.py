"""A lottery: of the waiting jobs that have room, one is drawn at a time."""
from tfexp_policy import Policy, run


class Lottery(Policy):
    ask = "waiting"

    def decide(self, now, waiting, running, cluster):
        jobs = list(waiting)
        self.random.shuffle(jobs)
        for job in jobs:
            if cluster.fits(job):
                yield job.start(why="drawn")


run(Lottery)
