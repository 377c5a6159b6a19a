package measure

import (
	"math"
	"time"

	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
)

// Metrics of finish-time fairness. A job's ρ is its JCT divided by the time that it would have taken alone on 1/N of
// the cluster. N is the mean number of jobs during its stay (K. Mahajan and others, "Themis: Fair and Efficient GPU
// Cluster Scheduling", NSDI 2020, section 4.2). If ρ is at most 1, the job lost nothing by sharing.
var (
	MaxFinishTime = Register(Metric{
		Rank: 380, Name: "max_finish_time_ratio", Title: "max finish-time ratio",
		Doc:     "greatest finish-time ratio ρ of a job; empty if run times are unknown, or nodes come and go",
		Compute: func(t *Totals) float64 { return t.ratios.Most() },
	})
	MeanFinishTime = Register(Metric{
		Rank: 381, Name: "mean_finish_time_ratio", Title: "mean finish-time ratio",
		Doc:     "mean finish-time ratio ρ of the jobs",
		Compute: func(t *Totals) float64 { return t.ratios.Mean() },
	})
	JainFinishTime = Register(Metric{
		Rank: 382, Name: "jain_finish_time", Title: "Jain finish-time fairness", HigherBetter: true, Most: 1,
		Doc:     "Jain's index over the finish-time ratios ρ of the jobs: 1 if all are equal",
		Compute: func(t *Totals) float64 { return t.ratios.Jain() },
	})
)

// finishTime returns ρ of a job; NaN if it did not finish or its run time alone is unknown.
func (c *Collector) finishTime(l *life) float64 {
	if c.present.unknown() || !l.finished() {
		return math.NaN()
	}
	jct := l.jct().Seconds()
	if jct <= 0 {
		return math.NaN()
	}
	return jct / c.apart(l, l.account.stay/jct)
}

// apart returns the seconds that a job would have taken alone on 1/n of each type of device of the cluster. On a type
// with N devices, s of them used by the job, it runs for the fraction N/(n·s) of the time. If these fractions sum to
// more than 1, they are reduced in proportion. (This is Gavel's isolated division: D. Narayanan and others, OSDI
// 2020.) The result is NaN if the job's run times are unknown.
func (c *Collector) apart(l *life, n float64) float64 {
	fractions, speed := 0.0, 0.0
	for i := range c.present.devices {
		d := &c.present.devices[i]
		workers, seconds := c.fastestOn(l, d)
		if math.IsNaN(seconds) {
			return seconds
		}
		if seconds > 0 {
			x := float64(d.count) / (n * float64(workers))
			fractions += x
			speed += x / seconds
		}
	}
	if speed == 0 {
		return math.NaN()
	}
	return max(fractions, 1) / speed
}

// fastestOn returns with how many devices of a type a job is fastest, and the run time in seconds; 0 seconds if it
// cannot run there.
func (c *Collector) fastestOn(l *life, d *device) (workers int, seconds float64) {
	if len(l.job.Alternatives()) == 0 {
		return d.fits(l.job.Threads, l.job.GPUs, "", l.alone)
	}
	for k, a := range l.job.Alternatives() {
		n, s := d.fits(a.Threads, a.GPUs, a.GPU, c.setup.aloneAs(l.number, k))
		if math.IsNaN(s) {
			return 0, s
		}
		if s > 0 && (workers == 0 || s < seconds) {
			workers, seconds = n, s
		}
	}
	return workers, seconds
}

// presence measures the number of jobs that have arrived and not ended, over time.
type presence struct {
	devices []device // nil if nodes come and go: then 1/N of the cluster is not constant
	at      table.Micros
	now     int
	sum     float64 // job-seconds until at
}

// device is a type of device of the cluster.
type device struct {
	name  string
	gpu   bool
	count int
}

// fits returns the number of devices that a request needs, and the seconds that the job runs there; alone is its run
// time alone. n is 0 if it cannot run there; the seconds are NaN if its run time is unknown.
func (d *device) fits(threads, gpus int, gpu string, alone time.Duration) (n int, seconds float64) {
	if (gpus > 0) != d.gpu || gpu != "" && gpu != d.name {
		return 0, 0
	}
	if alone <= 0 {
		return 0, math.NaN()
	}
	if n = threads; d.gpu {
		n = gpus
	}
	if n > d.count {
		return 0, 0
	}
	return n, alone.Seconds()
}

func newPresence(c scheduler.Cluster) presence {
	p := presence{}
	if c.Changes() {
		return p
	}
	add := func(name string, gpu bool, n int) {
		if n == 0 {
			return
		}
		for i := range p.devices {
			if d := &p.devices[i]; d.name == name && d.gpu == gpu {
				d.count += n
				return
			}
		}
		p.devices = append(p.devices, device{name, gpu, n})
	}
	for _, n := range c.Nodes {
		add("", false, n.Threads)
		add(n.GPU, true, n.GPUs)
	}
	return p
}

func (p *presence) unknown() bool { return p.devices == nil }

// until adds the jobs up to a time, and returns the sum.
func (p *presence) until(at table.Micros) float64 {
	p.sum += float64(p.now) * (at - p.at).Seconds()
	p.at = at
	return p.sum
}

// arrives counts a job that arrives, and ends removes one that has ended. stay is a variable of the job: after its
// end it is the number of present jobs, integrated over its stay.
func (p *presence) arrives(stay *float64, at table.Micros) {
	*stay = -p.until(at)
	p.now++
}

func (p *presence) ends(stay *float64, at table.Micros) {
	*stay += p.until(at)
	p.now--
}
