package instantiate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/estimate"
	"github.com/tfexp/tfexp/stages/experiment"
)

// fitKey identifies a fit by the job and the model; fit is its result.
type fitKey struct {
	job   *experiment.Job
	model string
}

type fit struct {
	estimate estimator.Estimate
	row      record.EstimateRow
	err      error
}

// Estimates fits the samples. It returns the rows of estimates.csv, and a warning for each fit that failed.
func (x *Experiment) Estimates() (rows []record.EstimateRow, warnings []record.Warning) {
	type place struct{ samples, hardware, model string }
	seen, axes := map[place]bool{}, x.distinguishing()
	x.eachSampled(func(c point, j *experiment.Job) {
		for n, model := range x.models() {
			id := place{x.formAddress(j), c.Hardware.Name, model}
			if _, ok := x.samples[x.profileHash(j)]; !ok || seen[id] {
				continue
			}
			seen[id] = true
			f := x.fit(j, model)
			if f.err != nil {
				code := "no_estimate"
				if n > 0 {
					code = "no_comparison"
				}
				warnings = append(warnings, record.Warning{Code: code, Text: f.err.Error()})
				continue
			}
			row := f.row
			row.Hardware, row.Axes = c.Hardware.Name, axes[x.formAddress(j)]
			if n > 0 {
				row.Role = record.EstimateCompared
			}
			rows = append(rows, row)
		}
	})
	return rows, warnings
}

// eachSampled calls visit for each job of each point whose run time is estimated from samples. Points are in the
// order of the file; those outside the matrix come last.
func (x *Experiment) eachSampled(visit func(point, *experiment.Job)) {
	for _, points := range [][]point{x.Spec.Cells, x.added} {
		for _, c := range points {
			for _, j := range jobsOf(c) {
				if x.sampled(c.Hardware, j) {
					visit(c, j)
				}
			}
		}
	}
}

// distinguishing returns, for each form of a job block, the values of axes by which it differs from other forms with
// the same request. They are the axes with one value in all cells of the form. The map's key is the address of the
// form's samples.
func (x *Experiment) distinguishing() map[string]string {
	type request struct {
		block, hardware string
		threads, gpus   int
	}
	cells, of, alike := map[string][]point{}, map[string]request{}, map[request]int{}
	x.eachSampled(func(c point, j *experiment.Job) {
		at := x.formAddress(j)
		if cells[at] == nil {
			of[at] = request{j.Name, c.Hardware.Name, j.Threads.Request, j.GPUs}
			alike[of[at]]++
		}
		cells[at] = append(cells[at], c)
	})
	axes := map[string]string{}
	for at, in := range cells {
		if alike[of[at]] < 2 {
			continue
		}
		var same []string
		for _, a := range in[0].Axes {
			if !slices.ContainsFunc(in, func(c point) bool { return !slices.Contains(c.Axes, a) }) {
				same = append(same, a.Name+"="+strings.ReplaceAll(a.Value, " ", ""))
			}
		}
		axes[at] = strings.Join(same, " ")
	}
	return axes
}

// formAddress identifies a form of a job block by its samples and its length.
func (x *Experiment) formAddress(j *experiment.Job) string {
	return fmt.Sprint(x.profileHash(j), " ", j.Length())
}

// SampleRows returns the rows of samples.csv, the measurements of each job.
func (x *Experiment) SampleRows() []record.SampleRow {
	var rows []record.SampleRow
	for _, u := range x.units {
		for _, s := range x.samples[u.Hash] {
			rows = append(rows, sampleRow(u, s))
		}
	}
	return rows
}

// decidesByEstimates reports whether a cell's policy uses estimates fitted to samples, including estimates with drawn
// errors and corrected ones.
func (x *Experiment) decidesByEstimates(c point) bool {
	return c.Policy.EstimatesOn(c.Hardware) && c.Policy.Source().Fitted &&
		slices.ContainsFunc(jobsOf(c), func(j *experiment.Job) bool { return x.sampled(c.Hardware, j) })
}

// estimateOf returns the fitted estimate of a job on its full request, if its samples exist.
func (x *Experiment) estimateOf(j *experiment.Job) (estimator.Estimate, bool) {
	if _, ok := x.samples[x.profileHash(j)]; !ok {
		return estimator.Estimate{}, false
	}
	f := x.fit(j, x.Spec.Estimate.Model)
	return f.estimate, f.err == nil
}

// spread returns how much repeated runs differ on this machine, from the samples of all jobs.
func (x *Experiment) spread() estimator.Spread {
	var jobs [][]estimator.Sample
	for _, u := range x.units {
		if u.Copies == 0 {
			jobs = append(jobs, x.samples[u.Hash])
		}
	}
	return estimator.SpreadOf(jobs)
}

// fit fits a model to the samples of a job. Each fit is computed once.
func (x *Experiment) fit(j *experiment.Job, model string) fit {
	key := fitKey{j, model}
	x.mu.Lock()
	f, ok := x.fits[key]
	if !ok {
		f = sync.OnceValue(func() fit { return x.newFit(j, model) })
		x.fits[key] = f
	}
	x.mu.Unlock()
	return f()
}

func (x *Experiment) newFit(j *experiment.Job, model string) (f fit) {
	var samples []estimator.Sample
	for _, h := range x.sampleHashes(j, model) {
		samples = append(samples, x.samples[h]...)
	}
	// The program identifies the job, since block names differ between experiments.
	name := x.identityOf(j)
	f.estimate, f.row, f.err = estimate.Fit(estimate.Job{
		Name: j.Name, Threads: j.Threads.Request, GPUs: j.GPUs, Length: j.Length(),
		Model: model, Level: x.Spec.Estimate.Level, Samples: samples,
		Identity: name, History: x.History, Spread: x.spread(),
		Resource: estimator.Resource{
			Host: x.HostPrint(), Threads: j.Threads.Request, Inter: j.Threads.Inter, Intra: j.Threads.Intra,
			GPUs: j.GPUs, GPUType: x.gpuType(j),
		},
	})
	return f
}

// Corrects reports whether the estimates of a cell's jobs are corrected by their runs in earlier real cells.
func (c *Cell) Corrects() bool {
	return c.x.Spec.Estimate.Correct != experiment.CorrectNone && c.Ref.Real() && len(c.corrected()) > 0
}

// corrected returns the jobs of a real cell whose estimates are corrected: jobs that were sampled and that end when
// their work is done.
func (c *Cell) corrected() []*experiment.Job {
	return slices.DeleteFunc(jobsOf(c.point), func(j *experiment.Job) bool {
		_, known := c.x.estimateOf(j)
		return !known || j.EndsEarly() || j.Budget != nil || !c.x.sampled(c.Hardware, j) ||
			len(alternativesOn(c.Hardware, j)) > 0
	})
}

// Learn corrects the estimates of later cells by this cell, which ran for real. longer is, by job number, the ratio
// of the job's run time to its run time by the samples; 0 if unknown. Learn must be called in the order in which the
// cells ran.
func (c *Cell) Learn(longer []float64) error {
	r, err := c.listJobs()
	if err != nil {
		return err
	}
	var cell []estimator.Ran
	for _, j := range c.corrected() {
		var logs []float64
		for n, k := range r.Block {
			if k >= 0 && r.Blocks[k] == j && n < len(longer) && longer[n] > 0 {
				logs = append(logs, math.Log(longer[n]))
			}
		}
		est, _ := c.x.estimateOf(j)
		level := c.x.Spec.Estimate.Level
		cell = append(cell, estimator.Ran{Job: c.x.formAddress(j), Before: est.Predict(j.Length(), level).LogSD(level), Longer: logs})
	}
	c.x.mu.Lock()
	defer c.x.mu.Unlock()
	k := c.x.corrections[c.Hardware.Name]
	if k == nil {
		k = new(estimator.Corrections)
		c.x.corrections[c.Hardware.Name] = k
	}
	k.Learn(cell...)
	return nil
}

// correction returns the correction of the next run of a job on a hardware, from earlier cells. before is the
// standard deviation of the logarithm of its run time, by the samples.
func (x *Experiment) correction(hardware string, j *experiment.Job, before, level float64) estimator.Correction {
	job := x.formAddress(j)
	x.mu.Lock()
	defer x.mu.Unlock()
	if c := x.corrections[hardware]; c != nil {
		return c.Next(job, before, level)
	}
	return estimator.Correction{Factor: 1}
}

// Estimated returns the current estimates of the cell's jobs.
func (c *Cell) Estimated() []record.Estimated {
	level := c.x.Spec.Estimate.Level
	var all []record.Estimated
	for _, j := range c.corrected() {
		est, _ := c.x.estimateOf(j)
		p := est.Predict(j.Length(), level)
		e := record.Estimated{Job: j.Name, Threads: j.Threads.Request, GPUs: j.GPUs,
			Predicted: p.Seconds, Low: p.Low, High: p.High, Factor: 1}
		if k := c.x.correction(c.Hardware.Name, j, p.LogSD(level), level); k.Runs > 0 {
			e.Factor, e.Runs = k.Factor, k.Runs
			e.Predicted, e.Low, e.High = k.Factor*p.Seconds, k.Low*p.Seconds, k.High*p.Seconds
		}
		all = append(all, e)
	}
	return all
}

// longer returns the ratio of a job's current estimate to its estimate by the samples alone.
func longer(estimated []record.Estimated, j *experiment.Job) float64 {
	for _, e := range estimated {
		if e.Job == j.Name && e.Threads == j.Threads.Request && e.GPUs == j.GPUs && e.Factor > 0 {
			return e.Factor
		}
	}
	return 1
}

// forPolicies returns the corrected estimates if the file lets policies use them, otherwise nil.
func (c *Cell) forPolicies(estimated []record.Estimated) []record.Estimated {
	if c.x.Spec.Estimate.Correct != experiment.CorrectPolicies {
		return nil
	}
	return estimated
}

// correct multiplies the work of simulated jobs so that a real cell is simulated with the estimates that were current
// when it began.
func correct(r jobList, work []simulated.Scaling, estimated []record.Estimated) {
	for n := range work {
		if k := r.Block[n]; k >= 0 {
			stretch(&work[n], longer(estimated, r.Blocks[k]))
		}
	}
}

// sampleRow returns the row of a sample in samples.csv.
func sampleRow(u *stages.Unit, s estimator.Sample) record.SampleRow {
	units := -1.0
	if len(s.Units) > 0 {
		units = 0
		for _, t := range s.Units {
			units += t
		}
	}
	return record.SampleRow{
		Job: u.Job, Threads: s.Threads, GPUs: s.GPUs, Length: s.Length, Unit: u.LengthUnit(),
		Wall: s.Wall, Startup: orMissing(s.Startup), Units: units, Save: orMissing(s.Save), Launch: orMissing(s.Launch),
		Pause: orMissing(s.Pause), Resume: orMissing(s.Resume), Resize: orMissing(s.Resize),
		Busy: orMissing(s.Busy), Tries: s.Tries, Cost: s.Cost, Others: s.Others,
	}
}

// orMissing returns v, or -1 if v is 0 (not measured).
func orMissing(v float64) float64 {
	if v == 0 {
		return -1
	}
	return v
}

// overheadsOf returns the overheads of an engine as medians over samples. Start is the engine's part alone: a
// program's time before its first epoch is in the intercept of its estimate. Pause plus resume is the time for which
// the cores are idle, whichever of the two jobs it is charged to.
//
// If paused jobs write a checkpoint and end (suspends), a pause takes as long as the program took to save at its end,
// and a resume is a new start.
func overheadsOf(samples []estimator.Sample, suspends bool) simulated.Overheads {
	var start, pause, resume, resize, save, startup median
	for _, s := range samples {
		start.add(s.Launch)
		pause.add(s.Pause)
		resume.add(s.Resume)
		resize.add(s.Resize)
		save.add(s.Save)
		startup.add(s.Startup)
	}
	o := simulated.Overheads{Start: start.time(), Pause: pause.time(), Resume: resume.time(), Resize: resize.time()}
	if suspends {
		o.Pause, o.Resume = save.time(), o.Start+startup.time()
	}
	o.Migrate = o.Resume
	return o
}

// median computes the median of measured times in seconds; times of 0 were not measured. It is not the mean, because
// the first launch of a run is often far slower than the others.
type median []float64

func (m *median) add(s float64) {
	if s > 0 {
		*m = append(*m, s)
	}
}

func (m median) time() time.Duration {
	if len(m) == 0 {
		return 0
	}
	slices.Sort(m)
	return time.Duration(math.Round((m[(len(m)-1)/2] + m[len(m)/2]) / 2 * 1e9))
}

// stretch multiplies the duration of simulated work.
func stretch(w *simulated.Scaling, times float64) {
	w.Fixed, w.Scaled = time.Duration(times*float64(w.Fixed)), time.Duration(times*float64(w.Scaled))
}
