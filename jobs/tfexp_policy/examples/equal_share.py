"""Each job gets the same number of cores, if it can use them. Jobs that cannot be resized get their request."""
from tfexp_policy import Policy, run


class EqualShare(Policy):
    sizes = True

    def decide(self, now, waiting, running, cluster):
        node = cluster.nodes[0]
        rigid = sum(job.held for job in running if not job.malleable)
        flexible = [job for job in running if job.malleable]
        for job in waiting:
            if not job.malleable and job.cores <= node.cores - rigid - len(flexible):
                rigid += job.cores
            elif job.malleable and len(flexible) < node.cores - rigid:
                flexible.append(job)
        sizes = self.shares(flexible, node.cores - rigid)
        for job in [j for j in running if j in sizes and sizes[j] < j.held]:
            yield job.resize(sizes[job], why="makes room for others")
        for job in list(waiting):
            if cluster.free >= sizes.get(job, job.cores) > 0:
                yield job.start(cores=sizes.get(job), why="its equal share")
        for job in [j for j in running if j in sizes and sizes[j] > j.held]:
            more = min(sizes[job] - job.held, cluster.free)
            if more > 0:
                yield job.resize(job.held + more, why="its equal share grew")

    @staticmethod
    def shares(jobs, cores):
        """Divide cores equally; cores that a job cannot use go to the others."""
        sizes, left = {}, cores
        for i, job in enumerate(sorted(jobs, key=lambda j: (j.max_cores, j.number))):
            sizes[job] = max(job.min_cores, min(job.max_cores, left // (len(jobs) - i)))
            left -= sizes[job]
        return sizes


run(EqualShare)
