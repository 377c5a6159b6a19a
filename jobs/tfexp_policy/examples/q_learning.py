"""A Q-learning agent (C. J. C. H. Watkins, 1989) that learns which job to start next: the first, shortest, smallest or
largest job with room. It keeps its values from replicate to replicate (learns = true)."""
from tfexp_policy import Policy, run

CHOICES = {
    "first": lambda job: (job.arrival_ns, job.number),
    "shortest": lambda job: (job.requested_time, job.number),
    "smallest": lambda job: (job.cores, job.number),
    "largest": lambda job: (-job.cores, job.number),
}


class Agent(Policy):
    def begin(self):
        known = self.state or {}
        self.values = known.get("values", {})  # of the choices, by situation
        self.rounds = known.get("rounds", 0)
        self.rate = float(self.settings.get("rate", 0.1))
        self.discount = float(self.settings.get("discount", 0.95))
        self.explores = float(self.settings.get("explores", 0.3)) / (1 + self.rounds)
        self.last = None  # situation, choice, time, and the cost since then
        self.cost, self.then, self.crowd = 0.0, 0.0, 0

    def situation(self, waiting, running, cluster):
        return f"{min(len(waiting), 8)} wait, {4 * cluster.free // max(cluster.cores, 1)}/4 free"

    def decide(self, now, waiting, running, cluster):
        self.cost += (now - self.then) * self.crowd  # each waiting job costs 1 per second
        while True:
            able = [job for job in waiting if cluster.fits(job)]
            if not able:
                break
            where = self.situation(waiting, running, cluster)
            values = self.values.setdefault(where, {name: 0.0 for name in CHOICES})
            self.learn(max(values.values()))
            best = max(CHOICES, key=lambda name: values[name])
            name = self.random.choice(list(CHOICES)) if self.random.random() < self.explores else best
            min(able, key=CHOICES[name]).start(why=f"the {name}: {values[name]:.1f} with {where}")
            self.last, self.cost = (where, name), 0.0
        self.then, self.crowd = now, len(waiting)

    def learn(self, best):
        """Learn from the cost of the last choice."""
        if self.last is not None:
            values, name = self.values[self.last[0]], self.last[1]
            values[name] += self.rate * (-self.cost + self.discount * best - values[name])

    def end(self):
        self.learn(0.0)
        return {"values": self.values, "rounds": self.rounds + 1}


run(Agent)
