package scheduler_test

import (
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// stopper stops a job at an accuracy, and asks for more threads before.
type stopper struct{ at float64 }

func (s stopper) Decide(r scheduler.Report) scheduler.Action {
	if r.Accuracy >= s.at {
		return scheduler.Action{Stop: true, Reason: "good enough"}
	}
	if r.Left == scheduler.NoBudget || r.Left > time.Minute {
		return scheduler.Action{}
	}
	return scheduler.Action{Allotment: &scheduler.JobAllotment{Threads: r.Allotment.Threads + 1}}
}

// TestAControllerFromOutside registers a controller and asks it.
func TestAControllerFromOutside(t *testing.T) {
	choice := scheduler.ControllerChoice{Name: "test_stopper", New: func(o scheduler.ControllerOptions) (scheduler.Controller, error) {
		return stopper{o.Values["accuracy"].(float64)}, nil
	}}
	scheduler.RegisterController(choice)
	found, ok := scheduler.FindController("test_stopper")
	if !ok {
		t.Fatal("the controller is not found by its name")
	}
	c, err := found.New(scheduler.ControllerOptions{Values: map[string]any{"accuracy": 0.9}})
	if err != nil {
		t.Fatal(err)
	}
	if a := c.Decide(scheduler.Report{Accuracy: 0.5, Left: scheduler.NoBudget}); !a.Nothing() {
		t.Errorf("with time left it asks for %+v", a)
	}
	a := c.Decide(scheduler.Report{Accuracy: 0.5, Left: time.Second, Allotment: scheduler.JobAllotment{Threads: 2}})
	if a.Nothing() || a.Allotment.Threads != 3 {
		t.Errorf("short of time it asks for %+v", a)
	}
	if a := c.Decide(scheduler.Report{Accuracy: 0.95}); !a.Stop {
		t.Errorf("at its target it asks for %+v", a)
	}
	defer func() {
		if recover() == nil {
			t.Error("a second controller of the name is taken")
		}
	}()
	scheduler.RegisterController(choice)
}
