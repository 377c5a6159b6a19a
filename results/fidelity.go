package results

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/tfexp/tfexp/results/stats"
)

// FidelityMetrics are the metrics on which real cells and their simulations
// are compared, the most telling first.
var FidelityMetrics = []string{
	"makespan_s", "mean_jct_s", "mean_waiting_s", "utilization", "mean_service_s", "p95_jct_s",
}

// FidelityKind is the kind of the pictures of a real cell above its simulation.
const FidelityKind = "fidelity"

// PredictedKind is the kind of the pictures of predicted and actual run times.
const PredictedKind = "predicted"

// FidelityRow is a row of fidelity.csv: a metric of a real cell and of its
// simulation. ErrorPct is (simulated − real) / real in percent; NaN when the
// real value is 0 and the simulated one is not.
type FidelityRow struct {
	Cell, Metric    string
	Real, Simulated float64
	ErrorPct        float64
}

// FidelityJobRow is a row of fidelity_jobs.csv: when a job started and finished
// for real and in simulation, in seconds from the cell's start, negative when
// it never did. The errors are simulated − real, NaN when one of them is not
// known.
type FidelityJobRow struct {
	Cell, Job, Class            string
	StartReal, StartSimulated   float64
	FinishReal, FinishSimulated float64
	StartError, FinishError     float64
}

// Pair is a finished real cell and its simulation.
type Pair struct{ Real, Twin Cell }

// Pairs are the finished real cells that were simulated, in the order of the
// plan.
func (e *Experiment) Pairs() []Pair {
	var out []Pair
	for _, c := range e.Cells {
		if !c.Real() || c.State != CellFinished {
			continue
		}
		twin, err := readCell(e.cellPath(c.Twin().Cell, ""), c.Twin())
		if err == nil && twin.State == CellFinished {
			out = append(out, Pair{c, twin})
		}
	}
	return out
}

// Fidelity is how far simulation from the fitted estimates and reality are apart.
type Fidelity struct {
	// Cells is the number of real cells that were simulated; without any,
	// nothing else is known.
	Cells int `json:"cells"`
	// Busy counts those of them that ran while other processes kept the machine
	// busy, for which no simulation can be blamed.
	Busy    int              `json:"busy_cells"`
	Metrics []FidelityMetric `json:"metrics"`
}

// FidelityMetric sums up the errors of one metric over the cells, and how well
// simulation ranks the variants by it.
type FidelityMetric struct {
	Metric string `json:"metric"`
	// MeanAbsPct is the mean size of the errors in percent, BiasPct their mean:
	// above 0, simulation says too much.
	MeanAbsPct float64 `json:"mean_abs_error_pct"`
	BiasPct    float64 `json:"bias_pct"`
	// QuietAbsPct is MeanAbsPct without the cells on a busy machine; the same
	// when that leaves none.
	QuietAbsPct float64 `json:"quiet_mean_abs_error_pct"`
	// Worst is the cell with the largest error, WorstPct.
	Worst    string  `json:"worst_cell"`
	WorstPct float64 `json:"worst_error_pct"`
	// Pairs counts the pairs of variants on one workload and hardware, and Same
	// those whose means are in the same order for real and in simulation;
	// Significant and SameSignificant count the pairs among them whose real
	// difference is significant at DefaultLevel.
	Pairs           int `json:"pairs"`
	Same            int `json:"same_order"`
	Significant     int `json:"significant_pairs"`
	SameSignificant int `json:"significant_same_order"`
}

// FidelityRows are the rows of fidelity.csv, by cell and then by metric; a
// metric that is not known on both sides has none.
func FidelityRows(pairs []Pair) []FidelityRow {
	var rows []FidelityRow
	for i := range pairs {
		for _, name := range FidelityMetrics {
			m, _ := MetricByName(name)
			row := FidelityRow{
				Cell: pairs[i].Real.Cell, Metric: name,
				Real: m.Of(&pairs[i].Real.Metrics), Simulated: m.Of(&pairs[i].Twin.Metrics),
			}
			if finite(row.Real) && finite(row.Simulated) {
				row.ErrorPct = errorPct(row.Simulated, row.Real)
				rows = append(rows, row)
			}
		}
	}
	return rows
}

func errorPct(simulated, real float64) float64 {
	if simulated == real {
		return 0
	}
	if pct := 100 * (simulated - real) / real; finite(pct) {
		return pct
	}
	return math.NaN()
}

// Fidelity compares the real cells with their simulations.
func (e *Experiment) Fidelity() Fidelity {
	pairs := e.Pairs()
	f := Fidelity{Cells: len(pairs)}
	busy := map[string]bool{}
	for _, p := range pairs {
		if slices.ContainsFunc(p.Real.Warnings, func(w Warning) bool { return w.Code == BusyMachine }) {
			f.Busy++
			busy[p.Real.Cell] = true
		}
	}
	rows := FidelityRows(pairs)
	for _, name := range FidelityMetrics {
		m := FidelityMetric{Metric: name}
		var size, quiet, bias mean
		for _, r := range rows {
			if r.Metric != name || !finite(r.ErrorPct) {
				continue
			}
			size.add(math.Abs(r.ErrorPct))
			bias.add(r.ErrorPct)
			if !busy[r.Cell] {
				quiet.add(math.Abs(r.ErrorPct))
			}
			if m.Worst == "" || math.Abs(r.ErrorPct) > math.Abs(m.WorstPct) {
				m.Worst, m.WorstPct = r.Cell, r.ErrorPct
			}
		}
		if size.n == 0 {
			continue
		}
		m.MeanAbsPct, m.BiasPct, m.QuietAbsPct = size.value(), bias.value(), size.value()
		if quiet.n > 0 {
			m.QuietAbsPct = quiet.value()
		}
		e.rank(&m, pairs)
		f.Metrics = append(f.Metrics, m)
	}
	return f
}

// rank compares the order of each two variants by their means over the pairs
// of cells. The p-values of one workload and hardware have Holm's correction.
func (e *Experiment) rank(f *FidelityMetric, cells []Pair) {
	metric, _ := MetricByName(f.Metric)
	real, twins := *e, *e
	real.Cells, twins.Cells = nil, nil
	for _, p := range cells {
		real.Cells = append(real.Cells, p.Real)
		p.Twin.CellRef = p.Real.CellRef // it stands for the same variant
		twins.Cells = append(twins.Cells, p.Twin)
	}
	a, b := real.Variants(), twins.Variants() // in the same order: that of the plan
	type place struct{ workload, hardware string }
	var places []place
	p := map[place][]float64{}
	same := map[place][]bool{}
	for i := range a {
		for j := range a[:i] {
			at := place{a[i].Workload, a[i].Hardware}
			if at != (place{a[j].Workload, a[j].Hardware}) {
				continue
			}
			x, y := pairs(a[j], a[i], metric)
			u, v := pairs(b[j], b[i], metric)
			if len(x) == 0 || len(x) != len(u) {
				continue
			}
			if p[at] == nil {
				places = append(places, at)
			}
			r := stats.ComparePairs(x, y, DefaultLevel, "fidelity/"+f.Metric+"/"+a[j].Label+"/"+a[i].Label)
			p[at] = append(p[at], r.P)
			same[at] = append(same[at], sign(r.CandidateMean-r.BaselineMean) == sign(stat.Mean(v, nil)-stat.Mean(u, nil)))
		}
	}
	for _, at := range places {
		for k, adjusted := range stats.Holm(p[at]) {
			f.Pairs++
			significant := adjusted < 1-DefaultLevel
			if significant {
				f.Significant++
			}
			if same[at][k] {
				f.Same++
				if significant {
					f.SameSignificant++
				}
			}
		}
	}
}

func sign(v float64) int {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

// FidelityJobs are the rows of fidelity_jobs.csv: by cell, then in the order
// of the jobs. A cell that recorded only its metrics has none.
func (e *Experiment) FidelityJobs() ([]FidelityJobRow, error) {
	var rows []FidelityJobRow
	for _, p := range e.Pairs() {
		real, err := e.Jobs(p.Real.CellRef)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		twins, err := e.Jobs(p.Twin.CellRef)
		if err != nil {
			return nil, err
		}
		if len(twins) != len(real) {
			return nil, fmt.Errorf("read the simulation of cell %s: it has %d jobs, the cell %d", p.Real.Cell, len(twins), len(real))
		}
		for i, r := range real {
			s := twins[i]
			rows = append(rows, FidelityJobRow{
				Cell: p.Real.Cell, Job: r.Job, Class: r.Class,
				StartReal: r.FirstStart, StartSimulated: s.FirstStart, FinishReal: r.Finish, FinishSimulated: s.Finish,
				StartError: apart(s.FirstStart, r.FirstStart), FinishError: apart(s.Finish, r.Finish),
			})
		}
	}
	return rows, nil
}

// apart is the difference of two instants; NaN when one never came about.
func apart(simulated, real float64) float64 {
	if simulated < 0 || real < 0 {
		return math.NaN()
	}
	return simulated - real
}

// writeFidelity writes fidelity.csv and fidelity_jobs.csv, or removes them when
// there is nothing to compare.
func (e *Experiment) writeFidelity() error {
	rows := FidelityRows(e.Pairs())
	if len(rows) == 0 {
		for _, name := range []string{FidelityFile, FidelityJobsFile} {
			if err := os.Remove(filepath.Join(e.Dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("remove %s, which is out of date: %w", name, err)
			}
		}
		return nil
	}
	if err := writeTable(filepath.Join(e.Dir, FidelityFile), fidelityColumns, rows); err != nil {
		return err
	}
	jobs, err := e.FidelityJobs()
	if err != nil {
		return err
	}
	return writeTable(filepath.Join(e.Dir, FidelityJobsFile), fidelityJobColumns, jobs)
}

// metric finds a metric's summary.
func (f Fidelity) metric(name string) (FidelityMetric, bool) {
	for _, m := range f.Metrics {
		if m.Metric == name {
			return m, true
		}
	}
	return FidelityMetric{}, false
}

// Sentence says in a line how far the two are apart: "Simulated from the
// estimates: makespan within 3% and mean JCT within 5% of the real runs, on the
// mean over 10 cells." It is empty when nothing was simulated.
func (f Fidelity) Sentence() string {
	makespan, ok := f.metric("makespan_s")
	jct, known := f.metric("mean_jct_s")
	if !ok || !known {
		return ""
	}
	over := "in one cell"
	if f.Cells > 1 {
		over = fmt.Sprintf("on the mean over %d cells", f.Cells)
	}
	if f.Busy > 0 {
		over += fmt.Sprintf(" (%d of them on a busy machine", f.Busy)
		if f.Busy < f.Cells {
			over += fmt.Sprintf("; without these %s and %s", percent(makespan.QuietAbsPct/100), percent(jct.QuietAbsPct/100))
		}
		over += ")"
	}
	return fmt.Sprintf("Simulated from the estimates: makespan within %s and mean JCT within %s of the real runs, %s.",
		percent(makespan.MeanAbsPct/100), percent(jct.MeanAbsPct/100), over)
}

// RankSentence says whether simulation ranks the variants as reality does;
// empty when there is but one variant.
func (f Fidelity) RankSentence() string {
	var sum FidelityMetric
	for _, m := range f.Metrics {
		sum.Pairs += m.Pairs
		sum.Same += m.Same
		sum.Significant += m.Significant
		sum.SameSignificant += m.SameSignificant
	}
	if sum.Pairs == 0 {
		return ""
	}
	s := fmt.Sprintf("Simulation puts two variants in the same order as the real runs in %d of %s (each pair of variants, by each metric)",
		sum.Same, plural(sum.Pairs, "comparison"))
	switch {
	case sum.Significant == 0:
		return s + "; none of the real differences is significant."
	case sum.SameSignificant == sum.Significant:
		return fmt.Sprintf("%s, and in all %d in which the real difference is significant.", s, sum.Significant)
	}
	return fmt.Sprintf("%s, and in %d of the %d in which the real difference is significant.", s, sum.SameSignificant, sum.Significant)
}

// FidelityJobsSentence says how far the jobs' instants are apart: "Over 80
// jobs, starts are 0.12 s and finishes 0.15 s off, on the mean; the furthest
// finish is that of long-2 in mixed-fcfs-r1, simulated 0.7 s early." It is
// empty without a job that started and finished on both sides.
func FidelityJobsSentence(rows []FidelityJobRow) string {
	var start, finish mean
	var worst FidelityJobRow
	for _, r := range rows {
		if !finite(r.StartError) || !finite(r.FinishError) {
			continue
		}
		start.add(math.Abs(r.StartError))
		finish.add(math.Abs(r.FinishError))
		if finish.n == 1 || math.Abs(r.FinishError) > math.Abs(worst.FinishError) {
			worst = r
		}
	}
	if finish.n == 0 {
		return ""
	}
	when := "late"
	if worst.FinishError < 0 {
		when = "early"
	}
	return fmt.Sprintf("Over %s, starts are %s and finishes %s off, on the mean; the furthest finish is that of %s in %s, simulated %s %s.",
		plural(finish.n, "job"), withUnit(start.value(), "s"), withUnit(finish.value(), "s"),
		worst.Job, worst.Cell, withUnit(math.Abs(worst.FinishError), "s"), when)
}

// Table is Fidelity as text.
func (f Fidelity) Table() Table {
	t := Table{Left: 2, Header: []string{"metric", "worst cell", "error, mean size", "error, mean", "error, worst",
		"variants in the same order", "of the significant ones"}}
	for _, m := range f.Metrics {
		metric, _ := MetricByName(m.Metric)
		t.Rows = append(t.Rows, []string{
			metric.Title, m.Worst, percent(m.MeanAbsPct / 100), signedPercent(m.BiasPct / 100), signedPercent(m.WorstPct / 100),
			of(m.Same, m.Pairs), of(m.SameSignificant, m.Significant),
		})
	}
	return t
}

// of is "2 of 3"; "–" of none.
func of(n, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d", n, all)
}
