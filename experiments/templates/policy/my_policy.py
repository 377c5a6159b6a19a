"""Shortest job first, but who has waited for longer than settings.patience is next."""
from tfexp_policy import Policy, run, seconds


class Mine(Policy):
    def begin(self):
        self.patience = seconds(self.settings.get("patience", "1h"))

    def decide(self, now, waiting, running, cluster):
        def place(job):
            waits_long = now - job.arrival > self.patience
            return (not waits_long, job.arrival if waits_long else job.requested_time)

        for job in sorted(waiting, key=place):
            if cluster.free >= job.cores:
                yield job.start(why=f"{job.requested_time:.1f} s long, and has waited {now - job.arrival:.1f} s")


run(Mine)
