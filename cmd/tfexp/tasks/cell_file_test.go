package tasks

import (
	"bytes"
	"encoding/gob"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
)

// A cell that is written and read has the same work: speed-ups, alternatives, predictions, and divided cores.
func TestWrittenCells(t *testing.T) {
	work := func(power int) simulated.Scaling {
		return simulated.Scaling{Scaled: time.Minute, Threads: 2, SpeedUp: func(threads int) float64 { return float64(threads * power) }}
	}
	ways := simulated.Scaling{Scaled: time.Hour}
	ways.AddAlternative(work(1))
	ways.AddAlternative(simulated.Scaling{Scaled: time.Second, Parallel: 1})
	large := work(2)
	large.Threads = 9
	task := stages.Task{
		Simulation: &stages.Simulation{Work: []simulated.Scaling{work(1), ways, work(2)}},
		Online:     &stages.Online{Work: []simulated.Scaling{work(1)}, Units: []int{5}}, Speeds: []simulated.Scaling{large},
	}
	task.Setup.Cluster.Nodes = []scheduler.Node{{Threads: 2}, {Threads: 3}}
	task.Setup.Jobs = []scheduler.Job{{Threads: 1, MaxThreads: 7}}
	var b bytes.Buffer
	if err := writeTask(&b, task, "the key"); err != nil {
		t.Fatal(err)
	}
	raw := b.Bytes()
	read, key, err := readTask(bytes.NewReader(raw))
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
	// A table is written once, even if many jobs use it.
	var w written
	if err := gob.NewDecoder(bytes.NewReader(raw)).Decode(&w); err != nil || len(w.Speeds) != 3 ||
		!slices.Equal(w.Speed, []int{0, -1, 0, -1, 1, 0, 2}) {
		t.Errorf("%d tables for %v, %v", len(w.Speeds), w.Speed, err)
	}
	for what, edit := range map[string]func(*written){
		"another version":                func(w *written) { w.Version++ },
		"its file lacks the speed-up":    func(w *written) { w.Speed = w.Speed[:2] },
		"lacks the speed-up of its jobs": func(w *written) { w.Speeds = w.Speeds[:2] },
	} {
		other := w
		edit(&other)
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(&other); err != nil {
			t.Fatal(err)
		}
		if _, _, err := readTask(&b); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %q", err, what)
		}
	}
	if _, _, err := readTask(bytes.NewReader(raw[:len(raw)/2])); err == nil {
		t.Error("half a cell is read")
	}
	if err := writeTask(&b, stages.Task{Parts: []stages.TaskPart{here{}}}, ""); !errors.Is(err, errHere) {
		t.Errorf("with a part that cannot be written down: %v", err)
	}
	elastic := &stages.Simulation{Work: []simulated.Scaling{{}, {Special: &simulated.Special{Begin: func() simulated.Course { return nil }}}, {}}}
	if err := writeTask(&b, stages.Task{Simulation: elastic}, ""); !errors.Is(err, errCourse) {
		t.Errorf("with an elastic job: %v", err)
	}
}

var errHere = errors.New("it runs here alone")

// here is a part of a task that cannot be written.
type here struct{ stages.TaskPart }

func (here) GobEncode() ([]byte, error) { return nil, errHere }
func (here) GobDecode([]byte) error     { return errHere }

func init() { gob.Register(here{}) }

func TestArguments(t *testing.T) {
	for text, want := range map[string][3]string{
		"--partition=long": {"partition", "long", "ok"}, "exclusive": {"exclusive", "", "ok"}, "-p=a=b": {"p", "a=b", "ok"},
		"": {"", "", ""}, "--": {"", "", ""}, "=x": {"", "x", ""}, "a b=c": {"a b", "c", ""}, "a\tb": {"a\tb", "", ""},
	} {
		name, value, ok := argument(text)
		if name != want[0] || value != want[1] || ok != (want[2] == "ok") {
			t.Errorf("%q is %q, %q, %t", text, name, value, ok)
		}
	}
}
