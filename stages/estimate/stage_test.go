package estimate

import (
	"os"
	"slices"
	"testing"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/stages"
)

// told is an experiment and a pipeline. It records past runs and warnings.
type told struct {
	stages.Experiment
	stages.Sampling
	stages.PastRuns
	stages.CellQueue
	stages.Shards
	stages.CellFolders
	stages.Pieces
	stages.Engines
	stages.Log
	asks     bool
	lengths  map[string]int // of job blocks, by name
	history  []estimator.Run
	rows     []record.EstimateRow
	samples  []record.SampleRow
	warnings []record.Warning
	warned   []string
}

func (x *told) UsesHistory() bool                                   { return x.asks }
func (x *told) SetHistory(runs []estimator.Run)                     { x.history = runs }
func (x *told) ran(block string) (name string, length int)          { return "the " + block, x.lengths[block] }
func (x *told) Estimates() ([]record.EstimateRow, []record.Warning) { return x.rows, x.warnings }
func (x *told) SampleRows() []record.SampleRow                      { return x.samples }
func (x *told) Warn(code, _, text string)                           { x.warned = append(x.warned, code+": "+text) }

// Past runs are finished runs on all their cores, in cells without disturbance.
func TestHistory(t *testing.T) {
	dir := resultstest.Small().Write(t)
	e, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(e.Cells, func(c record.Cell) bool { return c.Cell == "mixed-machine-fcfs-r1" })
	cell := e.Cells[i]
	busy, limit, failed := cell, cell, cell
	busy.Busy, limit.Busy, failed.State = hardware.BusyCores+0.01, hardware.BusyCores, record.CellFailed
	past := func(x *told, cells ...record.Cell) {
		loadPast(stages.Planning{Experiment: x, Sampling: x, PastRuns: x, Past: func(visit func(stages.PastCell) bool) {
			for _, c := range cells {
				if !visit(stages.PastCell{From: e, Cell: c, Host: "host", Ran: x.ran}) {
					t.Error("no more runs are wanted")
				}
			}
		}})
	}
	x := &told{asks: true, lengths: map[string]int{"long": 3}}
	past(x, busy, failed, limit)
	if len(x.history) != 2 {
		t.Fatalf("%d past runs: %+v", len(x.history), x.history)
	}
	for _, r := range x.history {
		if r.Job != "the long" || r.Length != 3 || r.Seconds <= 0 || r.Resource.Threads != 2 || r.Resource.Host != "host" {
			t.Errorf("%+v", r)
		}
	}
	x = &told{lengths: x.lengths}
	if past(x, cell); x.history != nil {
		t.Error("no model asks for past runs, and they were looked for")
	}
	x = &told{asks: true, lengths: map[string]int{"long": 3, "short": 3}}
	visits := 0
	loadPast(stages.Planning{Experiment: x, Sampling: x, PastRuns: x, Past: func(visit func(stages.PastCell) bool) {
		for visits++; visits < 2*mostRuns && visit(stages.PastCell{From: e, Cell: cell, Ran: x.ran}); visits++ {
		}
	}})
	if len(x.history) != mostRuns || visits != mostRuns/8 { // each cell has 8 jobs
		t.Errorf("%d past runs of %d cells", len(x.history), visits)
	}
}

// The stage writes the tables that have rows, and reports warnings.
func TestStage(t *testing.T) {
	for _, c := range []struct {
		x     told
		files int
	}{
		{told{}, 0}, {told{rows: make([]record.EstimateRow, 1)}, 1}, {told{samples: make([]record.SampleRow, 1)}, 1},
		{told{rows: make([]record.EstimateRow, 2), samples: make([]record.SampleRow, 3)}, 2},
	} {
		c.x.warnings = []record.Warning{{Code: "rough", Text: "samples differ"}}
		r := &stages.Run{Dir: t.TempDir(), Experiment: &c.x, Sampling: &c.x, PastRuns: &c.x,
			CellQueue: &c.x, Shards: &c.x, CellFolders: &c.x, Pieces: &c.x, Engines: &c.x, Log: &c.x}
		if err := run(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		files, err := os.ReadDir(r.Dir)
		if err != nil || len(files) != c.files || !slices.Equal(c.x.warned, []string{"rough: samples differ"}) {
			t.Errorf("%v, want %d; %q, %v", files, c.files, c.x.warned, err)
		}
	}
}

// The row of an estimate names the source of the estimate.
func TestRowOfAnEstimate(t *testing.T) {
	_, row, err := Fit(Job{
		Name: "long", Threads: 2, GPUs: 1, Length: 100, Model: "linear", Level: 0.9,
		Samples: []estimator.Sample{{Length: 3, Wall: 1.6, Cost: 2}, {Length: 6, Wall: 2.2, Cost: 2.5}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if row.Cost != 4.5 || row.SampleFraction != 0.09 || row.Job != "long" || row.Threads != 2 ||
		row.GPUs != 1 || row.Level != 0.9 || row.Role != record.EstimateUsed || row.ActualSD >= 0 || row.Model != "linear" {
		t.Errorf("%+v", row)
	}
}
