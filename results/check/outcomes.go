package check

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// totals are the sums over the jobs of a cell, or of a group of them.
type totals struct {
	jobs, finished, failed, pauses, resizes int
	coreTime, gpuTime                       int64
	jct, slowdown, rho                      []float64
	waiting, delay, service, bounded        []float64
	accuracy, loss                          []float64
	cost, revocations, lost, checkpoints    []float64
	servers                                 []float64 // cost of each
	late                                    float64
	missed                                  int
	dated                                   bool
	offered, offeredGPU                     float64 // core-seconds that the jobs but the last ask for
	unknown                                 bool    // a run time is not known
	arrivals                                []int64
	groups                                  map[string]map[string]*totals
}

func newTotals() *totals {
	return &totals{groups: map[string]map[string]*totals{"class": {}, "user": {}, "size": {}}}
}

// outcomes compares the rows of a cell's jobs.csv with the lives of its jobs, and adds them up.
func (c *checker) outcomes(k *cell, r *replay, sum *totals, name, at string) error {
	rows := 0
	type asked struct {
		arrival        int64
		cores, gpuTime float64
	}
	var work []asked
	_, err := c.each(func(o row) error {
		rows++
		job := strings.Clone(o.get("job"))
		c.in(at+"jobs.csv", "job "+job)
		l := r.lives[job]
		if l == nil {
			l = &life{first: -1, end: -1, arrival: -1}
		}
		c.outcome(o, l, r)
		alone := o.value("jct_s") / o.value("slowdown")
		if !(alone > 0) || l.resource != "" {
			sum.unknown = true
		}
		work = append(work, asked{micros(o.value("arrival_s")), alone * o.value("threads_requested"),
			alone * o.value("gpus")})
		sum.add(o, l)
		for by, name := range map[string]string{"class": o.get("class"), "user": o.get("user"), "size": size(o)} {
			g := sum.groups[by][name]
			if g == nil {
				g = newTotals()
				sum.groups[by][strings.Clone(name)] = g
			}
			g.add(o, l)
		}
		return nil
	}, "cells", name, "jobs.csv")
	c.in(at+"jobs.csv", "")
	if rows < len(r.order) {
		c.differs("rows", strconv.Itoa(rows), strconv.Itoa(len(r.order)))
	}
	slices.SortStableFunc(work, func(a, b asked) int { return int(min(max(a.arrival-b.arrival, -1), 1)) })
	for i, w := range work {
		sum.arrivals = append(sum.arrivals, w.arrival)
		if i < len(work)-1 {
			sum.offered, sum.offeredGPU = sum.offered+w.cores, sum.offeredGPU+w.gpuTime
		}
	}
	if n := len(work); n > 1 && !sum.unknown && sum.arrivals[n-1] > sum.arrivals[0] && k.Cores > 0 &&
		k.Load["offered_load"] != nil {
		span := float64(sum.arrivals[n-1]-sum.arrivals[0]) / 1e6
		load := sum.offered / float64(k.Cores) / span
		if k.GPUs > 0 {
			load = max(load, sum.offeredGPU/float64(k.GPUs)/span)
		}
		c.in(at+"cell.json", "load")
		c.about("offered_load", printed(parse(field(k.Load, "offered_load"))), load, 1e-5*max(1, load))
	}
	return err
}

func parse(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// outcome compares a row with the life of its job.
func (c *checker) outcome(o row, l *life, r *replay) {
	nan := math.NaN()
	seconds := func(t int64) float64 {
		if t < 0 {
			return nan
		}
		return float64(t) / 1e6
	}
	service, until, jct, delay := l.service, l.end, int64(-1), int64(-1)
	arrival := l.arrival
	if arrival < 0 { // it was stopped before, or nothing happened to it: events do not have it
		arrival = micros(o.value("arrival_s"))
	}
	c.number("arrival_s", o.get("arrival_s"), seconds(arrival))
	state := l.state
	switch {
	case l.over():
		jct = l.end - arrival
	case state == "":
		state, until = "pending", r.last
	default:
		if until = r.last; state == "running" {
			service += r.last - l.since
		}
	}
	if l.first >= 0 {
		delay = l.first - arrival
	}
	c.number("first_start_s", o.get("first_start_s"), seconds(l.first))
	c.number("finish_s", o.get("finish_s"), seconds(l.end))
	c.number("first_run_delay_s", o.get("first_run_delay_s"), seconds(delay))
	c.number("waiting_s", o.get("waiting_s"), seconds(max(0, until-arrival-service)))
	c.number("service_s", o.get("service_s"), seconds(service))
	if jct >= 0 || o.get("jct_s") != "" {
		c.number("jct_s", o.get("jct_s"), seconds(jct))
	}
	c.text("state", o.get("state"), state)
	c.text("preemptions", o.get("preemptions"), strconv.Itoa(l.pauses))
	c.text("resizes", o.get("resizes"), strconv.Itoa(l.resizes))
	c.text("restarts", o.get("restarts"), strconv.Itoa(l.retries))
	c.number("threads_mean", o.get("threads_mean"), float64(l.coreTime)/float64(l.service))
	if l.resource != "" && !strings.HasPrefix(o.get("resource"), l.resource) {
		c.differs("resource", o.get("resource"), l.resource)
	}
	c.text("resource or first start", fmt.Sprint(o.get("resource") != ""), fmt.Sprint(l.first >= 0))
	c.bounded(o, seconds(jct))
	other := func(n int) bool { return strconv.Itoa(n) != o.get("threads_requested") }
	whole := !l.split && !slices.ContainsFunc(l.sizes, other)
	predicted := o.value("predicted_s")
	if state == "finished" && whole && predicted > 0 && service > 0 {
		c.number("prediction_error_pct", o.get("prediction_error_pct"), 100*(predicted-seconds(service))/seconds(service))
	} else {
		c.text("prediction_error_pct", o.get("prediction_error_pct"), "")
	}
	if budget := o.value("budget_s"); !math.IsNaN(budget) {
		c.about("budget_used_s", o.get("budget_used_s"), min(budget, seconds(service)), 1e-6)
		c.about("scoring_s", o.get("scoring_s"), seconds(service)-min(budget, seconds(service)), 1e-6)
	}
}

// floor is the least run time in a bounded slowdown, in seconds.
const floor = 10

// bounded checks the bounded slowdown: max(1, JCT / max(run time alone, floor)). The slowdown is JCT / run time alone.
func (c *checker) bounded(o row, jct float64) {
	if o.get("state") != "finished" || o.get("bounded_slowdown") == "" {
		c.text("bounded_slowdown", o.get("bounded_slowdown"), "")
		c.text("slowdown", o.get("slowdown"), "")
		return
	}
	want := jct / floor
	if s := o.value("slowdown"); !math.IsNaN(s) {
		want = min(s, want)
	}
	c.about("bounded_slowdown", o.get("bounded_slowdown"), max(1, want), 0.6e-6)
}

// size names the group of a job by how many GPUs it asks for, or cores: powers of two begin a group.
func size(o row) string {
	n, unit := int(o.value("gpus")), "GPU"
	if n <= 0 {
		n, unit = max(int(o.value("threads_requested")), 1), "core"
	}
	low := 1
	for 2*low <= n {
		low *= 2
	}
	if low == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d–%d %ss", low, 2*low-1, unit)
}

// add adds a job.
func (t *totals) add(o row, l *life) {
	t.jobs++
	t.pauses += l.pauses
	t.resizes += l.resizes
	t.coreTime += l.coreTime
	t.gpuTime += l.gpuTime
	keep := func(list *[]float64, v float64) {
		if !math.IsNaN(v) {
			*list = append(*list, v)
		}
	}
	keep(&t.cost, o.value("cost_usd"))
	keep(&t.revocations, o.value("revocations"))
	keep(&t.lost, o.value("lost_work_s"))
	keep(&t.checkpoints, o.value("checkpoint_s"))
	if l.state == "failed" || l.state == "stopped" {
		t.failed++
	}
	if l.state != "finished" {
		return
	}
	t.finished++
	seconds := func(v int64) float64 { return float64(v) / 1e6 }
	t.jct = append(t.jct, seconds(l.end-l.arrival))
	t.waiting = append(t.waiting, seconds(l.end-l.arrival-l.service))
	t.delay = append(t.delay, seconds(l.first-l.arrival))
	t.service = append(t.service, seconds(l.service))
	keep(&t.slowdown, o.value("slowdown"))
	keep(&t.bounded, o.value("bounded_slowdown"))
	keep(&t.rho, o.value("finish_time_ratio"))
	keep(&t.accuracy, o.value("final_accuracy"))
	keep(&t.loss, o.value("final_loss"))
	if late := o.value("lateness_s"); !math.IsNaN(late) {
		t.dated = true
		t.late += max(0, late)
		if late > 0 {
			t.missed++
		}
	}
}

// wanted is an expected value, with the error that the rounding of its inputs allows.
type wanted struct{ value, slack float64 }

// metrics returns the metrics that follow from the events and the rows of the jobs.
func (t *totals) metrics(r *replay, k *cell) map[string]wanted {
	nan := math.NaN()
	span := nan
	if r.ended > r.first && len(r.order) > 0 {
		span = float64(r.ended-r.first) / 1e6
	}
	const digits = 1e-6 // slowdowns are read with as many
	m := map[string]wanted{
		"jobs": {value: float64(t.jobs)}, "finished": {value: float64(t.finished)}, "failed": {value: float64(t.failed)},
		"preemptions": {value: float64(r.pauses)}, "resizes": {value: float64(r.resizes)},
		"migrations": {value: float64(r.migrations)}, "reconfigurations": {value: float64(r.reconfigured)},
		"profiling_s": {value: float64(r.profiled) / 1e6},
		"makespan_s":  {value: span}, "throughput_per_h": {value: float64(t.finished) / span * 3600},
		"utilization":     {value: float64(t.coreTime) / 1e6 / (float64(k.Cores) * span)},
		"gpu_utilization": {value: float64(t.gpuTime-r.sharedTime) / 1e6 / (float64(k.GPUs) * span)},
		"mean_jct_s":      {value: mean(t.jct)}, "median_jct_s": {value: quantile(t.jct, 0.5)},
		"p95_jct_s":      {value: quantile(t.jct, 0.95)},
		"mean_waiting_s": {value: mean(t.waiting)}, "mean_first_run_delay_s": {value: mean(t.delay)},
		"mean_service_s": {value: mean(t.service)},
		"mean_slowdown":  {mean(t.slowdown), digits}, "p95_slowdown": {quantile(t.slowdown, 0.95), digits},
		"jain_fairness":         {jain(t.slowdown), digits},
		"mean_bounded_slowdown": {mean(t.bounded), digits},
		"max_finish_time_ratio": {quantile(t.rho, 1), digits}, "mean_finish_time_ratio": {mean(t.rho), digits},
		"jain_finish_time": {jain(t.rho), digits},
		"final_accuracy":   {mean(t.accuracy), digits}, "final_loss": {mean(t.loss), digits},
		"lost_work_s":  {sum(t.lost), digits * float64(1+len(t.lost))},
		"checkpoint_s": {sum(t.checkpoints), digits * float64(1+len(t.checkpoints))},
		"revocations":  {sum(t.revocations), 0}, "cost_usd": {sum(t.cost), digits * float64(1+len(t.cost))},
	}
	if len(t.servers) > 0 {
		m["cost_usd"] = wanted{sum(t.servers), digits * float64(len(t.servers))}
	}
	if t.dated && t.finished == t.jobs {
		m["missed_deadlines"] = wanted{value: float64(t.missed)}
		m["lateness_s"] = wanted{t.late, digits * float64(t.jobs)}
	}
	return m
}

// grouped are the metrics that cell.json has of groups of jobs.
func (t *totals) grouped() map[string]float64 {
	return map[string]float64{"jobs": float64(t.jobs), "finished": float64(t.finished), "failed": float64(t.failed),
		"preemptions": float64(t.pauses), "resizes": float64(t.resizes), "mean_jct_s": mean(t.jct),
		"p95_jct_s": quantile(t.jct, 0.95), "mean_waiting_s": mean(t.waiting), "mean_first_run_delay_s": mean(t.delay),
		"mean_service_s": mean(t.service)}
}

func sum(x []float64) (s float64) {
	if len(x) == 0 {
		return math.NaN()
	}
	for _, v := range x {
		s += v
	}
	return s
}

func mean(x []float64) float64 { return sum(x) / float64(len(x)) }

// quantile interpolates between the closest ranks.
func quantile(x []float64, q float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(x))
	at := q * float64(len(s)-1)
	below := int(at)
	above := min(below+1, len(s)-1)
	return s[below]*(1-(at-float64(below))) + s[above]*(at-float64(below))
}

// jain is (Σx)² / (n Σx²).
func jain(x []float64) float64 {
	squares := 0.0
	for _, v := range x {
		squares += v * v
	}
	s := sum(x)
	return s * s / (float64(len(x)) * squares)
}
