package schema

import (
	"slices"
	"testing"
	"time"
)

// table is a block that has two labels, each with its own arguments, and nested blocks.
var table = &Block{
	Args:    []Arg{{Name: "a"}, {Name: "b"}},
	ByLabel: []Labelled{{Label: "one", Args: []Arg{{Name: "c"}}}, {Label: "two"}},
	Blocks:  []*Block{{Name: "x"}, {Name: "y", Doc: "second"}},
}

func TestTable(t *testing.T) {
	for label, want := range map[string][]string{"": {"a", "b"}, "other": {"a", "b"}, "one": {"c"}, "two": {}} {
		if got := Names(table.ArgsFor(label)); !slices.Equal(got, want) {
			t.Errorf("the arguments of %q are %q, want %q", label, got, want)
		}
	}
	if got := table.BlockNames(); !slices.Equal(got, []string{"x", "y"}) {
		t.Errorf("the blocks are %q", got)
	}
	if b := table.Block("y"); b == nil || b.Doc != "second" {
		t.Errorf("y is %+v", b)
	}
	if b := table.Block("x"); b == nil || b.Name != "x" {
		t.Errorf("x is %+v", b)
	}
	if b := table.Block("z"); b != nil {
		t.Errorf("z is %+v", b)
	}
	if a := Find(table.Args, "b"); a != &table.Args[1] {
		t.Errorf("b is %+v", a)
	}
	if a := Find(table.Args, "c"); a != nil {
		t.Errorf("c is %+v", a)
	}
	if l := Limit(2.5); *l != 2.5 {
		t.Errorf("the limit is %g", *l)
	}
}

func TestReferenceKinds(t *testing.T) {
	for typ, want := range map[Type][]string{
		JobRef: {"job"}, WorkloadRef: {"workload"}, HardwareRef: {"hardware"}, PolicyRef: {"policy"},
		Baseline: {"policy", "hardware", "workload"}, String: nil, JobMap: nil,
	} {
		if got := typ.ReferenceKinds(); !slices.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("%s refers to %q, want %q", typ, got, want)
		}
	}
}

// TestSettings checks that a key has all values of a block in a fixed order, followed by the values of nested blocks.
func TestSettings(t *testing.T) {
	s := Settings{Name: "tune", Label: "lr", Args: map[string]any{"trials": 3, "limit": time.Minute, "method": "grid"},
		Blocks: []Settings{
			{Name: "range", Args: map[string]any{"low": 0.5}},
			{Name: "range", Label: "b", Blocks: []Settings{{Name: "deep", Args: map[string]any{"on": true}}}},
		}}
	want := []KeyLine{
		{"p.tune.lr.limit", "1m0s"}, {"p.tune.lr.method", "grid"}, {"p.tune.lr.trials", "3"},
		{"p.tune.lr.1.range.low", "0.5"}, {"p.tune.lr.2.range.b.1.deep.on", "true"},
	}
	for range 20 { // the order of iteration over maps is random
		if got := s.Lines("p."); !slices.Equal(got, want) {
			t.Fatalf("the lines are %q, want %q", got, want)
		}
	}
	if n := Get[int](s, "trials"); n != 3 {
		t.Errorf("trials is %d", n)
	}
	if n := Get[int](s, "method"); n != 0 {
		t.Errorf("a text is the number %d", n)
	}
	if text := Get[string](s, "none"); text != "" {
		t.Errorf("what is not there is %q", text)
	}
}
