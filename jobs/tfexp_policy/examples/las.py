"""Least attained service first: a job with less core time pauses jobs with more. Running jobs are compared again at the
end of each quantum (settings = { quantum = "1s" })."""
import heapq

from tfexp_policy import Policy, run, seconds


class LAS(Policy):
    def begin(self):
        self.quantum = round(seconds(self.settings.get("quantum", "1s")) * 1e9)
        self.turns = {}  # when the quantum of each running job ends: (began to run, end)

    def decide(self, now, waiting, running, cluster):
        queue = [(job.attained_ns, job.arrival_ns, job.number, job) for job in waiting]
        heapq.heapify(queue)
        while queue:
            *_, job = heapq.heappop(queue)
            if not cluster.fits(job):
                victims = self.room_for(job, running, cluster)
                if not victims:
                    break
                for victim in victims:
                    victim.pause(why=f"has had more service than {job.name}")
                    heapq.heappush(queue, (victim.attained_ns, victim.arrival_ns, victim.number, victim))
            job.start(why=f"the least attained service, {job.attained:g} core-s")
        self.call(running, cluster)

    def room_for(self, job, running, cluster):
        """The jobs to pause, the ones with most service first; none if pausing all would not make room."""
        worse = [r for r in running if r.attained_ns > job.attained_ns]
        worse.sort(key=lambda r: (-r.service_ns, r.cores, -r.number))
        rooms, chosen = cluster.rooms(), []
        for victim in worse:
            chosen.append(victim)
            rooms.release(victim, ended=False)
            nodes = rooms.fits(job)
            if nodes:
                return [v for v in chosen if any(n in nodes for n in v.placed)]
        return []

    def call(self, running, cluster):
        """Request the next call at the end of the first quantum."""
        turns = {}
        for job in running:
            began, end = self.turns.get(job, (None, 0))
            if began != job.since_ns:
                end = job.since_ns + self.quantum
            while end <= cluster.now_ns:
                end += self.quantum
            turns[job] = job.since_ns, end
        self.turns = turns
        if turns:
            cluster.call_at_ns(min(end for _, end in turns.values()))


run(LAS)
