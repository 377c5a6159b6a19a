package execute

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
)

// virtual is an engine whose simulated jobs can be given other work.
type virtual interface {
	Attend(jobs []bool, units []int, say simulated.Reported) error
	Change(job int, w simulated.Work) error
	Restart(job int) error
}

// helm reaches the jobs of a cell for their controllers. It implements scheduler.Helm.
type helm struct {
	task  *stages.Task
	of    []*steeredJob  // by job; nil for one without a controller
	real  engine.Changer // of a real cell; else nil
	sim   virtual
	heard error // of the engine, while there was nobody to tell
}

// steeredJob is a job with its controller, at its present settings.
type steeredJob struct {
	stages.Steered
	now      stages.Variant
	settings []scheduler.Setting
	standing contract.Message // what its control file says
}

// steer joins the controllers of a cell to its jobs; nil where it has none. The reports
// that they see, and what they decide, go to the log.
func steer(t *stages.Task, on scheduler.Engine) (*scheduler.Steering, *decisions, error) {
	if len(t.Steered) == 0 {
		return nil, nil, nil
	}
	n := len(t.Setup.Jobs)
	h := &helm{task: t, of: make([]*steeredJob, n)}
	s := &scheduler.Steering{
		Controllers: make([]scheduler.Controller, n), Settings: make([][]scheduler.Setting, n), Helm: h,
	}
	log := &decisions{jobs: t.Setup.Jobs, of: make([]*deciding, n)}
	h.real, _ = on.(engine.Changer)
	h.sim, _ = on.(virtual)
	if h.real == nil && h.sim == nil {
		return nil, nil, errors.New("there are controllers beside its jobs, and its engine cannot change jobs that run")
	}
	made := map[string]scheduler.Controller{} // those of one run of one cell are shared by its jobs
	for i := range t.Steered {
		x := &t.Steered[i]
		choice, ok := scheduler.FindController(x.Controller)
		if !ok {
			return nil, nil, fmt.Errorf("there is no controller %q", x.Controller)
		}
		id := fmt.Sprint(x.Controller, x.Options)
		c := made[id]
		if c == nil {
			var err error
			if c, err = choice.New(x.Options); err != nil {
				return nil, nil, fmt.Errorf("controller %q: %w", x.Controller, err)
			}
			made[id] = c
		}
		j := &steeredJob{Steered: *x, settings: x.Settings}
		if x.At != nil {
			var err error
			if j.now, err = x.At(x.Settings); err != nil {
				return nil, nil, err
			}
		}
		log.of[x.Job] = &deciding{controller: x.Controller, asked: c}
		h.of[x.Job], s.Controllers[x.Job], s.Settings[x.Job] = j, log.of[x.Job], x.Settings
	}
	return s, log, nil
}

// Follow implements scheduler.Helm.
func (h *helm) Follow(jobs []bool) {
	if h.real != nil {
		h.real.Attend(jobs)
		return
	}
	units := make([]int, len(jobs))
	for i, j := range h.of {
		if j != nil {
			units[i] = j.Units
		}
	}
	h.heard = h.sim.Attend(jobs, units, func(job, units int) scheduler.ReportedProgress {
		j := h.of[job]
		at := func(values []float64) float64 {
			if units > len(values) {
				return math.NaN()
			}
			return values[units-1]
		}
		p := scheduler.ReportedProgress{Epoch: units, Loss: at(j.Losses), Accuracy: at(j.Accuracies), Seconds: math.NaN()}
		if j.Steps {
			p.Epoch, p.Step = 0, units
		}
		return p
	})
}

// Adopt implements scheduler.Helm.
func (h *helm) Adopt(job int, settings []scheduler.Setting, restart bool) (scheduler.Adopted, error) {
	j := h.of[job]
	switch {
	case h.heard != nil:
		return scheduler.Adopted{}, h.heard
	case j.At == nil:
		return scheduler.Adopted{}, errors.New("the settings of the job do not change")
	}
	next, err := j.At(settings)
	if err != nil {
		return scheduler.Adopted{}, err
	}
	asking := h.task.Setup.Jobs[job]
	if asking.Threads, asking.Own().Roles = next.Threads, next.Roles; !asking.CouldRun(h.task.Setup.Cluster, false) {
		return scheduler.Adopted{}, fmt.Errorf("with these settings the job asks for more than the hardware has (%s)",
			asking.Demand())
	}
	if h.real == nil {
		if !sameWork(&j.now.Work, &next.Work) {
			if err := h.sim.Change(job, &next.Work); err != nil {
				return scheduler.Adopted{}, err
			}
		}
	} else {
		restart = restart || !h.live(j, &next, settings)
		if err := h.real.Change(job, next.Launch); err != nil {
			return scheduler.Adopted{}, err
		}
		if told := j.values(settings, next.Live); len(told) > 0 {
			j.standing.Settings = told
			if err := h.real.Tell(job, j.standing); err != nil {
				return scheduler.Adopted{}, err
			}
		}
	}
	j.now, j.settings = next, settings
	return scheduler.Adopted{Threads: next.Threads, Roles: next.Roles, Restart: restart}, nil
}

// sameWork reports whether a job takes as long on the same grant.
func sameWork(a, b *simulated.Scaling) bool {
	if (a.SpeedUp == nil) != (b.SpeedUp == nil) {
		return false
	}
	x, y := *a, *b
	x.SpeedUp, y.SpeedUp = nil, nil
	if !reflect.DeepEqual(x, y) {
		return false
	}
	for n := 1; a.SpeedUp != nil && n <= max(a.Threads, b.Threads, 64); n++ {
		if a.SpeedUp(n) != b.SpeedUp(n) {
			return false
		}
	}
	return true
}

// live reports whether a program takes on all that changes while it runs: settings that
// it reads from its control file, the threads of a malleable job, and the number of its
// parts where they come and go.
func (h *helm) live(j *steeredJob, next *stages.Variant, settings []scheduler.Setting) bool {
	from, to := j.now.Launch, next.Launch
	malleable := h.task.Setup.Jobs[j.Job].Malleable
	if !malleable && next.Threads != j.now.Threads && len(next.Roles) == 0 {
		return false
	}
	if len(next.Roles) != len(j.now.Roles) {
		return false
	}
	for i, r := range next.Roles {
		was := j.now.Roles[i]
		if n := r.Count; n != was.Count && (!r.Elastic || n < r.Min || n > was.Most()) {
			return false
		}
		if r.Count = was.Count; r != was {
			return false
		}
	}
	var changed []string
	for _, s := range settings {
		if !slices.Contains(j.settings, s) && slices.Contains(next.Live, s.Name) {
			changed = append(changed, s.Name)
		}
	}
	if len(changed) > 0 { // their flags differ; what else differs is told by the job without these changes
		mixed := slices.Clone(settings)
		for i, s := range mixed {
			if k := slices.IndexFunc(j.settings, func(o scheduler.Setting) bool { return o.Name == s.Name }); k >= 0 &&
				slices.Contains(changed, s.Name) {
				mixed[i] = j.settings[k]
			}
		}
		rest, err := j.At(mixed)
		if err != nil {
			return false
		}
		to.Argv, to.ContainerArgv, to.Env = rest.Launch.Argv, rest.Launch.ContainerArgv, rest.Launch.Env
	}
	to.Threads, to.Inter, to.Intra, to.Roles = from.Threads, from.Inter, from.Intra, from.Roles
	return reflect.DeepEqual(from, to)
}

// values are the settings that a control file has, as JSON.
func (j *steeredJob) values(settings []scheduler.Setting, live []string) map[string]json.RawMessage {
	told := map[string]json.RawMessage{}
	for _, s := range settings {
		if !slices.Contains(live, s.Name) {
			continue
		}
		text := []byte(s.Value)
		if !json.Valid(text) {
			text = []byte(strconv.Quote(s.Value))
		}
		told[s.Name] = text
	}
	return told
}

// Deepen implements scheduler.Helm.
func (h *helm) Deepen(job, block int) error {
	if h.real == nil {
		return errors.New("a simulated job has no network to deepen")
	}
	j := h.of[job]
	j.standing = j.standing.Asking(contract.Message{Deepen: &block})
	return h.real.Tell(job, j.standing)
}

// Restart implements scheduler.Helm.
func (h *helm) Restart(job int) error {
	if h.real != nil {
		return h.real.Restart(job)
	}
	return h.sim.Restart(job)
}
