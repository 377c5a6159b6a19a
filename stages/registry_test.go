package stages

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/stages/experiment"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
)

func TestRegistry(t *testing.T) {
	defer func(before schema.Registry[*Stage]) { *registry = before }(*registry)
	*registry = *schema.NewRegistry("stage", func(s *Stage) string { return s.Name }, schema.Unranked)
	for _, s := range []*Stage{
		stage("run", []Artifact{"plan"}, []Artifact{Cells}), stage("plan", nil, []Artifact{"plan"}),
		stage("sum", []Artifact{Cells, RunSummary}, []Artifact{Tables}), stage("add", []Artifact{Cells, "added"}, []Artifact{Tables, "added"}),
		stage("show", []Artifact{Tables}, []Artifact{Report}),
	} {
		Register(s)
	}
	if s := Find("plan"); s == nil || s.Name != "plan" || Find("nothing") != nil {
		t.Errorf("found %v and %v", s, Find("nothing"))
	}
	for artifact, want := range map[Artifact]string{Tables: "add", Cells: "run", Twins: ""} {
		if got := Writer(artifact); got != want {
			t.Errorf("%s is written by %q, want %q", artifact, got, want)
		}
	}
	for name, want := range map[string]bool{"plan": false, "run": false, "sum": true, "add": false, "show": true} {
		if got := AfterEnding(Find(name)); got != want {
			t.Errorf("%s comes after the ending: %t", name, got)
		}
	}
	if all, err := Order(); err != nil || len(all) != 5 || all[0].Name != "plan" || all[4].Name != "show" {
		t.Errorf("ordered: %v, %v", all, err)
	}
	for want, s := range map[string]*Stage{
		`stage "run" is registered twice`: stage("run", nil, []Artifact{"x"}), `or has no name`: stage("", nil, []Artifact{"x"}),
		`stage "a" lacks`: stage("a", nil, nil), `stage "b" lacks`: {Name: "b", Writes: []Artifact{"x"}},
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, want) {
					t.Errorf("%q, want %q", text, want)
				}
			}()
			Register(s)
		}()
	}
}

func TestSmallThings(t *testing.T) {
	cause := errors.New("killed")
	err := error(&SamplesFailed{Job: "a", Cause: cause})
	if err.Error() != "every sample of job a failed: killed" || !errors.Is(err, cause) {
		t.Error(err)
	}
	err = &SamplesFailed{Job: "a", Cause: cause, Log: "x\ny"}
	if err.Error() != "every sample of job a failed: killed; its last lines:\n  │ x\n  │ y" {
		t.Error(err)
	}
	r := &Run{}
	if r.TakeMade() != 1 {
		t.Error("a stage that says nothing has not made one thing")
	}
	if r.Made(7); r.TakeMade() != 7 || r.TakeMade() != 1 {
		t.Error("what was made is not taken once")
	}
	if (&Unit{Steps: true}).LengthUnit() != "steps" || (&Unit{}).LengthUnit() != "epochs" {
		t.Error("units are called otherwise")
	}
	if seen := SeenBy(&record.Cell{Estimated: []record.Estimated{{}}}); len(seen.Estimated) != 1 {
		t.Errorf("%+v", seen)
	}
}

// The run time alone follows from the work of an alternative, the noise and the budget.
func TestAloneOn(t *testing.T) {
	w := simulated.Scaling{}
	w.AddAlternative(simulated.FullRequest(time.Hour, 4))
	w.AddAlternative(simulated.FullRequest(time.Minute, 2))
	task := Task{Simulation: &Simulation{Work: []simulated.Scaling{{}, w}}}
	task.Setup.Jobs = []scheduler.Job{{}, {Name: "j", Special: &scheduler.Special{Alternatives: []scheduler.Alternative{{Threads: 4}, {Threads: 1}}}}}
	for alternative, want := range []time.Duration{time.Hour, 2 * time.Minute} {
		if got := task.AloneOn(1, alternative); got != want {
			t.Errorf("alternative %d takes %s, want %s", alternative, got, want)
		}
	}
	budget := 10 * time.Minute
	task.Setup.Jobs[1].Special.Budget = &budget
	if first, second := task.AloneOn(1, 0), task.AloneOn(1, 1); first != budget || second != 2*time.Minute {
		t.Errorf("with a budget: %s and %s", first, second)
	}
	task.Setup.Jobs[1].Special.Budget = nil
	task.Simulation.Options = simulated.Options{Noise: 0.5, Seed: 3}
	if got, want := task.AloneOn(1, 0), time.Duration(float64(time.Hour)*task.Simulation.Options.Factor("j")); got != want || got == time.Hour {
		t.Errorf("with noise %s, want %s", got, want)
	}
}

// A property of jobs has the name of its block. A job may lack it.
func TestProperties(t *testing.T) {
	p := RegisterProperty(Property{
		Block:   &schema.Block{Name: "colour", Single: true, Doc: "Colour."},
		Request: func(v schema.Settings, j *scheduler.Job) { j.Class = v.Label },
	})
	has := &experiment.Job{Parts: experiment.Parts{property{p, schema.Settings{Name: "colour", Label: "red"}}}}
	if v, ok := p.Of(has); !ok || v.Label != "red" {
		t.Errorf("%+v, %t", v, ok)
	}
	if _, ok := p.Of(&experiment.Job{}); ok {
		t.Error("a job has what it lacks")
	}
	var j scheduler.Job
	experiment.EachPart(has.Parts, func(r experiment.RequestPart) { r.Request(&j) })
	experiment.EachPart(has.Parts, func(w WorkPart) { w.Work(nil) })
	if j.Class != "red" {
		t.Errorf("%+v", j)
	}
	defer func() {
		if recover() == nil {
			t.Error("two properties of one name")
		}
	}()
	RegisterProperty(*p)
}
