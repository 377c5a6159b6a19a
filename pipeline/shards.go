package pipeline

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/shard"
)

// Sharded implements stages.Pipeline: a simulated cell of which nothing but its metrics is recorded has no folder.
func (p *Plan) Sharded(i int) bool {
	return p.records == record.MetricsOnly && !p.Cells[i].Measured() && p.Cells[i].Trial == nil
}

// sharded returns where a cell of the plan is, if it is in a shard.
func (p *Plan) sharded(cell string) (shard.Entry, bool) {
	i, ok := p.numbers[cell]
	if !ok {
		return shard.Entry{}, false
	}
	return p.shards.Find(cell, p.Cells[i].Key)
}

// ownShards begins the names of the shards of runs, beside those of tasks.
const ownShards = "run"

// Shelve implements stages.Pipeline.
func (r *run) Shelve(i int, cell record.Cell) error {
	raw, err := json.Marshal(cell)
	if err != nil {
		return fmt.Errorf("write cell %s: %w", cell.Cell, err)
	}
	r.mu.Lock()
	if r.shard == nil {
		r.shard, err = shard.Create(r.Dir, ownShards)
	}
	to := r.shard
	r.mu.Unlock()
	if err != nil {
		return err
	}
	at, err := to.Add(shard.Line{Cell: cell.Cell, DependsOn: r.keys[i].Description(), Result: raw})
	if err != nil {
		return err
	}
	r.shards.Added(at)
	return nil
}

// Look implements stages.Pipeline.
func (r *run) Look() error { return r.shards.Update() }

// Read implements stages.Pipeline.
func (r *run) Read(i int) (c record.Cell, ok bool) {
	ref := r.Cells[i]
	if _, ok := r.sharded(ref.Cell); !ok && !store.Complete(r.folder(ref.Cell), ref.Key) {
		return c, false
	}
	return r.over(ref.Cell)
}

// verify forgets cells of the plan that are not where the index of shards says.
func (r *run) verify(cells []int) error {
	var entries []shard.Entry
	for _, i := range cells {
		if at, ok := r.shards.Find(r.Cells[i].Cell, r.Cells[i].Key); ok {
			entries = append(entries, at)
		}
	}
	return r.shards.Verify(entries)
}

// description reads what a cell last ran under, from an experiment's folder, and what it left then; its state is
// interrupted where that is nothing.
func description(dir, cell string) (text string, c record.Cell, err error) {
	raw, err := folder.ReadFile(dir, record.CellsDir, cell, store.KeyFile)
	if err == nil {
		if folder.ReadJSON(dir, &c, record.CellsDir, cell, record.CellFile) != nil || c.State == "" {
			c = record.Cell{State: interrupted}
		}
		return string(raw), c, nil
	}
	if !os.IsNotExist(err) {
		return "", c, err
	}
	shards, err := shard.Open(dir, "")
	if err != nil {
		return "", c, err
	}
	at, ok := shards.Last(cell)
	if !ok {
		return "", c, nil
	}
	l, err := shards.Line(at)
	if err == nil && json.Unmarshal(l.Result, &c) != nil {
		c = record.Cell{}
	}
	c.State = at.State
	return l.DependsOn, c, err
}
