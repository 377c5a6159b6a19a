package pipeline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/pipeline/instantiate"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// trials is a source that first returns the cells of one policy. When they are over it returns the cells of another,
// like a search that uses its first results.
type trials struct {
	x     *instantiate.Experiment
	batch int
	seen  float64 // the mean JCT of the first cell, in seconds
}

func (s *trials) Next(finished func(string) (record.Cell, bool)) ([]*instantiate.Cell, error) {
	policies := []string{"fcfs", "rr"}
	if s.batch == len(policies) {
		return nil, nil
	}
	if s.batch == 1 {
		c, ok := finished("mixed-sim-fcfs-r1")
		if !ok {
			return nil, errors.New("the first results are not there")
		}
		s.seen = measure.MeanJCT.Of(&c.Metrics)
	}
	cells := slices.DeleteFunc(slices.Clone(s.x.Cells()), func(c *instantiate.Cell) bool {
		return c.Ref.Policy != policies[s.batch]
	})
	s.batch++
	return cells, nil
}

func planTrials(t *testing.T, out string, observe func(Progress)) (*Plan, *trials) {
	t.Helper()
	var s *trials
	p, err := New(loadSmall(t, simulatedFile), Options{Out: out, Parallel: 1, Observe: observe,
		Source: func(x *instantiate.Experiment) Source { s = &trials{x: x}; return s }})
	if err != nil {
		t.Fatal(err)
	}
	return p, s
}

// Cells that are added because of earlier results are planned, run and reported like other cells.
func TestCellsFollowFromResults(t *testing.T) {
	out := t.TempDir()
	var totals, ended []int
	p, s := planTrials(t, out, func(p Progress) {
		if p.Stage == "execute" && p.Kind == stages.UnitEnd {
			totals, ended = append(totals, p.Total), append(ended, p.Done)
		}
	})
	if len(p.Cells) != 4 || p.exhausted {
		t.Fatalf("%d cells are planned before any result, want those of the first policy", len(p.Cells))
	}
	o, err := p.Run(context.Background())
	if err != nil || o.Ran != 8 {
		t.Fatalf("%+v, %v", o, err)
	}
	if s.seen <= 0 {
		t.Error("the source has seen no result")
	}
	if want := []int{4, 4, 4, 4, 8, 8, 8, 8}; !slices.Equal(totals, want) ||
		!slices.Equal(ended, []int{1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("progress: %v of %v", ended, totals)
	}
	e, err := record.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Cells) != 8 || len(e.Plan.Cells) != 8 || len(e.Plan.RunOrder) != 8 {
		t.Errorf("%d cells of %d planned are in the results", len(e.Cells), len(e.Plan.Cells))
	}
	for _, i := range e.Plan.RunOrder[:4] {
		if e.Plan.Cells[i].Policy != "fcfs" {
			t.Errorf("%s runs before what it follows from", e.Plan.Cells[i].Cell)
		}
	}
	// In a second run all results exist, and no cell runs.
	defer func(before time.Duration) { patience = before }(patience)
	patience = 0
	var planned []int
	again, _ := planTrials(t, out, func(p Progress) { planned = append(planned, p.Done) })
	if !slices.Equal(planned, []int{4, 8}) {
		t.Errorf("the progress of planning is %v, want the cells after each batch", planned)
	}
	if len(again.Cells) != 8 || len(reasons(again)) != 0 || len(again.Stale) != 0 {
		t.Errorf("%d cells are planned again, %v run, %v are stale", len(again.Cells), reasons(again), again.Stale)
	}
	if o, err := again.Run(context.Background()); err != nil || o.Ran != 0 || o.Reused != 8 {
		t.Errorf("the second run: %+v, %v", o, err)
	}
}

// A run that is interrupted before the second cells are added adds them when it is resumed.
func TestTrialsAreResumed(t *testing.T) {
	out := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	p, _ := planTrials(t, out, func(p Progress) {
		if p.Stage == "execute" && p.Kind == stages.UnitEnd && p.Done == 6 {
			cancel()
		}
	})
	o, err := p.Run(ctx)
	if !errors.Is(err, ErrInterrupted) || o.Ran < 6 {
		t.Fatalf("%+v, %v", o, err)
	}
	q, _ := planTrials(t, out, nil)
	if len(q.Cells) != 8 {
		t.Fatalf("%d cells are planned, want also those that follow", len(q.Cells))
	}
	rest, err := q.Run(context.Background())
	if err != nil || o.Ran+rest.Ran != 8 {
		t.Errorf("%d and then %d cells ran, want 8 in all: %v", o.Ran, rest.Ran, err)
	}
}

// While later cells may still be added, no folder is removed as stale. After the last was added, the folders of cells
// outside the plan are removed.
func TestStaleTrials(t *testing.T) {
	out := t.TempDir()
	p, _ := planTrials(t, out, nil)
	if _, err := p.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(p.Dir, record.CellsDir, "gone-r1")
	if err := os.MkdirAll(stale, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(p.Dir, record.CellsDir, "mixed-sim-fcfs-r1", record.CellFile)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(p.Dir, record.CacheFile)); err != nil {
		t.Fatal(err)
	}
	q, _ := planTrials(t, out, nil)
	if len(q.Cells) != 4 || len(q.Stale) != 0 {
		t.Fatalf("%d cells are planned, %v are stale", len(q.Cells), q.Stale)
	}
	o, err := q.Run(context.Background())
	if err != nil || o.Ran != 1 || o.Reused != 7 {
		t.Errorf("%+v, %v; want one cell to run", o, err)
	}
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Errorf("the stale folder is still there: %v", err)
	}
}

// byWorkload is a source that returns the cells of one workload, and then the cells of the other.
type byWorkload struct {
	x    *instantiate.Experiment
	left []string
}

func (s *byWorkload) Next(func(string) (record.Cell, bool)) ([]*instantiate.Cell, error) {
	if len(s.left) == 0 {
		return nil, nil
	}
	next := s.left[0]
	s.left = s.left[1:]
	return slices.DeleteFunc(slices.Clone(s.x.Cells()), func(c *instantiate.Cell) bool { return c.Ref.Workload != next }), nil
}

// When a cell that is added during the run needs samples that no other cell needs, they are taken then. The results
// contain their estimates together with the others.
func TestSamplesOfAddedCells(t *testing.T) {
	file := strings.Replace(script, "workload \"w\"", "job \"u\" {\n  command = [\"true\", \"x\"]\n  epochs = 20\n}\n\n"+
		"workload \"v\" {\n  submit { job = job.u }\n}\n\nworkload \"w\"", 1)
	out := t.TempDir()
	plan := func() *Plan {
		p, err := New(loadSmall(t, file), Options{Out: out, Source: func(x *instantiate.Experiment) Source {
			return &byWorkload{x: x, left: []string{"w", "v"}}
		}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := plan()
	if len(p.Cells) != 1 || len(p.Pieces) != 2 {
		t.Fatalf("%d cells and %d pieces are planned", len(p.Cells), len(p.Pieces))
	}
	for _, w := range p.Pieces {
		if made := !w.Reuse; made != (w.Name == "t") {
			t.Errorf("before any result the samples of %s are made: %v (%s)", w.Name, made, w.Reason)
		}
	}
	if o, err := p.Run(context.Background()); err != nil || o.Ran != 2 || o.Failed != 0 {
		t.Fatalf("%+v, %v", o, err)
	}
	sampled := map[string]int{}
	for _, r := range sampleRows(t, out) {
		sampled[r.Job]++
	}
	if sampled["t"] != 2 || sampled["u"] != 2 {
		t.Errorf("samples by job: %v, want two of each", sampled)
	}
	e, err := record.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := record.Estimates.Read(e.Dir)
	if err != nil || len(rows) != 2 {
		t.Errorf("%d estimates, want those of both jobs: %v", len(rows), err)
	}
	again := plan()
	if o, err := again.Run(context.Background()); err != nil || o.Ran != 0 {
		t.Errorf("the second run: %+v, %v", o, err)
	}
	// A cell that exists only in the cache counts as finished: the cells that follow from its result are planned as
	// well.
	if err := os.RemoveAll(again.folder(again.Cells[0].Cell)); err != nil {
		t.Fatal(err)
	}
	if q := plan(); len(q.Cells) != 2 || !q.Work[0].Reuse || !q.Work[1].Reuse {
		t.Errorf("planned are %+v", q.Work)
	}
}
