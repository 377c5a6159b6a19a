package record

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/control"
)

// Decisions come back from the folder of their cell; unknown values stay unknown.
func TestControls(t *testing.T) {
	e := &Experiment{Dir: t.TempDir()}
	dir := filepath.Join(e.Dir, CellsDir, "c")
	if rows, err := Controls.Read(e.Dir, CellsDir, "c"); rows != nil || err != nil {
		t.Errorf("%v, %v", rows, err)
	}
	if _, err := Controls.Write(dir, nil); err == nil {
		t.Error("a table in no folder")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	rows := []ControlRow{{At: 1.5, Job: "j", Controller: "tuner", Epoch: 2, Step: 3, Loss: 4, Accuracy: 5, Used: 6, Left: 7, Threads: 8,
		GPUs: 9, Settings: "a=1 b=2", After: "a=2", Action: "change", How: "restart", Remaining: 10, Low: 11, High: 12, Gain: 13,
		Cost: 14, Sure: 0.5, ActualRemaining: 15, ActualGain: 16, ActualCost: 17, Took: "yes", Probabilities: "0.1 0.9",
		AccuracyBefore: 18, AccuracyAfter: 19, Reason: `it "pays", says the model`},
		{At: 2, Job: "k", Loss: nan, Accuracy: nan, Used: nan, Left: nan, Remaining: nan, Low: nan, High: nan, Gain: nan, Cost: nan,
			Sure: nan, ActualRemaining: nan, ActualGain: -1, ActualCost: nan, AccuracyBefore: nan, AccuracyAfter: nan}}
	file, err := Controls.Write(dir, rows)
	info, serr := os.Stat(filepath.Join(dir, Controls.File))
	if err := errors.Join(err, serr); err != nil || file.Name != Controls.File || file.Size != info.Size() {
		t.Errorf("%+v, %v", file, err)
	}
	of, err := Controls.Read(e.Dir, CellsDir, "c")
	in, err2 := Controls.Read(dir)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(rows, of, cmpopts.EquateNaNs()) + cmp.Diff(rows, in, cmpopts.EquateNaNs()); d != "" {
		t.Error(d)
	}
}

// Lines of nodes, of jobs that moved, and of decisions of controllers.
func TestLinesByHand(t *testing.T) {
	nodes := []scheduler.Node{{Name: "a"}, {Name: "b"}}
	server := &scheduler.Server{Market: "spot", Created: 1500 * time.Millisecond}
	for _, c := range []struct {
		e    scheduler.Event
		want string
	}{
		{scheduler.Event{At: time.Second, Kind: scheduler.NodeRequest, Node: 1, Server: server}, `{"t_s":1,"event":"node_request","node":"b","market":"spot","created_s":1.5}`},
		{scheduler.Event{Kind: scheduler.NodeStart}, `{"t_s":0,"event":"node_up","node":"a"}`},
		{scheduler.Event{Kind: scheduler.NodeWarning, Until: 2 * time.Second}, `{"t_s":0,"event":"node_warned","node":"a","until_s":2,"reason":"until 2s"}`},
		{scheduler.Event{Kind: scheduler.NodeEnd, Reason: "given back"}, `{"t_s":0,"event":"node_down","node":"a","reason":"given back"}`},
	} {
		if got := string(appendNodeEvent(nil, &c.e, nodes)); got != c.want+"\n" {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
	job := &scheduler.Job{Name: "j"}
	stop := &control.Decision{Action: control.Action{Stop: true}}
	change := &control.Decision{Action: control.Action{Settings: []control.Setting{{Name: "lr", Value: "0.5"}}, Reason: "it pays"},
		Settings: []control.Setting{{Name: "lr", Value: "0.5"}, {Name: "n", Value: "2"}}}
	for _, c := range []struct {
		e    scheduler.Event
		want string
	}{
		{scheduler.Event{Kind: scheduler.Resume}, `{"t_s":0,"event":"resume","job":"j","cores":""}`},
		{scheduler.Event{Kind: scheduler.Resume, Migrated: true}, `{"t_s":0,"event":"resume","job":"j","cores":"","migrated":true}`},
		{scheduler.Event{Kind: scheduler.Start, Migrated: true}, `{"t_s":0,"event":"start","job":"j","cores":""}`},
		{scheduler.Event{Kind: scheduler.Start, Beside: &cluster.Beside{Name: "k"}}, `{"t_s":0,"event":"start","job":"j","cores":"","beside":"k"}`},
		{scheduler.Event{Kind: scheduler.Decided, Control: stop}, `{"t_s":0,"event":"control","job":"j","cores":"","reason":"stop","action":"stop"}`},
		{scheduler.Event{Kind: scheduler.Decided, Control: change}, `{"t_s":0,"event":"control","job":"j","cores":"","reason":"settings: lr=0.5 (it pays)","action":"settings","settings":"lr=0.5 n=2"}`},
		{scheduler.Event{Kind: scheduler.Decided}, `{"t_s":0,"event":"control","job":"j","cores":""}`},
		{scheduler.Event{Kind: scheduler.Reconfigure, Request: 3}, `{"t_s":0,"event":"reconfigure","job":"j","cores":"","reason":"3 cores","request":3}`},
	} {
		if got := string(appendEvent(nil, &c.e, job, nodes)); got != c.want+"\n" {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}
