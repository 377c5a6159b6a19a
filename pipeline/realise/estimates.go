package realise

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/realise/program"
	"github.com/tfexp/tfexp/pipeline/realise/sampling"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/estimate"
)

// fitKey is a job and a model that was fitted to its samples; fit is what came
// of it.
type fitKey struct {
	job   *experiments.Job
	model string
}

type fit struct {
	estimate estimator.Estimate
	row      record.EstimateRow
	err      error
}

// Estimates fits the samples, and returns the rows of estimates.csv with the
// warnings of those that could not be fitted.
func (x *Experiment) Estimates() (rows []record.EstimateRow, warnings []record.Warning) {
	type place struct{ samples, hardware, model string }
	seen, axes := map[place]bool{}, x.distinguishing()
	x.eachSampled(func(c point, j *experiments.Job) {
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

// eachSampled calls visit for each job of each point whose run time there is
// estimated from samples, in the order of the file; points beyond the matrix last.
func (x *Experiment) eachSampled(visit func(point, *experiments.Job)) {
	for _, points := range [][]point{x.spec.Cells, x.added} {
		for _, c := range points {
			for _, j := range jobsOf(c) {
				if x.sampled(c.Hardware, j) {
					visit(c, j)
				}
			}
		}
	}
}

// distinguishing are the axes whose values distinguish a form of a job block from others with the same request, by the
// address of its samples.
func (x *Experiment) distinguishing() map[string]string {
	var forms sampling.Forms
	x.eachSampled(func(c point, j *experiments.Job) { forms.Add(x.formAddress(j), c, j) })
	return forms.Axes()
}

// formAddress distinguishes the forms of job blocks: by their samples and length.
func (x *Experiment) formAddress(j *experiments.Job) string {
	return fmt.Sprint(x.profileHash(j), " ", program.Length(j))
}

// SampleRows are the rows of samples.csv: what was measured of each job.
func (x *Experiment) SampleRows() []record.SampleRow {
	var rows []record.SampleRow
	for _, u := range x.units {
		for _, s := range x.samples[u.Hash] {
			rows = append(rows, sampling.Row(&u.Unit, s))
		}
	}
	return rows
}

// decidesByEstimates reports whether a cell's policy decides by estimates that
// were fitted to samples, as they are, with an error, or corrected while jobs run.
func (x *Experiment) decidesByEstimates(c point) bool {
	return c.Policy.EstimatesOn(c.Hardware) && c.Policy.Source().Fitted && slices.ContainsFunc(jobsOf(c), func(j *experiments.Job) bool { return x.sampled(c.Hardware, j) })
}

// estimateOf is the fitted estimate of a job on its full request, if its
// samples are there.
func (x *Experiment) estimateOf(j *experiments.Job) (estimator.Estimate, bool) {
	if _, ok := x.samples[x.profileHash(j)]; !ok {
		return estimator.Estimate{}, false
	}
	f := x.fit(j, x.spec.Estimate.Model)
	return f.estimate, f.err == nil
}

// moments are the speeds of the machine that the samples have seen, and those of earlier runs.
func (x *Experiment) moments() []estimator.Moment {
	all := slices.Clone(x.earlier)
	for _, u := range x.units {
		all = append(all, estimator.Moments(x.samples[u.Hash])...)
	}
	return all
}

// SetMoments implements stages.Sampling.
func (x *Experiment) SetMoments(earlier []estimator.Moment) {
	x.earlier = earlier
	clear(x.fits)
}

// fit fits a model to the samples of a job, once.
func (x *Experiment) fit(j *experiments.Job, model string) fit {
	x.fitting.Lock() // cells are simulated side by side
	defer x.fitting.Unlock()
	key := fitKey{j, model}
	if f, ok := x.fits[key]; ok {
		return f
	}
	var samples []estimator.Sample
	for _, h := range x.sampleHashes(j, model) {
		samples = append(samples, x.samples[h]...)
	}
	// Names of blocks mean nothing elsewhere: a job is known by what it runs.
	name, kind := x.identityOf(j)
	var f fit
	f.estimate, f.row, f.err = estimate.Fit(estimate.Job{
		Name: j.Name, Threads: j.Threads.Request, GPUs: j.GPUs, Length: program.Length(j),
		Model: model, Level: x.spec.Estimate.Level, Samples: samples,
		Identity: name, Kind: kind, History: x.history, Moments: x.moments(),
		Resource: estimator.Resource{
			Host: x.HostPrint(), Threads: j.Threads.Request, Inter: j.Threads.Inter, Intra: j.Threads.Intra,
			GPUs: j.GPUs, GPUType: x.gpuType(j),
		},
	})
	x.fits[key] = f
	return f
}
