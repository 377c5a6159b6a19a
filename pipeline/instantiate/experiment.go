// Package instantiate turns an experiment into plain values: the cells of its matrix with their keys, and the samples
// that estimates need. A cell has its jobs with the estimates for its policy, their true run times and their work in
// simulation, and the programs of real jobs.
//
// Only this package uses both the experiment language and the scheduler with its engines. Later packages use its
// plain values.
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
	// Spec is the content of the experiment file; Host is the machine.
	Spec *experiment.Spec
	Host hardware.Machine

	self string // path of the tfexp program
	base string // folder of the experiment file
	// places has an entry for each job whose hardware is not simply this machine.
	places map[*experiment.Job]*place
	// images has the identities of the images that were found, by image and hardware.
	images map[imageOn]string
	// added are the points of cells outside the matrix.
	added []point
	// units are the jobs to sample, and sampledJob their job blocks, by name of the unit. families has the units of
	// each program, as indexes into units, ascending by threads.
	units      []*stages.Unit
	sampledJob map[*stages.Unit]*experiment.Job
	families   map[string][]int
	// beyond are the points that stages add, with their places, by origin.
	beyond map[beyondAt]point

	known
}

// known holds facts about jobs that are not in the experiment file. Measurements must be set before cells are used;
// cells may then be instantiated concurrently.
type known struct {
	// samples are by the hash of their unit's key. History holds run times of jobs in earlier runs.
	samples map[string][]estimator.Sample
	History []estimator.Run

	mu sync.Mutex // guards the fields below
	// corrections are computed from finished real cells, by hardware.
	corrections map[string]*estimator.Corrections
	// fits caches fits of the measurements. made caches other results by key lines, addresses and digests, and drawn
	// workloads, which the cells of a replicate share.
	fits  map[fitKey]func() fit
	made  map[any]any
	drawn map[drawnKey]func() (jobList, error)
	jobs  int
}

// once returns the result of work for a key. It calls work only the first time.
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

// Settings returns the settings of the blocks that a stage defines.
func (x *Experiment) Settings(stage string) []schema.Settings { return x.Spec.Stages[stage] }

// usesHistory reports whether a model uses run times of earlier runs.
func usesHistory(model string) bool { return model == "auto" || model == "history" }

// UsesHistory reports whether a model of the experiment uses run times of earlier runs.
func (x *Experiment) UsesHistory() bool {
	return len(x.units) > 0 && slices.ContainsFunc(x.models(), usesHistory)
}

// SetHistory sets the earlier runs for estimates.
func (x *Experiment) SetHistory(runs []estimator.Run) {
	x.History = runs
	clear(x.fits)
}

// Samples returns the samples whose unit's key has this hash, if they are known.
func (x *Experiment) Samples(hash string) ([]estimator.Sample, bool) {
	s, ok := x.samples[hash]
	return s, ok
}

// SetSamples sets the samples of a unit, or removes them if samples is nil, and drops the fits. Cells must not be
// instantiated at the same time.
func (x *Experiment) SetSamples(hash string, samples []estimator.Sample) {
	x.samples[hash] = samples
	if samples == nil {
		delete(x.samples, hash)
	}
	clear(x.fits)
}
