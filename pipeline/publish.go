package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/report"
)

// viewsVersion is part of the keys of tables, pictures and report: raise it
// when they are drawn differently.
const viewsVersion = 2

// publish writes the tables, pictures and the report over all finished cells,
// unless they are there already for just these.
func (r *run) publish(ctx context.Context) error {
	k := store.NewKey("views")
	k.Addf("views", "%d", viewsVersion)
	k.Add("version", r.options.Version)
	plan := r.Plan.Plan
	plan.PredictedSeconds = 0 // how long it was to take changes nothing in the views
	plan.Cells = slices.Clone(plan.Cells)
	for i := range plan.Cells {
		plan.Cells[i].PredictedSeconds = 0
	}
	raw, err := json.Marshal(plan)
	if err != nil {
		return fmt.Errorf("describe the plan: %w", err)
	}
	k.Add("plan", string(raw))
	for _, c := range r.Cells {
		state, ok := store.State(filepath.Join(r.Dir, record.CellsDir, c.Cell))
		if !ok {
			state = "missing"
		}
		k.Add("cell."+c.Cell, state)
		if c.Real() { // what the twin was made from is the content of its key file
			twin, _ := os.ReadFile(filepath.Join(r.Dir, record.CellsDir, filepath.FromSlash(c.Twin().Cell), store.KeyFile))
			k.Add("twin."+c.Cell, store.HashOf(string(twin)))
		}
	}
	if r.outcome.Ran == 0 && r.published(k) {
		r.outcome.Report = filepath.Join(r.Dir, record.ReportFile)
		return nil
	}
	if err := analysis.WriteTables(r.Dir); err != nil {
		return err
	}
	if _, err := Plot(ctx, r.Dir, r.observe); err != nil {
		return err
	}
	if r.outcome.Report, err = Report(ctx, r.Dir, r.observe); err != nil {
		return err
	}
	info, err := os.Stat(filepath.Join(r.Dir, record.JobsFile))
	if err != nil {
		return fmt.Errorf("record the views: %w", err)
	}
	e := store.Entry{Stage: "views", Unit: "views", Description: k.Description(), Created: time.Now(), JobsBytes: info.Size()}
	return r.cache.Put(k, e, nil)
}

// published tells whether the views of exactly these cells are on disk.
func (r *run) published(k *store.Key) bool {
	for _, f := range []string{record.ReportFile, record.JobsFile, record.MetricsFile, record.PlotsDir} {
		if _, err := os.Stat(filepath.Join(r.Dir, f)); err != nil {
			return false
		}
	}
	there := false
	r.cache.View(func(v store.View) {
		last, ok := v.Last("views")
		info, err := os.Stat(filepath.Join(r.Dir, record.JobsFile))
		// A power cut may have torn jobs.csv: see analysis.WriteTables.
		there = ok && last.Description == k.Description() && err == nil && info.Size() == last.JobsBytes
	})
	return there
}

// Plot draws the pictures of an experiment's folder from its plain files.
func Plot(ctx context.Context, dir string, observe func(Progress)) ([]plot.Picture, error) {
	e, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	done := watch(observe, "plot")
	pictures, err := plot.Draw(ctx, e, filepath.Join(dir, record.PlotsDir), plot.Options{})
	done(len(pictures), err)
	return pictures, err
}

// Report writes report.html of an experiment's folder from its plain files
// and returns its path.
func Report(ctx context.Context, dir string, observe func(Progress)) (string, error) {
	e, err := record.Open(dir)
	if err != nil {
		return "", err
	}
	done := watch(observe, "report")
	path, err := report.Write(ctx, e, dir)
	done(1, err)
	return path, err
}

// watch tells of a stage's beginning, and returns what tells of its end.
func watch(observe func(Progress), stage string) func(units int, err error) {
	if observe == nil {
		return func(int, error) {}
	}
	start := time.Now()
	observe(Progress{Kind: StageStart, Stage: stage})
	return func(units int, err error) {
		observe(Progress{Kind: StageEnd, Stage: stage, Done: units, Total: units, Elapsed: time.Since(start), Err: err})
	}
}
