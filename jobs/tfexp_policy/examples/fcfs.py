"""First come, first served: the first job that has no room keeps those behind it waiting."""
from tfexp_policy import policy, run


@policy(ask="waiting")
def decide(now, waiting, running, cluster):
    for job in waiting:
        if not cluster.fits(job):
            break
        yield job.start(why="first in the order")


run()
