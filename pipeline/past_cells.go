package pipeline

import (
	"encoding/json"
	"path/filepath"

	"github.com/tfexp/tfexp/pipeline/instantiate"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// past calls visit with each finished real cell that is not in the plan, until visit returns false. These are cells
// of other experiments in the same folder of results, and older cells of this experiment in the cache. Unreadable
// cells are skipped.
func (p *Plan) past(v store.View, visit func(stages.PastCell) bool) {
	if p.pastOfOthers(visit) {
		p.pastOfCache(v, visit)
	}
}

// pastOfOthers visits the finished real cells of other experiments in the same folder of results. It returns false if
// visit has returned false.
func (p *Plan) pastOfOthers(visit func(stages.PastCell) bool) bool {
	dirs, err := Experiments(filepath.Dir(p.Dir))
	if err != nil {
		return true
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
			if !c.Real() {
				continue
			}
			raw, err := folder.ReadFile(dir, record.CellsDir, c.Cell, store.KeyFile)
			if err == nil && !visit(pastCell(e, c, string(raw))) {
				return false
			}
		}
	}
	return true
}

// pastOfCache visits the finished real cells whose files are in the cache alone.
func (p *Plan) pastOfCache(v store.View, visit func(stages.PastCell) bool) {
	planned := map[string]bool{}
	for _, k := range p.keys {
		planned[k.Hash()] = true
	}
	cells, more := stages.Writer(stages.Cells), true
	v.Each(func(hash string, e store.Entry) {
		if !more || e.Stage != cells || planned[hash] || !instantiate.RanForReal(store.KeyOf(e.Description)) {
			return
		}
		if packed, ok := v.Output(hash); ok {
			more = visitPacked(packed, e.Description, visit)
		}
	})
}

// visitPacked unpacks a cell from the cache into a temporary folder, visits it, and removes the folder.
func visitPacked(packed []byte, key string, visit func(stages.PastCell) bool) bool {
	dir, err := folder.MkdirTemp("", "tfexp-history-")
	if err != nil {
		return true
	}
	defer folder.RemoveAll(dir)
	const name = "cell"
	cell := filepath.Join(dir, record.CellsDir, name)
	if store.Unpack(cell, packed) != nil {
		return true
	}
	raw, err := folder.ReadFile(cell, record.CellFile)
	var c record.Cell
	if err != nil || json.Unmarshal(raw, &c) != nil {
		return true
	}
	c.Cell = name
	return visit(pastCell(&record.Experiment{Dir: dir}, c, key))
}

// pastCell returns a cell with the values that its key records.
func pastCell(from *record.Experiment, c record.Cell, description string) stages.PastCell {
	key := store.KeyOf(description)
	return stages.PastCell{From: from, Cell: c, Host: instantiate.PastHost(key),
		Ran: func(block string) (name string, length int) { return instantiate.PastJob(key, block) }}
}
