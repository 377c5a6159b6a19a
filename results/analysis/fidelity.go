package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// Pair is a finished real cell and its simulation.
type Pair struct{ Real, Twin record.Cell }

// Pairs are the finished real cells that were simulated, in the order of the
// plan.
func Pairs(e *record.Experiment) []Pair {
	var out []Pair
	for _, c := range e.Cells {
		if !c.Measured() || c.State != record.CellFinished {
			continue
		}
		twin, err := e.Simulation(c.CellRef)
		if err == nil && twin.State == record.CellFinished {
			out = append(out, Pair{c, twin})
		}
	}
	return out
}

// Fidelity says how far simulations with the fitted estimates differ from the real runs.
type Fidelity struct {
	// Cells is the number of real cells that were simulated; without any,
	// nothing else is known.
	Cells int `json:"cells"`
	// Busy counts the cells that ran while other processes kept the machine busy. The
	// simulation knows how many cores these used on average.
	Busy    int              `json:"busy_cells"`
	Metrics []FidelityMetric `json:"metrics"`
}

// FidelityMetric sums up the errors of one metric over the cells, and how well
// simulation ranks the variants by it.
type FidelityMetric struct {
	Metric string `json:"metric"`
	// MeanAbsPct is the mean size of the errors in percent, BiasPct their mean:
	// above 0, simulation overestimates.
	MeanAbsPct float64 `json:"mean_abs_error_pct"`
	BiasPct    float64 `json:"bias_pct"`
	// QuietAbsPct is MeanAbsPct without the disturbed cells; the same
	// when that leaves none.
	QuietAbsPct float64 `json:"quiet_mean_abs_error_pct"`
	// Worst is the cell with the largest error, WorstPct.
	Worst    string  `json:"worst_cell"`
	WorstPct float64 `json:"worst_error_pct"`
	// Pairs counts the pairs of variants on one workload and hardware, and Same
	// the pairs whose means are in the same order for real and in simulation;
	// Significant and SameSignificant count the pairs among them whose real
	// difference is significant at DefaultLevel.
	Pairs           int `json:"pairs"`
	Same            int `json:"same_order"`
	Significant     int `json:"significant_pairs"`
	SameSignificant int `json:"significant_same_order"`
	// DifferencePoints is the mean size, over these pairs, of the error of their difference in percent points: 3 where
	// one takes 10% longer for real and 13% in simulation.
	DifferencePoints float64 `json:"difference_error_points"`
	// ChancePoints is the mean DifferencePoints of a simulation that is exact. It is above 0 because
	// real replicates differ from each other by chance. With a single replicate it is 0.
	ChancePoints float64 `json:"difference_chance_points"`
}

// FidelityRows are the rows of fidelity.csv, by cell and then by metric; a
// metric that is not known on both sides has none.
func FidelityRows(pairs []Pair) []record.FidelityRow {
	var rows []record.FidelityRow
	metrics := measure.ShownIn(measure.InFidelity)
	for i := range pairs {
		for _, m := range metrics {
			row := record.FidelityRow{
				Cell: pairs[i].Real.Cell, Metric: m.Name,
				Real: m.Of(&pairs[i].Real.Metrics), Simulated: m.Of(&pairs[i].Twin.Metrics),
			}
			if stats.Finite(row.Real) && stats.Finite(row.Simulated) {
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
	if pct := 100 * (simulated - real) / real; stats.Finite(pct) {
		return pct
	}
	return math.NaN()
}

// FidelityOf compares the real cells with their simulations.
func FidelityOf(e *record.Experiment) Fidelity {
	pairs := Pairs(e)
	f := Fidelity{Cells: len(pairs)}
	busy := map[string]bool{}
	for _, p := range pairs {
		if p.Real.Troubled() {
			f.Busy++
			busy[p.Real.Cell] = true
		}
	}
	rows := FidelityRows(pairs)
	for _, metric := range measure.ShownIn(measure.InFidelity) {
		m := FidelityMetric{Metric: metric.Name}
		var size, quiet, bias stats.Mean
		for _, r := range rows {
			if r.Metric != metric.Name || !stats.Finite(r.ErrorPct) {
				continue
			}
			size.Add(math.Abs(r.ErrorPct))
			bias.Add(r.ErrorPct)
			if !busy[r.Cell] {
				quiet.Add(math.Abs(r.ErrorPct))
			}
			if m.Worst == "" || math.Abs(r.ErrorPct) > math.Abs(m.WorstPct) {
				m.Worst, m.WorstPct = r.Cell, r.ErrorPct
			}
		}
		if size.N == 0 {
			continue
		}
		m.MeanAbsPct, m.BiasPct, m.QuietAbsPct = size.Value(), bias.Value(), size.Value()
		if quiet.N > 0 {
			m.QuietAbsPct = quiet.Value()
		}
		rank(e, metric, &m, pairs)
		f.Metrics = append(f.Metrics, m)
	}
	return f
}

// rank compares the order of each two variants by their means over the pairs
// of cells. The p-values of one workload and hardware have Holm's correction.
func rank(e *record.Experiment, metric measure.Metric, f *FidelityMetric, cells []Pair) {
	real, twins := *e, *e
	real.Cells, twins.Cells = nil, nil
	for _, p := range cells {
		real.Cells = append(real.Cells, p.Real)
		p.Twin.CellRef = p.Real.CellRef // the simulation counts for the variant of its real cell
		twins.Cells = append(twins.Cells, p.Twin)
	}
	a, b := Variants(&real), Variants(&twins) // both in the order of the plan
	type place struct{ workload, hardware string }
	var places []place
	p := map[place][]float64{}
	same := map[place][]bool{}
	var points, chance stats.Mean
	for i := range a {
		for j := range a[:i] {
			at := place{a[i].Workload, a[i].Hardware}
			if at != (place{a[j].Workload, a[j].Hardware}) {
				continue
			}
			x, y, _ := pairs(a[j], a[i], Value{Metric: metric})
			u, v, _ := pairs(b[j], b[i], Value{Metric: metric})
			if len(x) == 0 || len(x) != len(u) {
				continue
			}
			if p[at] == nil {
				places = append(places, at)
			}
			r := stats.ComparePairs(x, y, DefaultLevel)
			if d := 100 * math.Abs(r.CandidateMean/r.BaselineMean-stat.Mean(v, nil)/stat.Mean(u, nil)); stats.Finite(d) {
				points.Add(d)
			}
			if c := chancePoints(x, y, u, v); stats.Finite(c) {
				chance.Add(c)
			}
			p[at] = append(p[at], r.P)
			same[at] = append(same[at], cmp.Compare(r.CandidateMean, r.BaselineMean) == cmp.Compare(stat.Mean(v, nil),
				stat.Mean(u, nil)))
		}
	}
	if points.N > 0 {
		f.DifferencePoints = points.Value()
	}
	if chance.N > 0 {
		f.ChancePoints = chance.Value()
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

// chancePoints returns the mean size of the error of a difference in percent points where only the spread of the
// replicates causes it: the mean size of a normal variable whose standard deviation is the standard error of their
// errors. A standard deviation of few values is too small on average, by c4 (of control charts). x and y are the real
// values of two variants by replicate, u and v the simulated ones. It is NaN with one replicate.
func chancePoints(x, y, u, v []float64) float64 {
	off := make([]float64, len(x))
	for k := range x {
		off[k] = 100 * (y[k]/x[k] - v[k]/u[k])
	}
	n := float64(len(x))
	above, _ := math.Lgamma(n / 2)
	below, _ := math.Lgamma((n - 1) / 2)
	c4 := math.Sqrt(2/(n-1)) * math.Exp(above-below)
	return math.Sqrt(2/math.Pi) * stat.StdDev(off, nil) / c4 / math.Sqrt(n)
}

// FidelityJobs are the rows of fidelity_jobs.csv: by cell, then in the order
// of the jobs. A cell that recorded only its metrics has none.
func FidelityJobs(e *record.Experiment) ([]record.FidelityJobRow, error) {
	var rows []record.FidelityJobRow
	for _, p := range Pairs(e) {
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
			return nil, fmt.Errorf("read the simulation of cell %s: it has %d jobs, the cell %d", p.Real.Cell, len(twins),
				len(real))
		}
		for i, r := range real {
			s := twins[i]
			rows = append(rows, record.FidelityJobRow{
				Cell: p.Real.Cell, Job: r.Job, Class: r.Class,
				StartReal: r.FirstStart, StartSimulated: s.FirstStart, FinishReal: r.Finish, FinishSimulated: s.Finish,
				StartError: apart(s.FirstStart, r.FirstStart), FinishError: apart(s.Finish, r.Finish),
			})
		}
	}
	return rows, nil
}

// apart is the difference of two instants; NaN if one of them never occurred.
func apart(simulated, real float64) float64 {
	if simulated < 0 || real < 0 {
		return math.NaN()
	}
	return simulated - real
}

// writeFidelity writes fidelity.csv, fidelity_jobs.csv and fidelity_decisions.csv, or removes them when
// there is nothing to compare.
func writeFidelity(e *record.Experiment) error {
	rows := FidelityRows(Pairs(e))
	if len(rows) == 0 {
		return errors.Join(record.Fidelity.Replace(e.Dir, nil), record.FidelityJobs.Replace(e.Dir, nil),
			record.FidelityDecisions.Replace(e.Dir, nil))
	}
	jobs, err := FidelityJobs(e)
	if err != nil {
		return err
	}
	decisions, err := FidelityDecisions(e)
	if err != nil {
		return err
	}
	_, err = record.FidelityJobs.Write(e.Dir, jobs)
	return errors.Join(err, record.Fidelity.Replace(e.Dir, rows), record.FidelityDecisions.Replace(e.Dir, decisions))
}

// fidelityOf finds the fidelity of a metric.
func fidelityOf(f Fidelity, metric measure.Metric) (FidelityMetric, bool) {
	for _, m := range f.Metrics {
		if m.Metric == metric.Name {
			return m, true
		}
	}
	return FidelityMetric{}, false
}

// FidelitySentence says how far the simulations differ from the real runs: "Simulated from the estimates: makespan
// within 3% and mean JCT within 5% of the real runs, on average over 10 cells." It is empty if nothing was simulated.
func FidelitySentence(f Fidelity) string {
	makespan, ok := fidelityOf(f, measure.Makespan)
	jct, known := fidelityOf(f, measure.MeanJCT)
	if !ok || !known {
		return ""
	}
	over := "in one cell"
	if f.Cells > 1 {
		over = fmt.Sprintf("on average over %d cells", f.Cells)
	}
	if f.Busy > 0 {
		over += fmt.Sprintf(" (%d on a disturbed machine", f.Busy)
		if f.Busy < f.Cells {
			over += fmt.Sprintf("; %s and %s without those", table.Share(makespan.QuietAbsPct/100),
				table.Share(jct.QuietAbsPct/100))
		}
		over += ")"
	}
	return fmt.Sprintf("Simulated from the estimates: makespan within %s and mean JCT within %s of the real runs, %s.",
		table.Share(makespan.MeanAbsPct/100), table.Share(jct.MeanAbsPct/100), over)
}

// FidelityDifferences is a sentence about the errors of the simulated differences between variants; "" for a single
// variant. A slowdown of the whole machine does not change these differences.
func FidelityDifferences(f Fidelity) string {
	makespan, ok := fidelityOf(f, measure.Makespan)
	jct, known := fidelityOf(f, measure.MeanJCT)
	if !ok || !known || jct.Pairs == 0 || makespan.Pairs == 0 {
		return ""
	}
	s := fmt.Sprintf("Simulated differences between two variants are off by %s points in makespan and %s points in mean "+
		"JCT, on average over %s", table.Number(makespan.DifferencePoints), table.Number(jct.DifferencePoints),
		schema.Plural(jct.Pairs, "pair"))
	if makespan.ChancePoints == 0 || jct.ChancePoints == 0 {
		return s + "."
	}
	return fmt.Sprintf("%s; the spread of the replicates alone explains %s and %s points.", s,
		table.Number(makespan.ChancePoints), table.Number(jct.ChancePoints))
}

// fidelityOfDecisions is a line on whether the scheduler decided for real as it did in the simulation: "The simulation
// took the same decisions as the real run in 3 of 4 cells. In mixed-fcfs-r1 the first other one came after 12 of 16
// decisions, at 3.20 s: for real resume long-1 on 0, in simulation pause long-2." It is empty where none are recorded.
func fidelityOfDecisions(rows []record.FidelityDecisionRow) string {
	if len(rows) == 0 {
		return ""
	}
	same := 0
	var first *record.FidelityDecisionRow
	for i := range rows {
		if r := &rows[i]; r.DiffersAt < 0 {
			same++
		} else if first == nil {
			first = r
		}
	}
	s := fmt.Sprintf("The simulation took the same decisions as the real run in %d of %s.", same,
		schema.Plural(len(rows), "cell"))
	if first == nil {
		return s
	}
	return fmt.Sprintf("%s In %s the first other one came after %d of %s, at %s: for real %s, in simulation %s.", s,
		first.Cell, first.Same, schema.Plural(first.Decisions, "decision"), table.WithUnit(first.DiffersAt,
			"s"), orNone(first.Real),
		orNone(first.Instead))
}

func orNone(decision string) string {
	if decision == "" {
		return "no more decisions"
	}
	return decision
}

// fidelityTable returns a table with a row for each metric.
func fidelityTable(f Fidelity) table.Table {
	t := table.New(2, "metric", "worst cell", "mean absolute error", "mean error", "worst error",
		"error of differences (points)", "same order", "same order, significant")
	for _, m := range f.Metrics {
		metric, _ := measure.MetricByName(m.Metric)
		t.Add(
			metric.Title, m.Worst, table.Share(m.MeanAbsPct/100), table.Signed(m.BiasPct/100), table.Signed(m.WorstPct/100),
			points(m), of(m.Same, m.Pairs), of(m.SameSignificant, m.Significant))
	}
	return t
}

// present returns the texts that are not empty.
func present(texts []string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return text == "" })
}

func points(m FidelityMetric) string {
	if m.Pairs == 0 {
		return "–"
	}
	if m.ChancePoints == 0 {
		return table.Number(m.DifferencePoints)
	}
	return fmt.Sprintf("%s (%s by chance)", table.Number(m.DifferencePoints), table.Number(m.ChancePoints))
}

// of is "2 of 3"; "–" of none.
func of(n, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d", n, all)
}

var _ = Register(Part{
	Name: "fidelity", Title: "Fidelity", InReport: Verdicts + 20, OnTerminal: Verdicts + 20,
	Tell: func(e *record.Experiment) (s table.Section, err error) {
		f := FidelityOf(e)
		if f.Cells == 0 {
			return s, nil
		}
		decisions, err := FidelityDecisions(e)
		if err != nil {
			return s, err
		}
		said := []string{
			FidelitySentence(f), FidelityDifferences(f), fidelityOfDecisions(decisions),
		}
		if said[0] != "" {
			s.Terminal = []table.Item{{Sentences: present(said[:2])}}
		}
		t := fidelityTable(f)
		if len(t.Rows) == 0 {
			return s, nil
		}
		s.Report = []table.Item{
			{Plain: true, Sentences: []string{"Each finished real cell was simulated as well: the same policy, arrivals and " +
				"scheduler code, with run times from the estimates and the cost of pausing and resuming from profiling."}},
			{Sentences: present(said)},
			{Table: t, Note: "Errors are (simulated − real) / real: above 0, the simulated value is too high. All pairs of " +
				"variants are compared by their means; a real difference is significant at 95%, after Holm’s correction over the " +
				"pairs of one workload and hardware."},
			{Pictures: true},
		}
		return s, nil
	},
})

// FidelityDecisions are the rows of fidelity_decisions.csv: by cell, how long the scheduler decided for real as in
// the simulation. A cell that recorded no decisions has none.
func FidelityDecisions(e *record.Experiment) ([]record.FidelityDecisionRow, error) {
	var rows []record.FidelityDecisionRow
	for _, p := range Pairs(e) {
		real, err := decisions(e, p.Real.CellRef)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		twin, err := decisions(e, p.Twin.CellRef)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, compareDecisions(p.Real.Cell, real, twin))
	}
	return rows, nil
}

func decisions(e *record.Experiment, c record.CellRef) ([]record.DecisionRow, error) {
	var list []record.DecisionRow
	for d, err := range e.Decisions(c) {
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

// compareDecisions counts the first decisions that have the same action, job and cores in both runs, and names the
// first decisions that differ.
func compareDecisions(cell string, real, twin []record.DecisionRow) record.FidelityDecisionRow {
	row := record.FidelityDecisionRow{Cell: cell, Decisions: len(real), Simulated: len(twin), DiffersAt: -1}
	for row.Same < min(len(real), len(twin)) && decided(real[row.Same]) == decided(twin[row.Same]) {
		row.Same++
	}
	if row.Same < len(real) {
		row.Real, row.DiffersAt = decided(real[row.Same]), real[row.Same].At
	}
	if row.Same < len(twin) {
		row.Instead = decided(twin[row.Same])
		if row.Real == "" {
			row.DiffersAt = twin[row.Same].At
		}
	}
	return row
}

// decided writes a decision as text: "resume long-1 on 0-1".
func decided(d record.DecisionRow) string {
	if len(d.Cores) == 0 {
		return fmt.Sprintf("%s %s", d.Decision, d.Job)
	}
	return fmt.Sprintf("%s %s on %s", d.Decision, d.Job, d.Cores)
}
