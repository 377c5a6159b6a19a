package show

import "testing"

func TestRunningFirst(t *testing.T) {
	all := []ExperimentStatus{{Experiment: "a"}, {Experiment: "b", Holder: "process 1"}, {Experiment: "c"},
		{Experiment: "d", Holder: "process 2"}}
	RunningFirst(all)
	order := ""
	for _, s := range all {
		order += s.Experiment
	}
	if order != "bdac" {
		t.Errorf("the order is %s, want bdac", order)
	}
}
