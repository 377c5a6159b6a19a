package compare

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// variant adds cells with the given mean waiting times to an experiment, one per replicate.
func variant(e *record.Experiment, workload, policy string, waiting ...float64) {
	for i, w := range waiting {
		ref := record.CellRef{Cell: fmt.Sprintf("%s-%s-r%d", workload, policy, i+1), Workload: workload, Hardware: "h",
			Policy: policy, Replicate: i + 1}
		e.Plan.Cells = append(e.Plan.Cells, ref)
		m := metricsOf(map[string]float64{"jobs": 8, "finished": 8, "mean_waiting_s": w})
		e.Cells = append(e.Cells, record.Cell{CellRef: ref, State: record.CellFinished, Metrics: m})
	}
}

// keyed writes the dependencies of an experiment's cells: their jobs.
func keyed(t *testing.T, e *record.Experiment, jobs string) {
	t.Helper()
	e.Dir = t.TempDir()
	for _, c := range e.Cells {
		dir := filepath.Join(e.Dir, record.CellsDir, c.Cell)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		text := "workload.other x\nworkload.jobs " + jobs + "\n"
		if err := os.WriteFile(filepath.Join(dir, record.KeyFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAcross: replicates of two folders are paired if they have the same seed and jobs. The mean of three waiting times
// falls by 3 s, to a half.
func TestAcross(t *testing.T) {
	waiting, _ := measure.MetricByName("mean_waiting_s")
	for _, c := range []struct {
		name   string
		change func(before, after *record.Experiment)
		jobs   string // of the second folder
		want   string
	}{
		{"paired", func(_, _ *record.Experiment) {}, "a", "fcfs: skewness-corrected paired t, 3 pairs, 6 → 3, 0 doubtful"},
		{"other jobs", func(_, _ *record.Experiment) {}, "b", "fcfs: Welch's t, 0 pairs, 6 → 3, 0 doubtful"},
		{"unknown jobs", func(_, after *record.Experiment) {
			if err := os.RemoveAll(filepath.Join(after.Dir, record.CellsDir)); err != nil {
				t.Fatal(err)
			}
		}, "a", "fcfs: Welch's t, 0 pairs, 6 → 3, 0 doubtful"},
		{"another seed", func(_, after *record.Experiment) { after.Cells[1].Seed = 9 }, "a",
			"fcfs: Welch's t, 0 pairs, 6 → 3, 0 doubtful"},
		{"a seed of another replicate", func(before, after *record.Experiment) {
			for i := range 3 {
				before.Cells[i].Seed, after.Cells[i].Seed = int64(i), int64(i)
			}
		}, "a", "fcfs: skewness-corrected paired t, 3 pairs, 6 → 3, 0 doubtful"},
		{"a value that is not known", func(_, after *record.Experiment) {
			after.Cells[0].Seed = 9
			after.Cells[2].Metrics.Set(waiting, math.NaN())
		}, "a", "fcfs: , 0 pairs, 6 → 2.5, 0 doubtful"},
		{"replays", func(before, after *record.Experiment) {
			for i := range 3 {
				before.Cells[i].Fixed, after.Cells[i].Fixed = true, true
			}
		}, "a", "fcfs: one run, 1 pairs, 4 → 2, 0 doubtful"},
		{"replays of other jobs", func(before, after *record.Experiment) {
			for i := range 3 {
				before.Cells[i].Fixed, after.Cells[i].Fixed = true, true
				after.Cells[i].Error = "not a schedule"
			}
		}, "a", "fcfs: , 0 pairs, NaN → NaN, 0 doubtful"},
		{"one replay", func(before, _ *record.Experiment) {
			for i := range 3 {
				before.Cells[i].Fixed = true
			}
		}, "a", "fcfs: skewness-corrected paired t, 3 pairs, 6 → 3, 0 doubtful"},
		{"a disturbed cell", func(before, _ *record.Experiment) {
			before.Cells[1].Warnings = []record.Warning{{Code: record.Disturbed}}
		}, "a", "fcfs: skewness-corrected paired t, 3 pairs, 6 → 3, 1 doubtful"},
	} {
		before, after := &record.Experiment{}, &record.Experiment{}
		variant(before, "w", "fcfs", 4, 6, 8)
		variant(before, "v", "fcfs", 1, 1, 1)
		variant(after, "w", "fcfs", 2, 3, 4)
		variant(after, "w", "new", 9, 9, 9) // the first folder does not have this policy
		keyed(t, before, "a")
		keyed(t, after, c.jobs)
		c.change(before, after)
		rows := across(before, after, []measure.Metric{waiting}, "", 0.95)
		if len(rows) != 1 {
			t.Fatalf("%s: %d rows: %+v", c.name, len(rows), rows)
		}
		r := rows[0]
		got := fmt.Sprintf("%s: %s, %d pairs, %g → %g, %d doubtful", r.Candidate, r.Method, r.Pairs, r.BaselineMean,
			r.CandidateMean, r.Doubtful)
		if got != c.want || r.Workload != "w" || r.Level != 0.95 {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestAcrossByGroup: the correction counts the variants and groups of one metric, not those of other metrics.
func TestAcrossByGroup(t *testing.T) {
	before, after := &record.Experiment{}, &record.Experiment{}
	variant(before, "w", "fcfs", 4, 6, 8)
	variant(after, "w", "fcfs", 2, 3, 4)
	for i := range before.Cells {
		group := func(name string, jct float64) measure.Group {
			return measure.Group{By: "class", Name: name,
				Metrics: metricsOf(map[string]float64{"mean_jct_s": jct, "mean_waiting_s": jct / 2})}
		}
		before.Cells[i].Groups = []measure.Group{group("long", 10), group("short", float64(i))}
		after.Cells[i].Groups = []measure.Group{group("short", 2*float64(i)), group("long", 9+0.1*float64(i))}
	}
	keyed(t, before, "a")
	keyed(t, after, "a")
	jct, _ := measure.MetricByName("mean_jct_s")
	waiting, _ := measure.MetricByName("mean_waiting_s")
	var got []string
	for _, r := range across(before, after, []measure.Metric{jct, waiting}, "class", 0.95) {
		got = append(got, fmt.Sprintf("%s of %s: %.3g → %.3g, %d", r.Metric, r.Group, r.BaselineMean, r.CandidateMean,
			r.Candidates))
	}
	want := []string{"mean_jct_s of long: 10 → 9.1, 2", "mean_jct_s of short: 1 → 2, 2",
		"mean_waiting_s of long: 5 → 4.55, 2", "mean_waiting_s of short: 0.5 → 1, 2"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// metricsOf returns values by the names of their metrics.
func metricsOf(values map[string]float64) (v measure.Metrics) {
	for name, value := range values {
		m, _ := measure.MetricByName(name)
		v.Set(m, value)
	}
	return v
}
