package reference

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages"
)

// recorded has the waiting times of a workload's jobs in its log, in seconds.
type recorded struct {
	Workload string  `json:"workload"`
	Jobs     int     `json:"jobs"`
	Known    int     `json:"known"` // jobs whose start is in the log
	Mean     float64 `json:"mean_s"`
	Median   float64 `json:"median_s"`
	P95      float64 `json:"p95_s"`
	Longest  float64 `json:"max_s"`
	// Time and Memory compare requested with used amounts, if the log has both.
	Time   *usage `json:"time,omitempty"`
	Memory *usage `json:"memory,omitempty"`
}

// usage compares requested with used amounts, weighted by run time.
type usage struct {
	Jobs      int     `json:"jobs"` // jobs for which both are known
	Unit      string  `json:"unit"`
	Requested float64 `json:"requested"`
	Used      float64 `json:"used"`
	Median    float64 `json:"median"` // median over jobs of the used fraction
}

// usageOf summarizes the usage in a log. of returns the requested and the used amount of a job. A job with an unknown
// amount, 0, is skipped.
func usageOf(t *workload.Trace, unit string, of func(job int) (requested, used float64)) *usage {
	u := usage{Unit: unit}
	var shares stats.Sample
	for i := range t.Jobs {
		if !t.Timed(i) {
			continue
		}
		if requested, used := of(i); requested > 0 && used > 0 {
			u.Requested, u.Used = u.Requested+requested, u.Used+used
			shares.Add(used / requested)
		}
	}
	if u.Jobs = shares.Len(); u.Jobs == 0 {
		return nil
	}
	u.Median = shares.Quantile(0.5)
	return &u
}

// timeOf compares requested with actual run times. Jobs are weighted by GPUs, or by cores if no job has GPUs.
func timeOf(t *workload.Trace) *usage {
	gpus := slices.ContainsFunc(t.Jobs, func(j scheduler.Job) bool { return j.GPUs > 0 })
	unit, weight := "core-hours", func(j *scheduler.Job) float64 { return float64(j.Threads) }
	if gpus {
		unit, weight = "GPU-hours", func(j *scheduler.Job) float64 { return float64(j.GPUs) }
	}
	return usageOf(t, unit, func(i int) (float64, float64) {
		w := weight(&t.Jobs[i])
		return w * t.Jobs[i].Predicted.Hours(), w * t.RunTimes[i].Hours()
	})
}

// memoryOf compares requested with used memory, weighted by run time.
func memoryOf(t *workload.Trace) *usage {
	if t.Memory == nil {
		return nil
	}
	return usageOf(t, "GiB-hours of memory", func(i int) (float64, float64) {
		hours, m := t.RunTimes[i].Hours()/(1<<30), t.Memory[i]
		return hours * float64(m.Requested), hours * float64(m.Used)
	})
}

// waits is the member of plan.json with the waiting times in an experiment's logs.
var waits = stages.RegisterPlanMember("recorded_waits", 51, func(x stages.PlanMemberInput) (all []recorded) {
	for _, c := range x.Cells {
		w := c.Workload
		if w == nil || w.Trace == nil || w.Trace.Waits == nil {
			continue
		}
		if slices.ContainsFunc(all, func(o recorded) bool { return o.Workload == w.Name }) {
			continue
		}
		var s stats.Sample
		for _, wait := range w.Trace.Waits {
			if wait >= 0 {
				s.Add(wait.Seconds())
			}
		}
		all = append(all, recorded{Workload: w.Name, Jobs: len(w.Trace.Jobs), Known: s.Len(), Mean: s.Mean(),
			Median: s.Quantile(0.5), P95: s.Quantile(0.95), Longest: s.Quantile(1),
			Time: timeOf(&w.Trace.Trace), Memory: memoryOf(&w.Trace.Trace)})
	}
	return all
})

// mostReplays is the largest number of variants that are compared with a log.
const mostReplays = 8

var _ = analysis.Register(analysis.Part{
	Name: "recorded", Title: "Recorded and replayed", InReport: 20, OnTerminal: 20,
	Tell: func(e *record.Experiment) (s table.Section, err error) {
		for _, r := range waits.Of(&e.Plan) {
			variants := slices.DeleteFunc(analysis.Variants(e), func(v analysis.Variant) bool {
				return v.Workload != r.Workload || len(v.Cells) == 0
			})
			if len(variants) == 0 {
				continue
			}
			item := table.Item{Plain: true, Table: r.table(variants),
				Sentences: append([]string{r.sentence(r.nearest(variants))}, r.usages()...)}
			s.Terminal, s.Report = append(s.Terminal, item), append(s.Report, item)
		}
		return s, nil
	},
})

// shown are the metrics that a log has too.
var shown = []measure.Metric{measure.MeanWaiting, measure.MedianWaiting, measure.P95Waiting, measure.MaxWaiting}

// table has a row for the log, followed by a row for each variant that replays it.
func (r recorded) table(variants []analysis.Variant) table.Table {
	rows := [][]float64{{r.Mean, r.Median, r.P95, r.Longest}}
	names := []string{"recorded in the log"}
	for _, v := range variants[:min(len(variants), mostReplays)] {
		var row []float64
		for _, m := range shown {
			row = append(row, stats.MeanInterval(v.Values(m), analysis.DefaultLevel).Mean)
		}
		names, rows = append(names, "replayed: "+v.Label), append(rows, row)
	}
	t := table.New(1, "waiting time")
	var units []table.Unit
	for k, m := range shown {
		u := table.UnitFor(m.Unit, rows[0][k])
		if rows[0][k] == 0 {
			u = table.UnitFor(m.Unit, schema.Each(rows, func(row []float64) float64 { return row[k] })...)
		}
		units = append(units, u)
		title := strings.TrimSuffix(strings.TrimSuffix(m.Title, " time"), " waiting")
		t.Columns = append(t.Columns, table.Column{Name: u.Label(title), Kind: table.AsNumber, Metric: m.Name})
	}
	for i, row := range rows {
		line := []string{names[i]}
		for k, v := range row {
			line = append(line, units[k].Number(v))
		}
		t.Add(line...)
	}
	return t
}

// nearest returns the variant to compare with the log. It is the first one; if that is far from the log, it is the
// variant with the nearest mean, which may have the policy or size of the real cluster. among is the number of variants
// from which it was chosen.
func (r recorded) nearest(variants []analysis.Variant) (near analysis.Variant, among int) {
	off := func(v analysis.Variant) float64 {
		return math.Abs(stats.MeanInterval(v.Values(measure.MeanWaiting), analysis.DefaultLevel).Mean - r.Mean)
	}
	near = variants[0]
	least := off(near)
	if !(least > farOff*r.Mean) {
		return near, 1
	}
	for _, v := range variants {
		if d := off(v); d < least {
			near, least = v, d
		}
	}
	return near, len(variants)
}

// sentence describes the difference between a variant and the log. among is as returned by nearest.
func (r recorded) sentence(v analysis.Variant, among int) string {
	values := v.Values(measure.MeanWaiting)
	replayed := stats.MeanInterval(values, analysis.DefaultLevel).Mean
	of := ""
	if among > 1 {
		of = fmt.Sprintf(" (the nearest of %d replays)", among)
	}
	text := fmt.Sprintf("In the log, jobs waited %s on average; replayed under %s they wait %s",
		table.WithUnit(r.Mean, "s"), v.Label+of, table.WithUnit(replayed, "s"))
	if r.Mean > 0 && stats.Finite(replayed) {
		change := replayed/r.Mean - 1
		far := ""
		if math.Abs(change) > farOff {
			far = ": the replay is far from the log, so policy or size differ from those of the cluster"
		}
		spread := ""
		if low, high := slices.Min(values), slices.Max(values); low < high {
			spread = fmt.Sprintf("; %s in %s", table.Between(low, high, "s"), schema.Plural(len(values), "replicate"))
		}
		text += " (" + table.Signed(change) + spread + ")" + far
	}
	if r.Known < r.Jobs {
		text += fmt.Sprintf(". The log has the start of %d of %s", r.Known, schema.Plural(r.Jobs, "job"))
	}
	return text + "."
}

// farOff is the relative difference from which a replay counts as far from its log.
const farOff = 0.25

// usages returns sentences about the use of requested time and memory.
func (r recorded) usages() (sentences []string) {
	for _, u := range []struct {
		*usage
		of string
	}{{r.Time, "time"}, {r.Memory, "memory"}} {
		if u.usage == nil {
			continue
		}
		text := fmt.Sprintf("In the log, jobs used %s of the %s %s that they requested (%.0f%%); the median job used "+
			"%.0f%% of its %s",
			table.Number(u.Used), table.Number(u.Requested), u.Unit, 100*u.Used/u.Requested, 100*u.Median, u.of)
		if u.Jobs < r.Jobs {
			text += fmt.Sprintf(" (known of %d of %s)", u.Jobs, schema.Plural(r.Jobs, "job"))
		}
		sentences = append(sentences, text+".")
	}
	return sentences
}
