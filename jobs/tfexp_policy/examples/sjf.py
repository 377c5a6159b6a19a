"""Shortest job first, by estimated run times."""
from tfexp_policy import policy, run


@policy(ask="waiting")
def decide(now, waiting, running, cluster):
    for job in sorted(waiting, key=lambda j: j.requested_time):
        if not cluster.fits(job):
            break
        yield job.start(why=f"the shortest, {job.requested_time:g} s")


run()
