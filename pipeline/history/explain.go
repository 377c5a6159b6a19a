// Package history reads the past runs of an experiment from its folder.
package history

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// Explanation says why a cell last ran, how that run ended, and on which values its results depend.
type Explanation struct {
	Cell string `json:"cell"`
	// State is finished, failed, interrupted, or "not run".
	State string `json:"state"`
	// Ran is the time of the last run; Reason and Changes say why the cell ran.
	Ran     time.Time      `json:"ran,omitzero"`
	Reason  string         `json:"reason,omitempty"`
	Changes []store.Change `json:"changes,omitempty"`
	Seconds float64        `json:"seconds,omitempty"`
	// Key is the hash of Lines, the labeled values on which the results depend.
	Key   string   `json:"key"`
	Lines []string `json:"depends_on"`
	// Error describes the failure of the cell as a whole. Failures are the first failed jobs, and More is the number of
	// other failed jobs.
	Error    string            `json:"error,omitempty"`
	Failures []measure.Failure `json:"failures,omitempty"`
	More     int               `json:"more,omitempty"`
}

// Explain reads from an experiment's folder why a cell last ran and how that ended.
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
	entries, err := ReadJournal(dir)
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

// description reads the key's description and the results of a cell's last run. The state is interrupted if the run
// has not written results.
func description(dir, cell string) (text string, c record.Cell, err error) {
	raw, err := folder.ReadFile(dir, record.CellsDir, cell, store.KeyFile)
	if err == nil {
		if folder.ReadJSON(dir, &c, record.CellsDir, cell, record.CellFile) != nil || c.State == "" {
			c = record.Cell{State: "interrupted"}
		}
		return string(raw), c, nil
	}
	if !os.IsNotExist(err) {
		return "", c, err
	}
	shards, err := record.OpenShards(dir, "")
	if err != nil {
		return "", c, err
	}
	at, ok := shards.Last(cell)
	if !ok {
		return "", c, nil
	}
	l, err := shards.Line(at)
	c = l.Result
	c.State = at.State
	return l.DependsOn, c, err
}
