"""First come, first served: while a job has no room, later jobs wait."""
from tfexp_policy import policy, run


@policy(ask="waiting")
def decide(now, waiting, running, cluster):
    for job in waiting:
        if not cluster.fits(job):
            break
        yield job.start(why="first in the order")


run()
