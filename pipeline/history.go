package pipeline

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/pipeline/realise"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
)

// mostRuns bounds the past runs that are read.
const mostRuns = 1000

// readHistory collects what jobs really took in the past: in the other
// experiments in the same folder of results, and in cells of this one that are
// no longer in the plan and that the cache still has. Cells of the plan are
// left out, those that are reused as well: they are what the estimates are
// judged by. Runs count that finished and held their full request throughout,
// in cells that no other program disturbed.
//
// What was not readable is no history: nothing depends on it but how good
// estimates are.
func (p *Plan) readHistory(v store.View) {
	if !p.x.UsesHistory() {
		return
	}
	h := &history{}
	dirs, err := Experiments(filepath.Dir(p.Dir))
	if err != nil {
		dirs = nil
	}
	own, _ := filepath.Abs(p.Dir)
	for _, dir := range dirs {
		if abs, _ := filepath.Abs(dir); abs == own {
			continue
		}
		e, err := record.Open(dir)
		if err != nil {
			continue
		}
		for _, c := range e.Cells {
			raw, err := os.ReadFile(filepath.Join(dir, record.CellsDir, c.Cell, store.KeyFile))
			if c.Real() && err == nil {
				h.cell(e, c, string(raw))
			}
		}
	}
	planned := map[string]bool{}
	for _, k := range p.keys {
		planned[k.Hash()] = true
	}
	v.Each(func(hash string, e store.Entry) {
		if e.Stage != cellEntry || planned[hash] || !ranForReal(e.Description) || len(h.runs) >= mostRuns {
			return
		}
		if packed, ok := v.Output(hash); ok {
			h.packed(packed, e.Description)
		}
	})
	p.x.SetHistory(h.runs)
}

// history is what was found so far.
type history struct{ runs []estimator.Run }

// packed reads a cell that only the cache has.
func (h *history) packed(packed []byte, description string) {
	dir, err := os.MkdirTemp("", "tfexp-history-")
	if err != nil {
		return
	}
	defer os.RemoveAll(dir)
	const name = "cell"
	cell := filepath.Join(dir, record.CellsDir, name)
	if store.Unpack(cell, packed) != nil {
		return
	}
	raw, err := os.ReadFile(filepath.Join(cell, record.CellFile))
	var c record.Cell
	if err != nil || json.Unmarshal(raw, &c) != nil {
		return
	}
	c.Cell = name
	h.cell(&record.Experiment{Dir: dir}, c, description)
}

// cell adds the runs of a cell, whose key says what its jobs were.
func (h *history) cell(e *record.Experiment, c record.Cell, description string) {
	if c.Busy > hardware.BusyCores || c.State != record.CellFinished {
		return
	}
	columns := []string{"job", "class", "state", "service_s", "threads_requested", "threads_mean", "gpus", "resizes"}
	host := realise.HostOf(description)
	_ = e.EachJob(c.CellRef, columns, 1, func(r *record.JobRow) bool {
		name, kind, length := realise.Identity(description, r.Class)
		if r.State != "finished" || r.Resizes > 0 || r.ThreadsMean != float64(r.ThreadsRequested) || length == 0 || r.Service <= 0 {
			return true
		}
		run := estimator.Run{
			Job: name, Kind: kind, Length: length, Seconds: r.Service,
			Resource: estimator.Resource{Host: host, Threads: r.ThreadsRequested, GPUs: r.GPUs},
		}
		if f, err := os.Open(filepath.Join(e.Dir, record.CellsDir, c.Cell, record.LogsDir, r.Job+".log")); err == nil {
			report, err := contract.Parse(f, contract.Last)
			f.Close()
			if err == nil && len(report.Epochs) == length {
				run.Units = report.Epochs
			}
		}
		h.runs = append(h.runs, run)
		return len(h.runs) < mostRuns
	})
}

// ranForReal reports whether the cell of a key's description ran on a real engine.
func ranForReal(description string) bool {
	_, after, _ := strings.Cut(description, "\nhardware.engine ")
	name, _, _ := strings.Cut(after, "\n")
	kind := engine.Find(name)
	return kind != nil && kind.Real
}
