// Package instantiate turns an experiment into plain values: the cells of its matrix
// with their keys, and the samples that estimates need. Each cell has its jobs
// with the estimates of its policy, their work in simulation and their true run
// times, and the programs of real jobs. It is the only package that knows both
// the language of experiments and the scheduler with its engines: all later
// packages work on plain values.
package instantiate

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tfexp/tfexp/stages/experiment"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/stages"
)

// Experiment is an experiment on a machine, with the measurements of its jobs.
type Experiment struct {
	// Spec is the experiment as its file has it, Host the machine.
	Spec *experiment.Spec
	Host hardware.Machine

	self string // the path of tfexp, for its programs
	base string // the experiment's folder
	// places has the jobs whose hardware is not simply this machine.
	places map[*experiment.Job]*place
	// images has the identities of images on each hardware, once they have been found.
	images map[imageOn]string
	// added are the points of cells beyond the matrix.
	added []point
	// units are the jobs to sample, and sampledJob has their job blocks. families has the units of each program, as
	// indexes into units, in the order of their threads.
	units      []*stages.Unit
	sampledJob map[*stages.Unit]*experiment.Job
	families   map[string][]int
	// beyond are the points that stages add, with the places where they run, by their origin.
	beyond map[beyondAt]point

	known
}

// known has the facts about the jobs of an experiment that are not in its file. Measurements are set before cells are
// used; cells may then be instantiated concurrently.
type known struct {
	// samples are by the hash of their unit's key. History has the run times of jobs in the past.
	samples map[string][]estimator.Sample
	History []estimator.Run

	mu sync.Mutex // guards what follows
	// corrections have learned from real cells that have finished, by hardware.
	corrections map[string]*estimator.Corrections
	// fits are made from the measurements. made caches other results, by their inputs: key lines, addresses and
	// digests; and drawn workloads, which the cells of a replicate share, with their total number of jobs.
	fits  map[fitKey]func() fit
	made  map[any]any
	drawn map[drawnKey]func() (jobList, error)
	jobs  int
}

// once returns the result of work for a key; work is called once.
func once[K comparable, V any](k *known, key K, work func() V) V {
	k.mu.Lock()
	v, ok := k.made[key]
	if !ok {
		v = sync.OnceValue(work)
		k.made[key] = v
	}
	k.mu.Unlock()
	return v.(func() V)()
}

// New prepares an experiment for a machine.
func New(spec *experiment.Spec, host hardware.Machine) (*Experiment, error) {
	self, err := hardware.Program()
	if err != nil {
		return nil, fmt.Errorf("find tfexp's own program: %w", err)
	}
	base, err := filepath.Abs(filepath.Dir(spec.File))
	if err != nil {
		return nil, fmt.Errorf("find the experiment's folder: %w", err)
	}
	x := &Experiment{
		Host: host, self: self, base: base,
		images: map[imageOn]string{}, families: map[string][]int{},
		sampledJob: map[*stages.Unit]*experiment.Job{}, beyond: map[beyondAt]point{},
		known: known{
			samples: map[string][]estimator.Sample{}, corrections: map[string]*estimator.Corrections{},
			fits: map[fitKey]func() fit{}, made: map[any]any{}, drawn: map[drawnKey]func() (jobList, error){},
		},
	}
	x.Spec, x.places = placed(spec)
	return x, nil
}

// File implements stages.Experiment.
func (x *Experiment) File() *experiment.Spec { return x.Spec }

// Settings are the values of the blocks that a stage brings.
func (x *Experiment) Settings(stage string) []schema.Settings { return x.Spec.Stages[stage] }

// usesHistory reports whether a model uses past runs.
func usesHistory(model string) bool { return model == "auto" || model == "history" }

// UsesHistory reports whether a model of the experiment uses past runs.
func (x *Experiment) UsesHistory() bool {
	return len(x.units) > 0 && slices.ContainsFunc(x.models(), usesHistory)
}

// SetHistory makes past runs known to the estimates.
func (x *Experiment) SetHistory(runs []estimator.Run) {
	x.History = runs
	clear(x.fits)
}

// Samples returns the samples with a hash, if they are known.
func (x *Experiment) Samples(hash string) ([]estimator.Sample, bool) {
	s, ok := x.samples[hash]
	return s, ok
}

// SetSamples makes the samples of a unit known, or with nil unknown; fits
// without them are dropped. Cells must not be instantiated at the same time.
func (x *Experiment) SetSamples(hash string, samples []estimator.Sample) {
	x.samples[hash] = samples
	if samples == nil {
		delete(x.samples, hash)
	}
	clear(x.fits)
}
