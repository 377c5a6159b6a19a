package pipeline

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tfexp/tfexp/pipeline/instantiate"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// past calls visit for the finished real cells that are not in the plan, until it
// returns false. It visits the cells of other experiments in the same folder of
// results, and the cells of this experiment that the cache still has. It skips
// unreadable cells.
func (p *Plan) past(v store.View, visit func(stages.PastCell) bool) {
	if p.pastOfOthers(visit) {
		p.pastOfCache(v, visit)
	}
}

// pastOfOthers visits the cells of the other experiments in the same folder of
// results. It reports whether visit wants more.
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

// pastOfCache visits the cells that are only in the cache.
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

// visitPacked visits a cell that the cache has, in a folder that lasts as long.
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

// pastCell returns a cell with the facts in its key.
func pastCell(from *record.Experiment, c record.Cell, description string) stages.PastCell {
	key := store.KeyOf(description)
	return stages.PastCell{From: from, Cell: c, Host: instantiate.PastHost(key),
		Ran: func(block string) (name, kind string, length int) { return instantiate.PastJob(key, block) }}
}

// Explanation says of one cell why it last ran, how that ended, and all that
// its results depend on.
type Explanation struct {
	Cell string `json:"cell"`
	// State is finished, failed, interrupted, or "not run".
	State string `json:"state"`
	// Ran is when it last ran, Reason and Changes why.
	Ran     time.Time      `json:"ran,omitzero"`
	Reason  string         `json:"reason,omitempty"`
	Changes []store.Change `json:"changes,omitempty"`
	Seconds float64        `json:"seconds,omitempty"`
	// Key is the hash of Lines, the labeled values that it was run under.
	Key   string   `json:"key"`
	Lines []string `json:"depends_on"`
	// Error describes the failure of the cell as a whole. Failures are the first failed jobs, and More is the number of
	// other failed jobs.
	Error    string            `json:"error,omitempty"`
	Failures []measure.Failure `json:"failures,omitempty"`
	More     int               `json:"more,omitempty"`
}

// Explain reads from an experiment's folder why a cell last ran.
func Explain(dir, cell string) (Explanation, error) {
	x := Explanation{Cell: cell, State: "not run"}
	text, c, err := description(dir, cell)
	if err != nil {
		return x, fmt.Errorf("explain %s: %w", cell, err)
	}
	if text != "" {
		x.Lines = strings.Split(strings.TrimSpace(text), "\n")
		x.Key, x.State, x.Failures = store.HashOf(text), c.State, c.Failures
		x.More = max(0, measure.Failed.CountOf(&c.Metrics)-len(c.Failures))
	}
	entries, err := store.ReadJournal(dir)
	if err != nil {
		return x, fmt.Errorf("explain %s: %w", cell, err)
	}
	for _, e := range entries {
		switch {
		case e.Event == "cell_start" && e.Unit == cell:
			x.Ran, x.Reason, x.Changes, x.Error = e.Time, e.Text, e.Changes, ""
		case e.Event == "cell_end" && e.Unit == cell:
			x.Seconds, x.Error = e.Seconds, e.Text
		}
	}
	return x, nil
}
