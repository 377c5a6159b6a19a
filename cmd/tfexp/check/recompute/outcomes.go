package recompute

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// totals are sums over the jobs of a cell or of a group, and the jobs' values by column.
type totals struct {
	jobs, finished, failed, pauses, resizes, missed int
	values                                          map[string][]float64
}

func newTotals() *totals { return &totals{values: map[string][]float64{}} }

// outcomes compares the rows of a cell's jobs.csv with its events. It returns the totals of all jobs, and the totals of
// groups by grouping and group name.
func (c *checker) outcomes(r *replay, at string) (all *totals, groups map[[2]string]*totals) {
	all, groups = newTotals(), map[[2]string]*totals{}
	t := c.open(at + record.Jobs.File)
	for t.next() {
		name := t.get("job")
		c.in(t.name, "job "+name)
		j := r.jobs[name]
		if j == nil {
			j = newJob()
		}
		c.outcome(t, j, r)
		all.add(t, j)
		for _, by := range []string{"class", "user", "size"} {
			g := [2]string{by, strings.Clone(measure.GroupOf(by, t.get("class"), t.get("user"),
				int(t.number("threads_requested")), int(t.number("gpus"))))}
			if groups[g] == nil {
				groups[g] = newTotals()
			}
			groups[g].add(t, j)
		}
	}
	if all.jobs < len(r.jobs) {
		t.fail(fmt.Sprintf("%d rows", all.jobs), fmt.Sprintf("%d rows", len(r.jobs)))
	}
	return all, groups
}

// seconds converts microseconds; a negative, unknown time becomes NaN.
func seconds(t int64) float64 {
	if t < 0 {
		return math.NaN()
	}
	return float64(t) / 1e6
}

// outcome compares a row of jobs.csv with the events of its job.
func (c *checker) outcome(t *table, j *job, r *replay) {
	state, service, until, jct, delay := j.state, j.service, j.end, int64(-1), int64(-1)
	arrival := j.arrival
	if arrival < 0 { // the job was stopped before it arrived, or has no events
		arrival = int64(math.Round(t.number("arrival_s") * 1e6))
	}
	r.due = max(r.due, arrival)
	if j.end >= 0 {
		jct = j.end - arrival
	} else if until = r.last; state == "running" {
		service += r.last - j.since
	}
	if j.first >= 0 {
		delay = j.first - arrival
	}
	for _, x := range []struct {
		column string
		want   int64
	}{{"arrival_s", arrival}, {"first_start_s", j.first}, {"finish_s", j.end}, {"first_run_delay_s", delay},
		{"waiting_s", max(0, until-arrival-service)}, {"service_s", service}, {"jct_s", jct}} {
		c.number(x.column, t.get(x.column), seconds(x.want), 0)
	}
	c.text("state", t.get("state"), cmp.Or(state, "pending"))
	c.text("preemptions", t.get("preemptions"), strconv.Itoa(j.pauses))
	c.text("resizes", t.get("resizes"), strconv.Itoa(j.resizes))
	c.text("restarts", t.get("restarts"), strconv.Itoa(j.retries))
	c.number("threads_mean", t.get("threads_mean"), float64(j.coreTime)/float64(j.service), 0)
	off, predicted := math.NaN(), t.number("predicted_s")
	whole := !j.split && j.least == j.most && strconv.Itoa(j.most) == t.get("threads_requested")
	if state == "finished" && whole && predicted > 0 && service > 0 {
		off = 100 * (predicted - seconds(service)) / seconds(service)
	}
	c.number("prediction_error_pct", t.get("prediction_error_pct"), off, 0)
	c.number("bounded_slowdown", t.get("bounded_slowdown"), bounded(t, state, seconds(jct)), 0.6e-6)
}

// bounded returns the bounded slowdown: max(1, JCT / max(run time alone, 10 s)). Column "slowdown" has JCT / run time
// alone.
func bounded(t *table, state string, jct float64) float64 {
	if state != "finished" || t.get("bounded_slowdown") == "" { // the job's run time alone is unknown
		return math.NaN()
	}
	want := jct / 10
	if s := t.number("slowdown"); !math.IsNaN(s) {
		want = min(s, want)
	}
	return max(1, want)
}

// add adds the values of a job.
func (t *totals) add(o *table, j *job) {
	t.jobs++
	t.pauses += j.pauses
	t.resizes += j.resizes
	keep := func(column string, v float64) {
		if !math.IsNaN(v) {
			t.values[column] = append(t.values[column], v)
		}
	}
	for _, column := range []string{"cost_usd", "revocations", "lost_work_s", "checkpoint_s"} {
		keep(column, o.number(column))
	}
	if j.state == "failed" || j.state == "stopped" {
		t.failed++
	}
	if j.state != "finished" {
		return
	}
	t.finished++
	keep("jct_s", seconds(j.end-j.arrival))
	keep("waiting_s", seconds(j.end-j.arrival-j.service))
	keep("first_run_delay_s", seconds(j.first-j.arrival))
	keep("service_s", seconds(j.service))
	for _, column := range []string{"slowdown", "bounded_slowdown", "finish_time_ratio", "final_accuracy", "final_loss"} {
		keep(column, o.number(column))
	}
	late := o.number("lateness_s")
	if keep("late", max(0, late)); late > 0 {
		t.missed++
	}
}

// wanted is an expected value. slack is the error that rounding of its inputs can cause.
type wanted struct{ value, slack float64 }

// metrics returns the metrics that are computed from jobs.
func (t *totals) metrics() map[string]wanted {
	m := map[string]wanted{"jobs": {value: float64(t.jobs)}, "finished": {value: float64(t.finished)},
		"failed": {value: float64(t.failed)}, "preemptions": {value: float64(t.pauses)}, "resizes": {value: float64(t.resizes)}}
	const digits = 1e-6 // the columns are printed with six digits after the point
	for _, x := range []struct {
		metric string
		of     func([]float64) float64
		column string
		slack  float64
	}{{"mean_jct_s", mean, "jct_s", 0}, {"median_jct_s", quantile(0.5), "jct_s", 0}, {"p95_jct_s", quantile(0.95), "jct_s", 0},
		{"mean_waiting_s", mean, "waiting_s", 0}, {"mean_first_run_delay_s", mean, "first_run_delay_s", 0},
		{"mean_service_s", mean, "service_s", 0}, {"mean_slowdown", mean, "slowdown", digits},
		{"p95_slowdown", quantile(0.95), "slowdown", digits}, {"jain_fairness", jain, "slowdown", digits},
		{"mean_bounded_slowdown", mean, "bounded_slowdown", digits},
		{"max_finish_time_ratio", quantile(1), "finish_time_ratio", digits},
		{"mean_finish_time_ratio", mean, "finish_time_ratio", digits},
		{"jain_finish_time", jain, "finish_time_ratio", digits}, {"final_accuracy", mean, "final_accuracy", digits},
		{"final_loss", mean, "final_loss", digits}} {
		m[x.metric] = wanted{x.of(t.values[x.column]), x.slack}
	}
	for _, column := range []string{"lost_work_s", "checkpoint_s", "revocations", "cost_usd"} {
		m[column] = wanted{sum(t.values[column]), digits * float64(1+len(t.values[column]))}
	}
	if late := t.values["late"]; len(late) > 0 && t.finished == t.jobs {
		m["missed_deadlines"] = wanted{value: float64(t.missed)}
		m["lateness_s"] = wanted{sum(late), digits * float64(t.jobs)}
	}
	return m
}

// ofCell returns the metrics of a cell, which also depend on its events and servers.
func (c *checker) ofCell(k *cell, r *replay, all *totals, at string) map[string]wanted {
	m := all.metrics()
	span := math.NaN()
	if r.ended > r.first && len(r.jobs) > 0 {
		span = seconds(r.ended - r.first)
	}
	for metric, value := range map[string]float64{
		"migrations": float64(r.migrations), "reconfigurations": float64(r.reconfigurations), "profiling_s": seconds(r.profiled),
		"makespan_s": span, "throughput_per_h": float64(all.finished) / span * 3600,
		"utilization":     seconds(r.coreTime) / (float64(k.Cores) * span),
		"gpu_utilization": seconds(r.gpuTime) / (float64(k.GPUs) * span),
	} {
		m[metric] = wanted{value: value}
	}
	var servers []float64
	// Servers of recorded runs cost more than the share of one run.
	for s := c.open(at + "servers.csv"); !k.Recorded && s.next(); {
		servers = append(servers, s.number("cost_usd"))
	}
	if len(servers) > 0 {
		m["cost_usd"] = wanted{sum(servers), 1e-6 * float64(len(servers))}
	}
	return m
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

// quantile returns a function for the q-quantile, which interpolates between the closest ranks.
func quantile(q float64) func([]float64) float64 {
	return func(x []float64) float64 {
		if len(x) == 0 {
			return math.NaN()
		}
		s := slices.Sorted(slices.Values(x))
		at := q * float64(len(s)-1)
		below := int(at)
		above := min(below+1, len(s)-1)
		return s[below]*(1-(at-float64(below))) + s[above]*(at-float64(below))
	}
}

// jain is Jain's index: (Σx)² / (n Σx²).
func jain(x []float64) float64 {
	squares := 0.0
	for _, v := range x {
		squares += v * v
	}
	s := sum(x)
	return s * s / (float64(len(x)) * squares)
}
