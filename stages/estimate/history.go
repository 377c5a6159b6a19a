package estimate

import (
	"path/filepath"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// mostRuns bounds the past runs that are read.
const mostRuns = 1000

// recall collects what jobs really took in the past, in cells that are not in the
// plan: those of the plan, also when they are reused, are what the estimates are
// judged by. Runs count that finished and held their full request throughout, in
// cells that no other program disturbed.
//
// What cannot be read is left out: nothing depends on it but how good estimates
// are.
func recall(p stages.Planning) {
	if !p.UsesHistory() {
		return
	}
	var runs []estimator.Run
	p.Past(func(c stages.PastCell) bool {
		if c.Busy <= hardware.BusyCores && c.State == record.CellFinished {
			addRuns(&runs, p, c)
		}
		return len(runs) < mostRuns
	})
	p.SetHistory(runs)
}

// addRuns adds the runs of a cell, whose key says what its jobs were.
func addRuns(runs *[]estimator.Run, p stages.Planning, c stages.PastCell) {
	columns := []string{"job", "class", "state", "service_s", "threads_requested", "threads_mean", "gpus", "resizes"}
	host := p.PastHost(c.Key)
	_ = c.From.EachJob(c.CellRef, columns, 1, func(r *record.JobRow) bool {
		name, kind, length := p.PastJob(c.Key, r.Class)
		full := r.Resizes == 0 && r.ThreadsMean == float64(r.ThreadsRequested)
		if r.State != "finished" || !full || length == 0 || r.Service <= 0 {
			return true
		}
		run := estimator.Run{
			Job: name, Kind: kind, Length: length, Seconds: r.Service,
			Resource: estimator.Resource{Host: host, Threads: r.ThreadsRequested, GPUs: r.GPUs},
		}
		logs := filepath.Join(c.From.Dir, record.CellsDir, c.Cell.Cell, record.LogsDir)
		if f, err := folder.Open(logs, r.Job+".log"); err == nil {
			report, err := contract.Parse(f, contract.Last)
			f.Close()
			if err == nil && len(report.Epochs) == length {
				run.Units = report.Epochs
			}
		}
		*runs = append(*runs, run)
		return len(*runs) < mostRuns
	})
}
