package analysis_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/remaining"
)

func twins() resultstest.Config {
	cfg := resultstest.Small()
	cfg.Twins = true
	return cfg
}

// Two jobs of 1.9 s, each on all cores, run one after the other. If jobs take 0.9 times as long, they end 10% earlier,
// and the second job starts earlier by the time that the first one saves.
func TestFidelityOfShorterJobs(t *testing.T) {
	cfg := twins()
	cfg.Long, cfg.Short, cfg.Replicates, cfg.Quanta = 2, 0, 1, nil
	dir := cfg.Write(t)
	e := open(t, dir)
	f := analysis.FidelityOf(e)
	if f.Cells != 1 || f.Busy != 0 {
		t.Fatalf("%+v", f)
	}
	for _, m := range f.Metrics {
		want := -10.0
		if m.Metric == "utilization" {
			want = 0
		}
		if math.Abs(m.BiasPct-want) > 0.001 || math.Abs(m.MeanAbsPct+want) > 0.001 || math.Abs(m.WorstPct-want) > 0.001 {
			t.Errorf("%s: %+v, want errors of %g%%", m.Metric, m, want)
		}
	}
	jobs, err := analysis.FidelityJobs(e)
	if err != nil || len(jobs) != 2 {
		t.Fatalf("%d rows, %v", len(jobs), err)
	}
	first, second := jobs[0], jobs[1]
	if first.Cell != "mixed-machine-fcfs-r1" || first.Job != "long-1" || first.StartError != 0 {
		t.Errorf("%+v", first)
	}
	if got, want := second.StartError, first.FinishError; got != want || math.Abs(want+first.FinishReal/10) > 1e-5 {
		t.Errorf("the second job starts %g s off, the first one finishes %g s off", got, want)
	}
}

func TestFidelitySaysWhereAndHowMuch(t *testing.T) {
	dir := twins().Write(t)
	e := open(t, dir)
	f := analysis.FidelityOf(e)
	// The warnings of the second replicate count. Jobs arrive so late that waiting times shrink by more than a tenth.
	if f.Cells != 10 || f.Busy != 2 {
		t.Fatalf("%d cells, %d busy", f.Cells, f.Busy)
	}
	if s := analysis.FidelitySentence(f); !strings.HasPrefix(s, "Simulated from the estimates: makespan within ") ||
		!strings.Contains(s, " of the real runs, on average over 10 cells (2 on a disturbed machine; ") {
		t.Error(s)
	}
	raw, err := os.ReadFile(filepath.Join(dir, record.Fidelity.File))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	known := len(measure.ShownIn(measure.InFidelity)) - 1 // costs are unknown
	if lines[0] != "cell,metric,real,simulated,error_pct" || len(lines) != 1+10*known {
		t.Errorf("%d lines, the first %q", len(lines), lines[0])
	}
	var quiet, all []float64 // sizes of the errors of makespan, as in the table
	sums := map[bool][2]float64{}
	for _, line := range lines[1:] {
		fields := strings.Split(line, ",")
		if fields[1] != "makespan_s" {
			continue
		}
		real, _ := strconv.ParseFloat(fields[2], 64)
		simulated, _ := strconv.ParseFloat(fields[3], 64)
		sum := sums[strings.Contains(fields[0], "-fcfs-")]
		sums[strings.Contains(fields[0], "-fcfs-")] = [2]float64{sum[0] + real, sum[1] + simulated}
		pct, err := strconv.ParseFloat(fields[4], 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, math.Abs(pct))
		if !strings.HasSuffix(fields[0], "-r2") {
			quiet = append(quiet, math.Abs(pct))
		}
	}
	if m := f.Metrics[0]; math.Abs(m.MeanAbsPct-stat.Mean(all, nil)) > 1e-6 ||
		math.Abs(m.QuietAbsPct-stat.Mean(quiet, nil)) > 1e-6 {
		t.Errorf("%+v, want means of %v and without the busy ones %v", m, all, quiet)
	}
	rr, fcfs := sums[false], sums[true]
	if want := 100 * math.Abs(rr[0]/fcfs[0]-rr[1]/fcfs[1]); math.Abs(f.Metrics[0].DifferencePoints-want) > 1e-4 {
		t.Errorf("the difference is off by %g points, want %g", f.Metrics[0].DifferencePoints, want)
	}
	if s := analysis.FidelityDifferences(f); !strings.HasSuffix(s, " points in mean JCT, on average over 1 pair; "+
		"the spread of the replicates alone explains "+table.Number(f.Metrics[0].ChancePoints)+" and "+
		table.Number(f.Metrics[1].ChancePoints)+" points.") {
		t.Error(s)
	}
	for _, m := range f.Metrics {
		if m.Pairs != 1 {
			t.Errorf("%s: %d pairs of two variants", m.Metric, m.Pairs)
		}
		if m.Metric == "mean_jct_s" && m.Same != 1 {
			t.Errorf("round robin cuts the mean JCT on both sides: %+v", m)
		}
	}
	if jobs, err := analysis.FidelityJobs(e); len(jobs) != 80 || err != nil {
		t.Errorf("%d rows of jobs: %v", len(jobs), err)
	}
}

// If a policy is better than another in simulation but worse in real runs, the report says that the order differs. It
// names the significant difference.
func TestFidelityTellsOfAnotherOrder(t *testing.T) {
	cfg := twins()
	cfg.Replicates = 12
	dir := cfg.Write(t)
	e := open(t, dir)
	cells := filepath.Join(dir, record.CellsDir)
	for _, c := range e.Cells {
		if c.Policy != "fcfs" {
			continue
		}
		rr := strings.Replace(c.Cell, "-fcfs-", "-rr-quantum=300ms-", 1)
		a, b := filepath.Join(cells, c.Cell, record.TwinDir), filepath.Join(cells, rr, record.TwinDir)
		swap := filepath.Join(cells, "swap")
		for _, move := range [][2]string{{a, swap}, {b, a}, {swap, b}} {
			if err := os.Rename(move[0], move[1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, m := range analysis.FidelityOf(open(t, dir)).Metrics {
		if m.Metric == "mean_waiting_s" && (m.Same != 0 || m.Significant != 1 || m.SameSignificant != 0) {
			t.Errorf("the simulations of the two policies are exchanged: %+v", m)
		}
	}
}

// A cell that failed, or whose simulation failed, is not compared. A cell that recorded no decisions is compared, but
// not its decisions.
func TestFidelityOfWhatIsThere(t *testing.T) {
	cfg := twins()
	cfg.Replicates, cfg.Quanta = 5, nil
	dir := cfg.Write(t)
	e := open(t, dir)
	cell := func(i int, file ...string) string {
		return filepath.Join(append([]string{dir, record.CellsDir, e.Cells[i].Cell}, file...)...)
	}
	if err := errors.Join(os.Remove(cell(0, record.DecisionsFile)), os.Remove(cell(1, record.TwinDir, record.DecisionsFile)),
		os.RemoveAll(cell(2, record.TwinDir))); err != nil {
		t.Fatal(err)
	}
	e.Cells[3].State = record.CellFailed
	rows, err := analysis.FidelityDecisions(e)
	if err != nil || len(rows) != 1 || rows[0].Cell != e.Cells[4].Cell || rows[0].Same != rows[0].Decisions {
		t.Errorf("%+v, %v", rows, err)
	}
	if f := analysis.FidelityOf(e); f.Cells != 2 { // an incomplete simulation does not count
		t.Errorf("%d cells", f.Cells)
	}
	// Rows have the values that are known for both the real run and its simulation.
	p := analysis.Pairs(e)[:1]
	p[0].Real.Metrics.Set(measure.Makespan, math.NaN())
	p[0].Twin.Metrics.Set(measure.MeanJCT, math.NaN())
	for _, r := range analysis.FidelityRows(p) {
		if r.Metric == "makespan_s" || r.Metric == "mean_jct_s" {
			t.Errorf("%+v", r)
		}
	}
	if err := os.WriteFile(cell(4, record.DecisionsFile), []byte("no line\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := analysis.FidelityDecisions(e); err == nil {
		t.Error("damaged decisions are no error")
	}
}

// Without simulations there is no fidelity table, and an earlier one is removed.
func TestNoFidelityWithoutTwins(t *testing.T) {
	dir := twins().Write(t)
	for _, c := range open(t, dir).Cells {
		if err := os.RemoveAll(filepath.Join(dir, record.CellsDir, c.Cell, record.TwinDir)); err != nil {
			t.Fatal(err)
		}
	}
	if err := analysis.WriteTables(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{record.Fidelity.File, record.FidelityJobs.File, record.FidelityDecisions.File} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
	f := analysis.FidelityOf(open(t, dir))
	if f.Cells != 0 || analysis.FidelitySentence(f) != "" {
		t.Errorf("%+v", f)
	}
	if f := analysis.FidelityOf(open(t, resultstest.Small().Write(t))); f.Cells != 0 {
		t.Errorf("simulated cells have simulations: %+v", f)
	}
}

// TestAccuracyBesideNeighbours: the simulation of a real cell predicts how long jobs take next to others. Here its jobs
// take 0.9 times their real time, so each prediction is 10% too short, whatever the estimate of the job alone.
func TestAccuracyBesideNeighbours(t *testing.T) {
	dir := twins().Write(t)
	used, err := record.Estimates.Read(open(t, dir).Dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range used {
		used[i].Role = record.EstimateUsed
	}
	if err := errors.Join(record.WriteEstimates(dir, used), analysis.WriteTables(dir)); err != nil {
		t.Fatal(err)
	}
	rows, err := record.Accuracy.Read(open(t, dir).Dir)
	if err != nil || len(rows) == 0 {
		t.Fatal(rows, err)
	}
	for _, r := range rows {
		if math.Abs(r.Bias+10) > 1e-3 || math.Abs(r.MeanAbs-10) > 1e-3 || !(r.SD < 1e-3) {
			t.Errorf("%s %s: bias %g, mean %g, deviation %g; want −10%% for each run", r.By, r.Group, r.Bias, r.MeanAbs, r.SD)
		}
	}
	e := open(t, dir)
	e.Plan.Thresholds = nil
	for _, c := range []struct {
		most   float64
		policy string
		met    bool
	}{{100, "", true}, {0, "", false}, {100, "rr", true}, {100, "nobody", false}} {
		e.Plan.Thresholds = []record.Threshold{{Metric: "makespan_s", Policy: c.policy, FidelityPct: &c.most}}
		list, err := analysis.Thresholds(e)
		if err != nil || len(list) != 1 || list[0].Met != c.met || list[0].Judged != analysis.JudgedFidelity ||
			list[0].Policy != c.policy || (list[0].Value == nil) != (c.policy == "nobody") {
			t.Errorf("%+v: %+v, %v", c, list, err)
		}
	}
	// Estimates are for whole trainings. Runs to a target loss do not show how good they are.
	remaining.Targets.Set(&e.Plan, []remaining.Target{{Class: "short"}})
	raw, err := json.Marshal(e.Plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, record.PlanFile), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := analysis.WriteTables(dir); err != nil {
		t.Fatal(err)
	}
	estimates, err := record.Estimates.Read(open(t, dir).Dir)
	if err != nil || estimates[0].Job != "long" || estimates[0].Runs == 0 || estimates[1].Runs != 0 {
		t.Errorf("%+v, %v", estimates, err)
	}
}
