package plot

import (
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/scheduler"
)

// A policy has the same color in all pictures; the variants of a single policy have one each.
func TestLooks(t *testing.T) {
	of := func(variants ...string) *Data {
		d := &Data{Experiment: &record.Experiment{}}
		for _, v := range variants {
			policy, _, _ := strings.Cut(v, " ")
			d.Variants = append(d.Variants, analysis.Variant{Policy: policy, Label: v})
			if !slices.ContainsFunc(d.Plan.Policies, func(o record.Named) bool { return o.Name == policy }) {
				d.Plan.Policies = append(d.Plan.Policies, record.Named{Name: policy})
			}
		}
		d.palette = analysis.PaletteOf(d.Experiment)
		return d
	}
	several := of("fcfs load=1", "sjf load=1", "fcfs load=2", "sjf load=2")
	for label, want := range map[string]Look{"sjf load=1": {1, 0}, "sjf load=2": {1, 1}, "sjf": {1, 0}} {
		if got := several.look("sjf", label); got != want {
			t.Errorf("%s: %v, want %v", label, got, want)
		}
	}
	one := of("rr quantum=1s", "rr quantum=2s")
	if a, b := one.look("rr", "rr quantum=1s"), one.look("rr", "rr quantum=2s"); a.Ink() == b.Ink() {
		t.Errorf("two variants of one policy are both %v", a.Ink())
	}
}

// A job that shares GPUs 1 and 2 has the upper half of both, wherever their first job is drawn.
func TestGuestsHaveTheUpperHalf(t *testing.T) {
	set := func(lo, hi int32) scheduler.CoreSet { return scheduler.CoreSet{{Lo: lo, Hi: hi}} }
	s := &analysis.Schedule{Cores: 4, GPUs: 3, Until: 2, Classes: []string{""}, Jobs: []analysis.ScheduledJob{
		{Held: []analysis.Span{{To: 2, Cores: set(0, 2), GPUs: set(1, 3)}}},
		{Held: []analysis.Span{{From: 1, To: 2, Cores: set(2, 4), GPUs: set(1, 3), Guest: true}}},
		{Held: []analysis.Span{{From: 2, To: 2, Cores: set(2, 4)}}}, // no cores are needed: the GPUs show every job
	}}
	ch := New(s, &analysis.Palette{})
	ch.gpuRows = 2
	for i, want := range [][]stretch{{{0, 4}}, {{3, 4}, {1, 2}}} {
		if got := ch.stretches(s.Jobs[i].Held[0])[1:]; !slices.Equal(got, want) {
			t.Errorf("job %d has %v of the GPUs, want %v", i, got, want)
		}
	}
	host := s.Jobs[0].Held[0]
	if all := ch.stretches(host); ch.covered(host, all[0]) || !ch.covered(host, all[1]) {
		t.Error("the guest does not lie over the GPUs of the first job alone")
	}
	if early := (analysis.Span{To: 1, GPUs: set(1, 3)}); ch.covered(early, ch.stretches(early)[0]) {
		t.Error("a guest lies over what ended before it began")
	}
	if !ch.Shares() {
		t.Error("no job shares a GPU")
	}
}

// Each class of jobs has its own panel, and all of its jobs are in it.
func TestDistributionsByClass(t *testing.T) {
	cfg := resultstest.Small()
	e, err := record.Open(cfg.Write(t))
	if err != nil {
		t.Fatal(err)
	}
	d := NewData(e)
	panels := []distribution{{group: "long"}, {group: "short"}}
	lines, _, _ := d.Lines(d.Settings()[0])
	jobs, err := d.distribute(panels, lines, "class")
	if err != nil || jobs != len(e.Cells)*(cfg.Long+cfg.Short) {
		t.Fatalf("%d jobs in %d cells, %v", jobs, len(e.Cells), err)
	}
	for i, perCell := range []int{cfg.Long, cfg.Short} {
		for k, c := range panels[i].curves {
			if len(c.values) != perCell*len(lines[k].Cells) {
				t.Errorf("%s of %s: %d jobs in %d cells", panels[i].group, c.label, len(c.values), len(lines[k].Cells))
			}
		}
	}
	figures, err := d.distributions("class")
	if err != nil || len(figures) != 1 || figures[0].Name != "jct-class" || figures[0].Paint == nil {
		t.Errorf("by class: %+v, %v", figures, err)
	}
	if figures, err = d.distributions("user"); err != nil || !strings.Contains(figures[0].Skipped, "of one user") {
		t.Errorf("by user: %+v, %v", figures, err)
	}
}

// Resources are drawn once: as GPUs if every job has some, as cores for rented servers, and as both if a job has no
// GPU.
func TestCoresAndGPUsAreShownOnce(t *testing.T) {
	set := func(lo, hi int32) scheduler.CoreSet { return scheduler.CoreSet{{Lo: lo, Hi: hi}} }
	with := []analysis.Span{{To: 2, Cores: set(0, 2), GPUs: set(0, 1)}}
	for _, c := range []struct {
		name        string
		held        [][]analysis.Span
		servers     []analysis.ServerLife
		cores, gpus int
	}{
		{"GPUs alone", [][]analysis.Span{with, with}, nil, 0, 2},
		{"rented servers", [][]analysis.Span{with}, []analysis.ServerLife{{}}, 4, 0},
		{"a job without a GPU", [][]analysis.Span{with, {{To: 2, Cores: set(2, 3)}}}, nil, 4, 2},
		{"nothing ran", [][]analysis.Span{nil}, nil, 4, 2},
	} {
		s := &analysis.Schedule{Cores: 4, GPUs: 2, Until: 2, Classes: []string{""}, Servers: c.servers}
		for _, h := range c.held {
			s.Jobs = append(s.Jobs, analysis.ScheduledJob{Held: h})
		}
		ch := New(s, &analysis.Palette{})
		if ch.Cores != c.cores || ch.GPUs != c.gpus || s.Cores != 4 || s.GPUs != 2 {
			t.Errorf("%s: %d cores and %d GPUs are drawn, of a schedule with %d and %d", c.name, ch.Cores, ch.GPUs, s.Cores, s.GPUs)
		}
		for _, h := range c.held[0] {
			if n := len(ch.stretches(h)); n != min(c.cores, 1)+min(c.gpus, 1) {
				t.Errorf("%s: a job is drawn %d times", c.name, n)
			}
		}
	}
}

// Lines that coincide are one line, whose entry in the legend has all names.
func TestMerged(t *testing.T) {
	names := []string{"fcfs", "easy", "rr", "sjf", "las", "a", "b", "c"}
	class := []int{0, 0, 1, 0, 2, 1, 1, 1}
	labels, note := Merged(names, func(i, k int) bool { return class[i] == class[k] })
	want := []string{"fcfs, easy, sjf", "", "rr, a, b, c", "", "las", "", "", ""}
	if !slices.Equal(labels, want) {
		t.Errorf("labels %q, want %q", labels, want)
	}
	if want := " Lines that coincide are drawn once: fcfs, easy and sjf; rr, a, b and c."; note != want {
		t.Errorf("note %q, want %q", note, want)
	}
	if _, note := Merged(names, func(int, int) bool { return false }); note != "" {
		t.Errorf("note %q where no lines agree", note)
	}
}

// A narrow picture has as few columns as the titles of its panels need: cut titles of settings could be equal.
func TestTitlesOfPanelsFit(t *testing.T) {
	d := &Data{width: 240}
	short := make([]panel, 4)
	for i := range short {
		short[i].Title = "load=2"
	}
	long := slices.Clone(short)
	long[1].Title = "many_short_jobs one_large_node"
	list := []analysis.Variant{{Label: "fcfs"}}
	two, one := d.metricsFigure("a", "a", "", "", "", list, short), d.metricsFigure("a", "a", "", "", "", list, long)
	tall := panelRow + 10 + panelExtras
	if got := one.Height - two.Height; got != 2*tall {
		t.Errorf("with a long title the picture is %g points taller, want two rows of panels, %g", got, 2*tall)
	}
}
