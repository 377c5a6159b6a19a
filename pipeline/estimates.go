package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments"
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

// estimate fits the samples and writes estimates.csv and samples.csv.
func (r *run) estimate() error {
	var rows []record.EstimateRow
	type place struct{ samples, hardware, model string }
	seen, axes := map[place]bool{}, r.distinguishing()
	for _, c := range r.spec.Cells {
		for _, j := range jobsOf(c) {
			if !r.sampled(c.Hardware, j) {
				continue
			}
			for n, model := range append([]string{r.spec.Estimate.Model}, r.spec.Estimate.Models...) {
				id := place{r.kindAddress(j), c.Hardware.Name, model}
				if _, ok := r.state.samples[r.profileHash(j)]; !ok || seen[id] {
					continue
				}
				seen[id] = true
				f := r.fit(j, model)
				if f.err != nil {
					code := "no_estimate"
					if n > 0 {
						code = "no_comparison"
					}
					r.warn(code, "", f.err.Error())
					continue
				}
				row := f.row
				row.Hardware, row.Axes = c.Hardware.Name, axes[r.kindAddress(j)]
				if n > 0 {
					row.Role = record.EstimateCompared
				}
				rows = append(rows, row)
			}
		}
	}
	if err := r.writeSamples(); err != nil || len(rows) == 0 {
		return err
	}
	return record.WriteEstimates(r.Dir, rows)
}

// distinguishing are the axes whose values tell a job kind from others of the
// same block with the same request, by the address of its samples: those that
// have one value in all its cells.
func (p *Plan) distinguishing() map[string]string {
	type request struct {
		block, hardware string
		threads, gpus   int
	}
	var kinds []string // addresses, in the order of the file
	cells := map[string][]experiments.Cell{}
	alike := map[request][]string{}
	of := map[string]request{}
	for _, c := range p.spec.Cells {
		for _, j := range jobsOf(c) {
			if !p.sampled(c.Hardware, j) {
				continue
			}
			h := p.kindAddress(j)
			if cells[h] == nil {
				kinds = append(kinds, h)
				of[h] = request{j.Name, c.Hardware.Name, j.Threads.Request, j.GPUs}
				alike[of[h]] = append(alike[of[h]], h)
			}
			cells[h] = append(cells[h], c)
		}
	}
	axes := map[string]string{}
	for _, h := range kinds {
		if len(alike[of[h]]) < 2 {
			continue
		}
		var same []string
		for _, a := range cells[h][0].Axes {
			if !slices.ContainsFunc(cells[h], func(c experiments.Cell) bool { return !slices.Contains(c.Axes, a) }) {
				same = append(same, a.Name+"="+strings.ReplaceAll(a.Value, " ", ""))
			}
		}
		axes[h] = strings.Join(same, " ")
	}
	return axes
}

// kindAddress tells job kinds apart: their samples and their length.
func (p *Plan) kindAddress(j *experiments.Job) string {
	return fmt.Sprint(p.profileHash(j), " ", length(j))
}

// writeSamples writes samples.csv: what was measured of each job kind.
func (r *run) writeSamples() error {
	var rows []record.SampleRow
	for _, u := range r.state.profiles {
		samples := r.state.samples[u.key.Hash()]
		for _, s := range samples {
			units := -1.0
			if len(s.Units) > 0 {
				units = 0
				for _, t := range s.Units {
					units += t
				}
			}
			rows = append(rows, record.SampleRow{
				Job: u.job.Name, Threads: s.Threads, GPUs: s.GPUs, Length: s.Length, Unit: lengthUnit(u.job),
				Wall: s.Wall, Startup: known(s.Startup), Units: units, Save: known(s.Save), Launch: known(s.Launch),
				Pause: known(s.Pause), Resume: known(s.Resume), Resize: known(s.Resize),
				Busy: known(s.Busy), Tries: s.Tries, Cost: s.Cost,
			})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return record.WriteSamples(r.Dir, rows)
}

// known is a measured value; 0 stands for none.
func known(v float64) float64 {
	if v == 0 {
		return -1
	}
	return v
}

// decidesByEstimates reports whether a cell's policy decides by estimates that
// were fitted to samples, as they are, with an error, or corrected while jobs run.
func (p *Plan) decidesByEstimates(c experiments.Cell) bool {
	if !usesPredictions(c.Policy) {
		return false
	}
	switch c.Policy.Estimates {
	case "fitted", "noisy", "online":
	default:
		return false
	}
	return slices.ContainsFunc(jobsOf(c), func(j *experiments.Job) bool { return p.sampled(c.Hardware, j) })
}

// estimateOf is the fitted estimate of a job on its full request, if its
// samples are there.
func (p *Plan) estimateOf(j *experiments.Job) (estimator.Estimate, bool) {
	if _, ok := p.state.samples[p.profileHash(j)]; !ok {
		return estimator.Estimate{}, false
	}
	f := p.fit(j, p.spec.Estimate.Model)
	return f.estimate, f.err == nil
}

// fit fits a model to the samples of a job, once.
func (p *Plan) fit(j *experiments.Job, model string) fit {
	p.state.fitting.Lock() // cells are simulated side by side
	defer p.state.fitting.Unlock()
	key := fitKey{j, model}
	if f, ok := p.state.fits[key]; ok {
		return f
	}
	var samples []estimator.Sample
	for _, h := range p.sampleHashes(j, model) {
		samples = append(samples, p.state.samples[h]...)
	}
	// Names of blocks mean nothing elsewhere: a job is known by what it runs.
	name, kind := p.identityOf(j)
	var f fit
	f.estimate, f.row, f.err = estimate.Fit(estimate.Job{
		Name: j.Name, Threads: j.Threads.Request, GPUs: j.GPUs, Length: length(j),
		Model: model, Level: p.spec.Estimate.Level, Samples: samples,
		Identity: name, Kind: kind, History: p.state.history,
		Resource: estimator.Resource{Host: p.hostPrint(), Threads: j.Threads.Request, Inter: j.Threads.Inter, Intra: j.Threads.Intra, GPUs: j.GPUs, GPUType: p.gpuType(j)},
	})
	p.state.fits[key] = f
	return f
}
