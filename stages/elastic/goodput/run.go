package goodput

import (
	"cmp"
	"math"
	"slices"
)

// MeasuredRun is a training in progress. It knows its speed from its own measurements only.
type MeasuredRun struct {
	Program *MeasuredProgram
	// Batch is the size that its user asked for; 0 leaves it to the goodput.
	Batch int

	epoch    int     // under way, from 0
	progress float64 // in steps of the first batch size
	now      Config
	nodes    []int   // GPUs by node, above 0; nil while it has none
	speed    float64 // of these GPUs, in times of those that were measured

	profile  []Measurement
	measured map[[3]int]bool // nodes, GPUs, local batch size
	most     int             // GPUs that it has run on
	model    Model
	known    bool // the model is there
	fitted   int  // number of measurements in the fit
	table    map[sized]float64
}

// sized is a number of GPUs with their speed relative to the measured GPUs.
type sized struct {
	nodes, gpus int
	speed       float64
}

// NewMeasuredRun returns a run that has not started.
func NewMeasuredRun(p *MeasuredProgram, batch int) *MeasuredRun {
	return &MeasuredRun{Program: p, Batch: batch, measured: map[[3]int]bool{}, table: map[sized]float64{}, speed: 1}
}

// Epoch returns how many epochs are done.
func (r *MeasuredRun) Epoch() int { return r.epoch }

// Done reports whether all epochs are.
func (r *MeasuredRun) Done() bool { return r.epoch >= r.Program.Epochs }

// Now returns its present configuration.
func (r *MeasuredRun) Now() Config { return r.now }

// MostGPUs returns the greatest number of GPUs that it has run on.
func (r *MeasuredRun) MostGPUs() int { return r.most }

// Place gives the run GPUs by node and chooses its batch; speed is relative to the
// measured GPUs. An empty nodes takes the GPUs away.
func (r *MeasuredRun) Place(nodes []int, speed float64) {
	r.speed = speed
	r.nodes = slices.DeleteFunc(slices.Clone(nodes), func(n int) bool { return n == 0 })
	if len(r.nodes) == 0 {
		r.nodes = nil
		return
	}
	r.choose()
	r.measure()
}

// choose sets the batch.
func (r *MeasuredRun) choose() {
	nodes, gpus := len(r.nodes), 0
	for _, n := range r.nodes {
		gpus += n
	}
	l := &r.Program.Limits
	batch := r.Batch
	if batch == 0 && r.known {
		if best, goodput := r.on(r.speed).Best(nodes, gpus); goodput > 0 {
			r.now = best
			r.now.Local = min(r.now.Local, l.Most/(gpus*(r.now.Accumulation+1)))
			return
		}
	}
	if batch == 0 {
		batch = max(l.First, l.Least*gpus)
	}
	r.now = FixedProgram(batch, nodes, gpus, l)
}

// FixedProgram divides a batch over GPUs, within the greatest batch of all.
func FixedProgram(batch, nodes, gpus int, l *Limits) Config {
	c := Split(float64(batch), nodes, gpus, l)
	c.Local = max(min(c.Local, l.Most/(gpus*(c.Accumulation+1))), 1)
	return c
}

// measure records the present time of steps, and the gradient's noise.
func (r *MeasuredRun) measure() {
	r.model.Limits = r.Program.Limits
	if noise := r.noise(); noise != r.model.Noise {
		r.model.Noise = noise
		clear(r.table)
	}
	r.most = max(r.most, r.now.GPUs)
	key := [3]int{r.now.Nodes, r.now.GPUs, r.now.Local}
	if r.measured[key] {
		return
	}
	r.measured[key], r.known = true, true
	step, sync := r.Program.Step(r.nodes, r.now.Local)
	r.profile = append(r.profile, Measurement{
		Nodes: r.now.Nodes, GPUs: r.now.GPUs, Local: r.now.Local, Gradient: step - sync, Step: step,
	})
}

func (r *MeasuredRun) noise() Noise {
	return r.Program.Noise(r.now.Batch(), min(r.epoch, r.Program.Epochs-1))
}

// Model returns the run's model of its goodput; nil before it has run.
func (r *MeasuredRun) Model() *Model {
	if !r.known {
		return nil
	}
	if r.fitted < len(r.profile) {
		r.model.Params, r.fitted = Fit(r.profile), len(r.profile)
		clear(r.table)
	}
	return &r.model
}

// on returns the model on GPUs with a speed relative to the measured GPUs.
func (r *MeasuredRun) on(speed float64) *Model {
	m := r.Model()
	if m == nil || speed == 1 {
		return m
	}
	faster := *m
	faster.Params = m.Params.On(speed)
	return &faster
}

// Goodput returns the greatest goodput that the run expects on the given GPUs, with a speed
// relative to the measured GPUs; 0 before it has run.
func (r *MeasuredRun) Goodput(nodes, gpus int, speed float64) float64 {
	m := r.on(speed)
	if m == nil || gpus == 0 {
		return 0
	}
	key := sized{nodes, gpus, speed}
	v, ok := r.table[key]
	if !ok {
		_, v = m.Best(nodes, gpus)
		r.table[key] = v
	}
	return v
}

// Rate returns how fast the run makes progress, in steps of the first batch size a second.
func (r *MeasuredRun) Rate() float64 {
	step, sync := r.Program.StepOn(r.nodes, r.now.Local, r.speed)
	scale := float64(r.now.Batch()) / float64(r.Program.Limits.First)
	return r.noise().Gain(scale) / (step + float64(r.now.Accumulation)*(step-sync))
}

// Left returns the seconds to the end of the epoch, if nothing changes until then.
func (r *MeasuredRun) Left() float64 {
	if r.Done() {
		return 0
	}
	return (r.Program.Work(r.epoch+1) - r.progress) / r.Rate()
}

// Remaining returns the rest of the whole training after passed more seconds at the present rate. It is in seconds on
// one GPU with the first batch size, independent of the present GPUs.
func (r *MeasuredRun) Remaining(passed float64) float64 {
	if r.Done() {
		return 0
	}
	left := r.Program.Work(r.Program.Epochs) - r.progress
	if passed > 0 {
		left -= passed * r.Rate()
	}
	step, _ := r.Program.Step([]int{1}, r.Program.Limits.First)
	return left * step
}

// StepTime returns the time of a step on a placement with the batch that the user asked
// for, or the first; on one GPU with at least one accumulation. In seconds.
func (r *MeasuredRun) StepTime(placement []int) float64 {
	gpus := 0
	for _, n := range placement {
		gpus += n
	}
	l := r.Program.Limits
	batch := r.Batch
	batch = cmp.Or(batch, l.First)
	c := FixedProgram(batch, len(placement), gpus, &l)
	if gpus == 1 && c.Accumulation == 0 {
		c.Accumulation = 1
		c.Local = min((batch+1)/2, l.Most/2)
	}
	step, sync := r.Program.Step(placement, c.Local)
	return step + float64(c.Accumulation)*(step-sync)
}

// Advance continues the run for a time within its epoch.
func (r *MeasuredRun) Advance(seconds float64) {
	if !r.Done() {
		r.progress = min(r.progress+seconds*r.Rate(), r.Program.Work(r.epoch+1))
		r.again()
	}
}

// NextEpoch ends the epoch, and chooses the batch of the next.
func (r *MeasuredRun) NextEpoch() {
	r.epoch++
	r.progress = r.Program.Work(min(r.epoch, r.Program.Epochs))
	if !r.Done() {
		r.again()
	}
}

// again chooses the batch again.
func (r *MeasuredRun) again() {
	r.measure()
	r.choose()
}

// Steps returns how many steps with the batch that the user asked for are left; at
// least 1.
func (r *MeasuredRun) Steps() float64 {
	last := r.Program.Epochs - 1
	if r.epoch >= last {
		return 1
	}
	batch := r.Batch
	batch = cmp.Or(batch, r.Program.Limits.First)
	return math.Max(r.Program.Iterations(batch, last)-r.Program.Iterations(batch, r.epoch), 1)
}
