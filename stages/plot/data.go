package plot

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// Data is the data of an experiment's pictures. If there are very many jobs, it has the times of a sample only.
type Data struct {
	*record.Experiment
	// Variants are the policies with their values of axes, in the order of the plan.
	Variants    []analysis.Variant
	palette     analysis.Palette
	width       float64            // width of pictures, in points
	servers     []record.ServerRow // nil until they are read
	serversRead bool
	times       map[string]times // by cell; nil until they are read
	overall     int              // sampling step of pictures of all cells: 3 means every third job
}

// The limits of one picture.
const (
	MostFacets  = 12 // panels
	MostLines   = 7  // variants, so that their lines can be distinguished
	MostColumns = 3  // panels in a row
)

// mostKept is the greatest number of jobs, over all cells, whose times are read. If there are more, a systematic sample
// is read.
const mostKept = 2_000_000

// NewData returns the data of the pictures of an experiment.
func NewData(e *record.Experiment) *Data {
	all := 0
	for _, c := range e.Cells {
		all += jobsOf(c)
	}
	return &Data{Experiment: e, Variants: analysis.Variants(e), palette: analysis.PaletteOf(e), width: canvas.Width,
		overall: overallStep(all)}
}

// times has the times of a cell's jobs, in their order.
type times struct {
	jobs    []jobTimes
	classes []string
}

type jobTimes struct {
	finished                bool
	estimated               bool // the predicted and the actual time are known
	class                   int32
	jct, service, predicted float64
}

// mostSampled is the greatest number of jobs of a cell that are all shown. If there are more, a systematic sample is
// shown, which looks the same.
const mostSampled = 200_000

// sampleStep returns the sampling step of a picture of one cell: 3 means every third job.
func sampleStep(c record.Cell) int { return 1 + jobsOf(c)/mostSampled }

// step returns the sampling step of a cell in pictures of all cells.
func (d *Data) step(c record.Cell) int { return max(sampleStep(c), d.overall) }

// overallStep returns the sampling step that leaves at most mostKept of `all` jobs.
func overallStep(all int) int { return max(1, (all+mostKept-1)/mostKept) }

// jobsOf returns the number of jobs of a cell.
func jobsOf(c record.Cell) int { return measure.Jobs.CountOf(&c.Metrics) }

// Sampled returns a note that pictures show samples of large cells; "" if they show all jobs.
func (d *Data) Sampled() string {
	step := 1
	for _, c := range d.Cells {
		step = max(step, sampleStep(c))
	}
	if n := d.overall; n >= step && n > 1 {
		return fmt.Sprintf(" All cells have more than %d jobs, so only a sample is shown: one job in %d.", mostKept, n)
	}
	if step == 1 {
		return ""
	}
	return fmt.Sprintf(" Of cells with more than %d jobs, only a sample is shown: at least one job in %d.", mostSampled, step)
}

// jobTimes returns the times of a cell's jobs, or of a sample; empty if the cell recorded only its metrics. The first
// call reads all cells in parallel, since pictures need several of them.
func (d *Data) jobTimes(c record.Cell) (times, error) {
	if d.times == nil {
		if err := d.readAhead(); err != nil {
			return times{}, err
		}
	}
	if t, ok := d.times[c.Cell]; ok {
		return t, nil
	}
	return d.readTimes(c)
}

// readAhead reads the times of all cells that may be kept.
func (d *Data) readAhead() error {
	kept, n := 0, 0
	for n < len(d.Cells) && kept <= mostKept {
		kept += jobsOf(d.Cells[n]) / d.step(d.Cells[n])
		n++
	}
	read := make([]times, n)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range read {
		g.Go(func() (err error) {
			read[i], err = d.readTimes(d.Cells[i])
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	d.times = make(map[string]times, n)
	for i := range read {
		d.times[d.Cells[i].Cell] = read[i]
	}
	return nil
}

func (d *Data) readTimes(c record.Cell) (times, error) {
	columns := []string{"class", "state", "jct_s", "service_s", "predicted_s", "prediction_error_pct"}
	step := d.step(c)
	var t times
	err := d.EachJob(c.CellRef, columns, step, func(r *record.JobRow) bool {
		if t.jobs == nil {
			t.jobs = make([]jobTimes, 0, jobsOf(c)/step+1)
		}
		class := slices.Index(t.classes, r.Class)
		if class < 0 {
			class = len(t.classes)
			t.classes = append(t.classes, strings.Clone(r.Class))
		}
		t.jobs = append(t.jobs, jobTimes{
			finished: r.State == "finished", class: int32(class),
			jct: r.JCT, service: r.Service, predicted: r.Predicted,
			// Only jobs to which an estimate applies have a prediction error.
			estimated: stats.Finite(r.PredictionErrorPct) && r.Predicted > 0 && r.Service > 0,
		})
		return true
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return t, err
}

// EachEstimated calls visit for each finished job (or each job of a sample) that has an estimate and held its full
// request all the time. Run times are in seconds.
func (d *Data) EachEstimated(visit func(class string, predicted, service float64)) error {
	for _, c := range d.Cells {
		t, err := d.jobTimes(c)
		if err != nil {
			return err
		}
		for _, j := range t.jobs {
			if j.estimated {
				visit(t.classes[j.class], j.predicted, j.service)
			}
		}
	}
	return nil
}

// Setting is one workload on one hardware. A picture compares the variants of one setting.
type Setting struct {
	Workload, Hardware string
	Variants           []analysis.Variant // with at least one complete cell
}

// Settings returns the settings of the variants, in the order of the plan.
func (d *Data) Settings() []Setting {
	var out []Setting
	for _, v := range d.Variants {
		if len(v.Cells) == 0 {
			continue
		}
		i := 0
		for i < len(out) && (out[i].Workload != v.Workload || out[i].Hardware != v.Hardware) {
			i++
		}
		if i == len(out) {
			out = append(out, Setting{Workload: v.Workload, Hardware: v.Hardware})
		}
		out[i].Variants = append(out[i].Variants, v)
	}
	return out
}

// Suffix returns the end of the names of the setting's pictures; "" if there is only one setting.
func (d *Data) Suffix(s Setting) string {
	if len(d.Plan.Workloads) <= 1 && len(d.Plan.Hardware) <= 1 {
		return ""
	}
	return "-" + s.Workload + "-" + s.Hardware
}

// Where returns the end of titles, which names the setting; "" if there is only one.
func (d *Data) Where(s Setting) string {
	out := ""
	if len(d.Plan.Workloads) > 1 {
		out += " – " + s.Workload
	}
	if len(d.Plan.Hardware) > 1 {
		out += " on " + s.Hardware
	}
	return out
}

// Columns returns the number of columns for n panels.
func (d *Data) Columns(n int) int {
	for n > 1 && d.width/float64(n) < leastFacet {
		n--
	}
	return n
}

// leastFacet is the least width of a panel in points: two fit into a column of 84 mm.
const leastFacet = 125.0

// SomeOf returns a note that only the first n are shown; "" if all are.
func SomeOf(n, all int, noun string) string {
	if n >= all {
		return ""
	}
	return fmt.Sprintf(" Only the first %d of %d %ss are shown.", n, all, noun)
}

// Origin returns the instant from which the times of a workload's log are counted, in seconds since 1970; 0 if it is
// unknown.
func (d *Data) Origin(workload string) float64 {
	for _, w := range d.Plan.Workloads {
		if w.Name == workload {
			return w.Origin
		}
	}
	return 0
}
