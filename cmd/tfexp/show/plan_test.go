package show

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages"
)

// planOf returns a plan with three replicates of two policies. The cells of fcfs are reused; the quantum and the seeds
// of rr have changed.
func planOf() *pipeline.Plan {
	p := &pipeline.Plan{}
	p.Experiment = "e"
	p.Workloads = []record.Named{{Name: "w"}}
	p.Hardware = []record.Named{{Name: "h"}}
	for _, policy := range []string{"fcfs", "rr"} {
		for r := 1; r <= 3; r++ {
			p.RunOrder = append(p.RunOrder, len(p.Cells))
			p.Cells = append(p.Cells, record.CellRef{
				Cell: fmt.Sprintf("w-h-%s-r%d", policy, r), Workload: "w", Hardware: "h", Policy: policy, Replicate: r,
			})
			work := pipeline.CellWork{Reuse: true, Reason: "finished earlier", Predicted: 9 * time.Second}
			if policy == "rr" {
				work = pipeline.CellWork{Reason: "policy.quantum, seed changed", Predicted: 2 * time.Second,
					Changes: []store.Change{
						{Label: "policy.quantum", Old: "1s", New: "500ms"},
						{Label: "seed", Old: fmt.Sprint(r), New: fmt.Sprint(r + 10)},
					}}
			}
			p.Work = append(p.Work, work)
		}
	}
	return p
}

func printed(p *pipeline.Plan, cells bool) string {
	var out bytes.Buffer
	if err := (&Printer{Out: &out, Err: &out}).Plan(p, nil, cells); err != nil {
		return err.Error()
	}
	return out.String()
}

func TestPlanIsToldByVariant(t *testing.T) {
	p := planOf()
	profile := stages.Find("profile")
	p.Pieces = []pipeline.PieceWork{
		{Stage: profile, Piece: stages.Piece{Name: "long", Text: "on 2 threads: samples of 2 and 4 epochs", Count: 2},
			Reason: "new"},
		{Stage: profile, Piece: stages.Piece{Name: "short.2", Text: "on 1 thread: samples of 1 and 2 steps", Count: 2},
			Reuse:  true,
			Reason: "sampled earlier"},
	}
	p.Stale = []string{"w-h-old-r1"}
	want := `e: 6 cells, 3 reused, 3 to run, after 2 profiling samples, about 6 s

fcfs: 3 cells are reused: finished earlier
rr: 3 cells run: policy.quantum, seed changed, about 6 s
    policy.quantum: 1s → 500ms

profiling:
  long on 2 threads: samples of 2 and 4 epochs: new
  short.2 on 1 thread: samples of 1 and 2 steps: sampled earlier

1 cell on disk is no longer in the plan: a run deletes such folders, but the cache keeps their results
`
	if d := cmp.Diff(want, printed(p, false)); d != "" {
		t.Error(d)
	}
}

func TestPlanListsCellsInTheOrderOfTheRun(t *testing.T) {
	p := planOf()
	p.RunOrder = []int{5, 0, 3, 1, 4, 2}
	var cells []string
	for line := range strings.SplitSeq(printed(p, true), "\n") {
		if strings.HasPrefix(line, "w-h-") {
			cells = append(cells, strings.Fields(line)[0])
		}
	}
	want := []string{"w-h-rr-r3", "w-h-fcfs-r1", "w-h-rr-r1", "w-h-fcfs-r2", "w-h-rr-r2", "w-h-fcfs-r3"}
	if d := cmp.Diff(want, cells); d != "" {
		t.Error(d)
	}
	j := PlanJSON(p, nil)
	if len(j.Cells) != 6 || j.Cells[0].Cell != "w-h-rr-r3" || j.Run != 3 || j.Reuse != 3 || j.PredictedSeconds != 6 {
		t.Errorf("JSON: %+v", j)
	}
}

func TestLargePlansAreToldInFewLines(t *testing.T) {
	p := &pipeline.Plan{}
	p.Experiment = "large"
	const cells = 10_000
	for i := range cells {
		p.RunOrder = append(p.RunOrder, i)
		p.Cells = append(p.Cells, record.CellRef{Cell: fmt.Sprint("c", i), Policy: "p", Engine: "simulated", Simulated: true,
			Axes: []record.Setting{{Name: "x", Value: fmt.Sprint(i / 2)}}})
		work := pipeline.CellWork{Reason: "new"}
		if i < 100 {
			work = pipeline.CellWork{Reuse: true, Reason: "finished earlier"}
		}
		p.Work = append(p.Work, work)
	}
	want := `large: 10000 cells, 100 reused, 9900 to run

50 variants: 100 cells are reused: finished earlier
4950 variants: 9900 cells run: new
`
	if d := cmp.Diff(want, printed(p, false)); d != "" {
		t.Error(d)
	}
}

func TestChangesOfAGroup(t *testing.T) {
	cell := func(old, now, seed string) []change {
		return changesOf([]store.Change{
			{Label: "policy.quantum", Old: old, New: now}, {Label: "seed", Old: "0", New: seed},
			{Label: "axis.x", New: "1"}, {Label: "workload.jobs", Old: "a", New: "b"},
		})
	}
	group := cell("1s", "4s", "7")
	for i, old := range []string{"2s", "1s", "3s", "5s"} {
		group = shared(group, cell(old, "4s", fmt.Sprint(i)))
	}
	var got []string
	for _, c := range group {
		got = append(got, c.String())
	}
	want := []string{"policy.quantum: 1s or 2s or 3s or others → 4s", "axis.x: 1 (new)"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := changesOf([]store.Change{{Label: "workload.jobs", Old: strings.Repeat("a", 64),
		New: "b"}}); len(got) != 1 || len([]rune(got[0].before[0])) != 60 {
		t.Errorf("the only change: %+v", got)
	}
}

func TestManyChangesAreCutShort(t *testing.T) {
	var out bytes.Buffer
	changes := make([]change, maxChanges+3)
	for i := range changes {
		changes[i] = change{label: fmt.Sprint("l", i), before: []string{"a"}, now: "b"}
	}
	(&Printer{Out: &out}).changes(changes)
	lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	if len(lines) != maxChanges+1 || lines[maxChanges] != "    … and 3 more" {
		t.Errorf("%q", lines)
	}
}

func TestTableAlignsNumbersOnTheRight(t *testing.T) {
	tab := table.New(1, "policy", "JCT", "waiting")
	tab.Add("fcfs", "3.20 ± 0.10", "1")
	tab.Add("größer", "10", "")
	var out bytes.Buffer
	if err := tab.Write(&out, "  ", false); err != nil {
		t.Fatal(err)
	}
	want := "  policy          JCT  waiting\n" +
		"  fcfs    3.20 ± 0.10        1\n" +
		"  größer           10\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}
