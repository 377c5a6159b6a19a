// Package realise turns an experiment into plain values: the cells of its
// matrix with their keys, the jobs of each with the estimates that its policy
// decides by, their work in simulation and their true run times, the programs of
// jobs that run for real, and the samples that estimates need. It is the only
// package that knows both the language of experiments and the scheduler with its
// engines: what comes after it works on plain values.
package realise

import (
	"sync"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/pipeline/realise/bounded"
	"github.com/tfexp/tfexp/pipeline/realise/drawn"
	"github.com/tfexp/tfexp/pipeline/realise/program"
	"github.com/tfexp/tfexp/scheduler/adaptation"
)

// Experiment is an experiment on a machine, with what is known of its jobs.
// Its samples and its history are set before its cells are worked with; cells may
// then be realised side by side.
type Experiment struct {
	spec     *experiments.Spec
	host     hardware.Machine
	programs *program.Programs
	// places has the jobs whose hardware is not simply this machine.
	places map[*experiments.Job]*program.Place
	// images has what images are on each hardware, once they have been found.
	images map[imageOn]string

	// cells are the points of the matrix with their replicates, in the order of
	// the file.
	cells []*Cell
	// added are the points of cells beyond the matrix.
	added []point
	// units are the jobs to sample; families has those of each program, as
	// indexes into units, in the order of their threads.
	units    []*Unit
	families map[string][]int

	// samples are by the hash of their unit's key, as far as they are known;
	// history is what jobs took in the past.
	samples map[string][]estimator.Sample
	history []estimator.Run
	// earlier are the speeds of this machine at moments of earlier runs.
	earlier []estimator.Moment

	learning sync.Mutex // guards corrections
	// corrections have learned from real cells that have finished, by hardware.
	corrections map[string]*estimator.Corrections

	// deepened are the points of the trainings of adaptations.
	deepened map[deepenedAt]point

	fitting sync.Mutex // guards fits
	fits    map[fitKey]fit
	hashing sync.Mutex // guards sampleHash
	// sampleHash has the hash of the key of each job's samples.
	sampleHash map[*experiments.Job]string

	keying sync.Mutex // guards lines
	// lines has the key lines of blocks.
	lines map[any][]string

	drawing sync.Mutex // guards drawn
	// drawn has realised workloads, shared by the cells of a replicate.
	drawn bounded.Map[drawnKey, drawn.Workload]
}

// New prepares an experiment for a machine.
func New(spec *experiments.Spec, host hardware.Machine) (*Experiment, error) {
	spec, places := program.Placed(spec)
	programs, err := program.New(spec.File, places)
	if err != nil {
		return nil, err
	}
	x := &Experiment{
		spec: spec, host: host, programs: programs, places: places, images: map[imageOn]string{},
		families:    map[string][]int{},
		samples:     map[string][]estimator.Sample{},
		fits:        map[fitKey]fit{},
		corrections: map[string]*estimator.Corrections{},
		sampleHash:  map[*experiments.Job]string{},
		lines:       map[any][]string{},
		deepened:    map[deepenedAt]point{},
		drawn:       bounded.Map[drawnKey, drawn.Workload]{Most: maxDrawn},
	}
	x.cells = expand(x)
	return x, nil
}

// Cells are the points of the matrix with their replicates, in the order of the
// file: all replicates of a point stand together.
func (x *Experiment) Cells() []*Cell { return x.cells }

// File is the experiment's file, Source its text, and Lenient is set when
// malformed lines of its traces were left out.
func (x *Experiment) File() string   { return x.spec.File }
func (x *Experiment) Source() []byte { return x.spec.Source }
func (x *Experiment) Lenient() bool  { return x.spec.Lenient }

// Studies are the adaptation blocks of the file.
func (x *Experiment) Studies() []*adaptation.Study { return x.spec.Adaptations }

// Settings are the values of the blocks that a stage brings.
func (x *Experiment) Settings(stage string) []schema.Settings { return x.spec.Stages[stage] }

// Host is the machine.
func (x *Experiment) Host() hardware.Machine { return x.host }

// Interpreters are the Pythons of this machine that run programs of real cells, outside containers.
func (x *Experiment) Interpreters() []string { return program.Interpreters(x.spec.Cells, jobsOf) }
