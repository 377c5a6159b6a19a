package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
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
	// QuietAbsPct is MeanAbsPct without the disturbed cells; the same
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
		p.Twin.CellRef = p.Real.CellRef // it stands for the same variant
		twins.Cells = append(twins.Cells, p.Twin)
	}
	a, b := Variants(&real), Variants(&twins) // in the same order: that of the plan
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
			x, y, _ := pairs(a[j], a[i], value{metric: metric})
			u, v, _ := pairs(b[j], b[i], value{metric: metric})
			if len(x) == 0 || len(x) != len(u) {
				continue
			}
			if p[at] == nil {
				places = append(places, at)
			}
			r := stats.ComparePairs(x, y, DefaultLevel, "fidelity/"+f.Metric+"/"+a[j].Label+"/"+a[i].Label)
			p[at] = append(p[at], r.P)
			same[at] = append(same[at], cmp.Compare(r.CandidateMean, r.BaselineMean) == cmp.Compare(stat.Mean(v, nil), stat.Mean(u, nil)))
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

// apart is the difference of two instants; NaN when one never came about.
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
