package measure

import (
	"math"
	"time"

	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
)

// Finish-time fairness: ρ of a job is JCT / the time that it would have taken alone on the Nth part of the cluster,
// where N is how many jobs there were, on average over its stay (K. Mahajan and others, "Themis: Fair and Efficient GPU
// Cluster Scheduling", NSDI 2020, section 4.2). Sharing has cost a job nothing if ρ is at most 1.
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

// finishTime is the ρ of a job; NaN for one that did not finish, or whose run time alone is not known.
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

// apart is how many seconds a job would have taken alone on the nth part of each type of device of the cluster: as long
// as it takes when it runs on each type for a fraction x = N/(n·s) of the time, where the type has N devices and the
// job runs on s of them, and all of these in proportion less where they add up to more than all of the time (Gavel's
// isolated division: D. Narayanan and others, OSDI 2020). NaN if its run times are not known.
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

// fastestOn returns how many devices of a type a job runs on when it runs there as fast as it can, and for how long;
// 0 seconds where it cannot run there.
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

// presence follows how many jobs have arrived and not ended, over time.
type presence struct {
	devices []device // nil where nodes come and go: then parts of the cluster change
	at      table.Micros
	now     int
	sum     float64 // job-seconds up to at
}

// device is a type of device of the cluster.
type device struct {
	name  string
	gpu   bool
	count int
}

// fits returns how many devices a request takes, and the seconds that it runs there, given its run time alone; 0 where
// it cannot run there, NaN seconds where its run time is not known.
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

// until adds up the jobs up to an instant, and returns the sum.
func (p *presence) until(at table.Micros) float64 {
	p.sum += float64(p.now) * (at - p.at).Seconds()
	p.at = at
	return p.sum
}

// arrives counts a job that arrives, ends one that has ended. Their stay is the job's own: after its end it holds
// the number of present jobs, integrated over the seconds of its stay.
func (p *presence) arrives(stay *float64, at table.Micros) {
	*stay = -p.until(at)
	p.now++
}

func (p *presence) ends(stay *float64, at table.Micros) {
	*stay += p.until(at)
	p.now--
}
