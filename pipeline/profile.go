package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/results"
	"github.com/tfexp/tfexp/stages/estimate"
	"github.com/tfexp/tfexp/stages/profile"
)

// profile takes the samples that are missing. A job that cannot be sampled
// has no prediction, which is a warning: its cells run all the same.
func (r *run) profile(ctx context.Context) error {
	total, reused := len(r.Profiles), 0
	for _, w := range r.Profiles {
		if w.Reuse {
			reused++
		}
	}
	if total == 0 {
		return nil
	}
	start := time.Now()
	r.observe(Progress{Kind: StageStart, Stage: "profile", Total: total, Reused: reused})
	done, load := reused, hardware.NewLoadSampler()
	for i := range r.Profiles {
		if r.Profiles[i].Reuse {
			continue
		}
		unit, began := &r.state.profiles[i], time.Now()
		r.observe(Progress{Kind: UnitStart, Stage: "profile", Unit: unit.job.Name, Done: done, Total: total})
		samples, err := r.sample(ctx, unit)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		done++
		if err != nil {
			r.warn("no_estimate", "", fmt.Sprintf("no estimate for job %s: %v", unit.job.Name, err))
		} else if err := r.keepSamples(unit, samples, time.Since(began)); err != nil {
			return err
		}
		r.observe(Progress{Kind: UnitEnd, Stage: "profile", Unit: unit.job.Name, Done: done, Total: total, Elapsed: time.Since(began)})
	}
	// Over a shorter time the load cannot be told.
	if done > reused && time.Since(start) > 300*time.Millisecond && load.Others() > hardware.BusyCores {
		r.warn("busy_profile", "", fmt.Sprintf(
			"other processes used more than %.2g cores, on the mean, while jobs were sampled: estimates may be too long (tfexp run --fresh samples again)", hardware.BusyCores))
	}
	r.observe(Progress{Kind: StageEnd, Stage: "profile", Done: done, Total: total, Reused: reused, Elapsed: time.Since(start)})
	return nil
}

// sample runs the samples of one job kind, one after the other, and then
// measures what it costs the engine to pause, resume and resize such a job.
func (r *run) sample(ctx context.Context, unit *profileUnit) ([]estimator.Sample, error) {
	logs := filepath.Join(r.Dir, profileDir)
	scratch, err := os.MkdirTemp(r.Dir, ".scratch-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for samples: %w", err)
	}
	defer os.RemoveAll(scratch)
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return nil, fmt.Errorf("make a folder for samples: %w", err)
	}
	var samples []estimator.Sample
	for i, n := range unit.lengths {
		name := fmt.Sprintf("%s-sample-%d", kindName(unit.job), i+1)
		s, err := profile.Take(ctx, profile.Run{
			Job:    r.state.programs.launch(unit.job, name, n, launchDirs{logs, scratch}),
			Length: n, Steps: unit.job.Steps > 0, GPUs: unit.job.GPUs,
		}, r.engineOptions())
		if err != nil {
			return nil, err
		}
		for _, w := range s.Warnings {
			r.warn("sample", "", fmt.Sprintf("%s: %s", name, w))
		}
		samples = append(samples, s)
	}
	costs, err := profile.Probe(ctx, profile.Run{
		Job: r.state.programs.launch(unit.job, unit.job.Name+"-probe", unit.lengths[0], launchDirs{logs, scratch}),
	}, r.engineOptions())
	if err != nil {
		return nil, err
	}
	first := &samples[0]
	first.Pause, first.Resume, first.Resize = costs.Pause.Seconds(), costs.Resume.Seconds(), costs.Resize.Seconds()
	return samples, nil
}

// savedSamples is a file of the profile folder: samples with the description
// of their key, so that they are found while a running tfexp holds the cache,
// and without one.
type savedSamples struct {
	Description string             `json:"description"`
	Samples     []estimator.Sample `json:"samples"`
}

// profileDir holds the logs of the samples, and what they measured.
const profileDir = "profile"

// kindName names a job kind: the job block, and its variant if it has one.
func kindName(j *experiments.Job) string {
	if j.Variant == "" {
		return j.Name
	}
	return j.Name + "-" + j.Variant
}

func samplesPath(dir string, j *experiments.Job) string {
	return filepath.Join(dir, profileDir, kindName(j)+".json")
}

// readSamples returns the samples of a job kind from its plain file, if they
// were taken under the key.
func readSamples(dir string, unit profileUnit) []estimator.Sample {
	raw, err := os.ReadFile(samplesPath(dir, unit.job))
	var s savedSamples
	if err != nil || json.Unmarshal(raw, &s) != nil || s.Description != unit.key.Description() {
		return nil
	}
	return s.Samples
}

func (r *run) keepSamples(unit *profileUnit, samples []estimator.Sample, took time.Duration) error {
	raw, err := json.Marshal(samples)
	if err != nil {
		return fmt.Errorf("record samples: %w", err)
	}
	if err := writeJSON(samplesPath(r.Dir, unit.job), savedSamples{unit.key.Description(), samples}); err != nil {
		return err
	}
	name := profileUnitName(unit.job)
	err = r.cache.put(unit.key, entry{
		Stage: "profile", Unit: name, Description: unit.key.Description(),
		Created: time.Now(), Seconds: took.Seconds(),
	}, raw)
	if err != nil {
		return err
	}
	r.state.samples[unit.key.Hash()] = samples
	return r.journal.add(JournalEntry{Event: "sample", Unit: unit.job.Name, Seconds: took.Seconds(), Key: unit.key.Hash()})
}

// estimate fits the samples and writes estimates.csv.
func (r *run) estimate() error {
	var rows []results.EstimateRow
	seen := map[string]bool{}
	for _, c := range r.spec.Cells {
		for _, j := range jobsOf(c) {
			if !r.sampled(c.Hardware, j) {
				continue
			}
			id := fmt.Sprint(r.profileHash(j), length(j), c.Hardware.Name)
			samples, ok := r.state.samples[r.profileHash(j)]
			if !ok || seen[id] {
				continue
			}
			seen[id] = true
			_, row, err := estimate.Fit(r.estimateJob(j, c.Hardware.Name, samples))
			if err != nil {
				r.warn("no_estimate", "", err.Error())
				continue
			}
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return results.WriteEstimates(r.Dir, rows)
}

// estimateOf is the fitted estimate of a job on its full request, if its
// samples are there.
func (p *Plan) estimateOf(j *experiments.Job) (estimator.Estimate, bool) {
	samples, ok := p.state.samples[p.profileHash(j)]
	if !ok {
		return estimator.Estimate{}, false
	}
	est, _, err := estimate.Fit(p.estimateJob(j, "", samples))
	return est, err == nil
}

func (p *Plan) estimateJob(j *experiments.Job, hardware string, samples []estimator.Sample) estimate.Job {
	return estimate.Job{
		Name: j.Name, Hardware: hardware, Threads: j.Threads.Request, GPUs: j.GPUs, Length: length(j),
		Model: p.spec.Estimate.Model, Level: p.spec.Estimate.Level, Samples: samples,
	}
}
