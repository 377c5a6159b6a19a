package stages

import (
	"context"
	"slices"
	"strings"
	"testing"
)

func stage(name string, reads, writes []Artifact) *Stage {
	return &Stage{Name: name, Reads: reads, Writes: writes, Run: func(context.Context, *Run) error { return nil }}
}

// Stages run after the writers of their inputs. Stages that read the outcome of the run are last.
func TestOrder(t *testing.T) {
	all := []*Stage{
		stage("report", []Artifact{Tables}, []Artifact{Report}),
		stage("tables", []Artifact{Cells, RunSummary}, []Artifact{Tables}),
		stage("twins", []Artifact{Cells}, []Artifact{Twins}),
		stage("a", []Artifact{Tables}, []Artifact{"a"}),
		stage("execute", []Artifact{Samples}, []Artifact{Cells}),
		stage("profile", nil, []Artifact{Samples}),
	}
	ordered, err := order(all)
	var names []string
	for _, s := range ordered {
		names = append(names, s.Name)
	}
	if want := []string{"profile", "execute", "twins", "tables", "a", "report"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("order = %v, %v; want %v", names, err, want)
	}
}

func TestOrderFails(t *testing.T) {
	for want, all := range map[string][]*Stage{
		`the stage "a" reads x, which no stage writes`: {stage("a", []Artifact{"x"}, []Artifact{"y"})},
		"wait for each other": {
			stage("a", []Artifact{"x"}, []Artifact{"y"}), stage("b", []Artifact{"y"}, []Artifact{"x"}),
		},
	} {
		if _, err := order(all); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("order = %v, want an error with %q", err, want)
		}
	}
}
