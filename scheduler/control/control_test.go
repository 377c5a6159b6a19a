package control_test

import (
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler/control"
)

// stopper is a controller that stops a job at an accuracy, and requests more threads before.
type stopper struct{ at float64 }

func (s stopper) Decide(r control.Report) control.Action {
	if r.Accuracy >= s.at {
		return control.Action{Stop: true, Reason: "good enough"}
	}
	if r.Left == control.NoBudget || r.Left > time.Minute {
		return control.Action{}
	}
	return control.Action{Allotment: &control.Allotment{Threads: r.Allotment.Threads + 1}}
}

// TestAControllerFromOutside registers a controller of another package and calls it.
func TestAControllerFromOutside(t *testing.T) {
	choice := control.Choice{Name: "test_stopper", New: func(o control.Options) (control.Controller, error) {
		return stopper{o.Values["accuracy"].(float64)}, nil
	}}
	control.Register(choice)
	found, ok := control.Find("test_stopper")
	if !ok {
		t.Fatal("the controller is not found by its name")
	}
	c, err := found.New(control.Options{Values: map[string]any{"accuracy": 0.9}})
	if err != nil {
		t.Fatal(err)
	}
	if a := c.Decide(control.Report{Accuracy: 0.5, Left: control.NoBudget}); !a.Nothing() {
		t.Errorf("with time left it asks for %+v", a)
	}
	a := c.Decide(control.Report{Accuracy: 0.5, Left: time.Second, Allotment: control.Allotment{Threads: 2}})
	if a.Nothing() || a.Allotment.Threads != 3 {
		t.Errorf("short of time it asks for %+v", a)
	}
	if a := c.Decide(control.Report{Accuracy: 0.95}); !a.Stop {
		t.Errorf("at its target it asks for %+v", a)
	}
	defer func() {
		if recover() == nil {
			t.Error("a second controller of the name is taken")
		}
	}()
	control.Register(choice)
}
