package stages

import (
	"bytes"
	"encoding/gob"
	"errors"
	"slices"
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
	for text, want := range map[string][3]string{
		"--partition=long": {"partition", "long", "ok"}, "exclusive": {"exclusive", "", "ok"}, "-p=a=b": {"p", "a=b", "ok"},
		"": {"", "", ""}, "--": {"", "", ""}, "=x": {"", "x", ""}, "a b=c": {"a b", "c", ""}, "a\tb": {"a\tb", "", ""},
	} {
		name, value, ok := BatchArgument(text)
		if name != want[0] || value != want[1] || ok != (want[2] == "ok") {
			t.Errorf("%q is %q, %q, %t", text, name, value, ok)
		}
	}
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
	seen := SeenBy(&record.Cell{Estimated: []record.Estimated{{}}, Speeds: []record.Speed{{}, {}}, Busy: 1,
		Taken: &record.Taken{Every: 2, Cores: []float64{0.5, 1.5}}})
	beyond := seen.Taken.Beyond(0.75)
	if len(seen.Moments) != 2 || len(seen.Estimated) != 1 || beyond.Mean != 0.25 || beyond.Every != 2*time.Second ||
		!slices.Equal(beyond.Cores, []float64{0, 0.75}) {
		t.Errorf("%+v", seen)
	}
}

// A cell that is written down has the same work when it is read: how jobs speed up, in alternatives, in predictions and
// where cores are divided.
func TestWrittenCells(t *testing.T) {
	work := func(power int) simulated.Scaling {
		return simulated.Scaling{Scaled: time.Minute, Threads: 2, SpeedUp: func(threads int) float64 { return float64(threads * power) }}
	}
	ways := simulated.Scaling{Scaled: time.Hour}
	ways.AddAlternative(work(1))
	ways.AddAlternative(simulated.Scaling{Scaled: time.Second, Parallel: 1})
	large := work(2)
	large.Threads = 9
	task := Task{
		Simulation: &Simulation{Work: []simulated.Scaling{work(1), ways, work(2)}},
		Online:     &Online{Work: []simulated.Scaling{work(1)}, Units: []int{5}}, Speeds: []simulated.Scaling{large},
	}
	task.Setup.Cluster.Nodes = []scheduler.Node{{Threads: 2}, {Threads: 3}}
	task.Setup.Jobs = []scheduler.Job{{Threads: 1, MaxThreads: 7}}
	var b bytes.Buffer
	if err := WriteTask(&b, task, "the key"); err != nil {
		t.Fatal(err)
	}
	raw := b.Bytes()
	read, key, err := ReadTask(bytes.NewReader(raw))
	if err != nil || key != "the key" || read.Online.Units[0] != 5 {
		t.Fatal(read, key, err)
	}
	for i, c := range []struct {
		work    simulated.Scaling
		threads int
		want    float64
	}{
		{read.Simulation.Work[0], 1, 1}, {read.Simulation.Work[0], 6, 6}, {read.Simulation.Work[0], 7, 7}, {read.Simulation.Work[0], 8, 7},
		{read.Simulation.Work[0], 0, 1}, {read.Simulation.Work[2], 3, 6}, {read.Simulation.Work[1].Alternatives()[0], 4, 4},
		{read.Online.Work[0], 5, 5}, {read.Speeds[0], 9, 18}, {read.Speeds[0], 10, 18},
	} {
		if got := c.work.SpeedUp(c.threads); got != c.want {
			t.Errorf("case %d: on %d threads %g times as fast, want %g", i, c.threads, got, c.want)
		}
	}
	if read.Simulation.Work[1].SpeedUp != nil || read.Simulation.Work[1].Alternatives()[1].SpeedUp != nil {
		t.Error("what had no speed-up has one")
	}
	// A table is written once, however many jobs it is of.
	var w written
	if err := gob.NewDecoder(bytes.NewReader(raw)).Decode(&w); err != nil || len(w.Speeds) != 3 ||
		!slices.Equal(w.Speed, []int{0, -1, 0, -1, 1, 0, 2}) {
		t.Errorf("%d tables for %v, %v", len(w.Speeds), w.Speed, err)
	}
	for what, edit := range map[string]func(*written){
		"another version":     func(w *written) { w.Version++ },
		"how its jobs speed":  func(w *written) { w.Speed = w.Speed[:2] },
		"lacks how its jobs ": func(w *written) { w.Speeds = w.Speeds[:2] },
	} {
		other := w
		edit(&other)
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(&other); err != nil {
			t.Fatal(err)
		}
		if _, _, err := ReadTask(&b); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %q", err, what)
		}
	}
	if _, _, err := ReadTask(bytes.NewReader(raw[:len(raw)/2])); err == nil {
		t.Error("half a cell is read")
	}
	if err := WriteTask(&b, Task{Parts: []TaskPart{here{}}}, ""); !errors.Is(err, errHere) {
		t.Errorf("with a part that cannot be written down: %v", err)
	}
	elastic := &Simulation{Work: []simulated.Scaling{{}, {Special: &simulated.Special{Begin: func() simulated.Course { return nil }}}, {}}}
	if err := WriteTask(&b, Task{Simulation: elastic}, ""); !errors.Is(err, ErrCourse) {
		t.Errorf("with an elastic job: %v", err)
	}
}

var errHere = errors.New("it runs here alone")

// here is a part of a task that cannot be written down.
type here struct{ TaskPart }

func (here) GobEncode() ([]byte, error) { return nil, errHere }
func (here) GobDecode([]byte) error     { return errHere }

func init() { gob.Register(here{}) }

// How long a job takes alone follows from the work of its alternative, the noise and its budget.
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

// A property of jobs is known by the name of its block; jobs have it or not.
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
