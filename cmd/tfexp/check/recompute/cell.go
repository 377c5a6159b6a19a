package recompute

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
)

// cell has the fields of cell.json that are needed here.
type cell struct {
	record.CellRef
	State   string                     `json:"state"`
	Seconds float64                    `json:"seconds"`
	Busy    float64                    `json:"busy_cores"`
	Closed  float64                    `json:"closed_s"`
	Metrics map[string]json.RawMessage `json:"metrics"`
	Load    map[string]json.RawMessage `json:"load"`
	Groups  []struct {
		By, Name string
		Metrics  map[string]json.RawMessage
	} `json:"groups"`
	Files []record.File `json:"files"`
}

// field returns a member of a JSON object in the form in which tables print it.
func field(of map[string]json.RawMessage, name string) string {
	s := string(of[name])
	if s == "null" {
		return ""
	}
	return strings.Trim(s, `"`)
}

// cell checks a cell with a folder. ref is its entry in the plan; nil for the simulation of a real cell.
func (c *checker) cell(ref *record.CellRef, name string) {
	k := &cell{}
	at := record.CellsDir + "/" + name + "/"
	if !c.json(k, at+record.CellFile) {
		return // the cell is not complete, or it is in a shard
	}
	if ref != nil {
		c.in(at+record.CellFile, "")
		c.reference(ref, k)
		if c.cells[name] = k; ref.Key != "" { // recorded runs have no key
			c.sum(at+record.KeyFile, ref.Key)
		}
	}
	sizes := func(ofEvents bool) {
		for _, f := range k.Files {
			if info, err := folder.Stat(c.Dir, at+f.Name); err == nil && (f.Name == record.EventsFile) == ofEvents {
				c.in(at+f.Name, "")
				c.text("size in bytes", strconv.FormatInt(info.Size(), 10), strconv.FormatInt(f.Size, 10))
			}
		}
	}
	defer sizes(false) // later, so that differing values are reported first
	before := c.Count
	if sizes(true); c.Count > before {
		return // a power failure has truncated the file
	}
	if _, err := folder.Stat(c.Dir, at+record.EventsFile); !errors.Is(err, fs.ErrNotExist) {
		c.Cells++
		c.recompute(k, at)
	} else if ref == nil || ref.Beyond == nil {
		c.unchecked(withoutEvents)
	}
}

const withoutEvents = "cells without events (records = \"metrics\", recorded runs): their metrics are not recomputed"

// reference compares the entry of a cell in plan.json with the cell's own entry in cell.json.
func (c *checker) reference(ref *record.CellRef, k *cell) {
	of := func(r *record.CellRef) string {
		all := []any{r.Workload, r.Hardware, r.Replicate, r.Engine, r.Axes, r.Cores, r.GPUs, r.Key}
		if k.Key != "" {
			all = append(all, r.Cell, r.Policy, r.Seed)
		}
		return strings.TrimSpace(fmt.Sprintln(all...))
	}
	c.text("cell", of(&k.CellRef), of(ref))
}

// recompute replays the events of a cell, and compares its tables and metrics with the replay.
func (c *checker) recompute(k *cell, at string) {
	r := c.replay(k, at)
	if r == nil {
		return
	}
	all, groups := c.outcomes(r, at)
	if all.jobs < len(r.jobs) {
		return // jobs.csv lacks rows, so metrics would differ as well
	}
	c.in(at+record.CellFile, "metrics")
	c.values(k.Metrics, c.ofCell(k, r, all, at))
	c.in(at+record.CellFile, "load")
	if k.Closed == 0 && r.arrived == r.due { // a failed run may have ended before all arrivals
		c.text("queued_at_last_arrival", field(k.Load, "queued_at_last_arrival"), strconv.Itoa(r.waiting))
	}
	for _, g := range k.Groups {
		c.in(at+record.CellFile, g.By+" "+g.Name)
		if of := groups[[2]string{g.By, g.Name}]; of != nil { // nil for the group of all other jobs
			c.values(g.Metrics, of.metrics())
		}
	}
}

// values compares the metrics of a JSON object with the recomputed ones. Metrics that were not recomputed are skipped.
func (c *checker) values(has map[string]json.RawMessage, metrics map[string]wanted) {
	for _, metric := range slices.Sorted(maps.Keys(metrics)) {
		if want := metrics[metric]; has[metric] != nil {
			c.number(metric, field(has, metric), want.value, want.slack)
		}
	}
}

// shards reads the cells without a folder. Their metrics are compared with the tables, but cannot be recomputed without
// events.
func (c *checker) shards() {
	refs := map[string]*record.CellRef{}
	for i := range c.plan.Cells {
		refs[c.plan.Cells[i].Cell] = &c.plan.Cells[i]
	}
	entries, err := folder.ReadDir(c.Dir + "/" + record.CellsDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.unreadable(record.CellsDir, err)
	}
	for _, e := range entries {
		file := record.CellsDir + "/" + e.Name()
		if !strings.HasSuffix(file, ".jsonl") {
			continue
		}
		c.lines(func(line int, raw []byte) error {
			var l struct {
				Cell      string `json:"cell"`
				DependsOn string `json:"depends_on"`
				Result    cell   `json:"result"`
			}
			// A killed run may have written part of the line.
			if err := json.Unmarshal(raw, &l); err != nil && raw[len(raw)-1] == '\n' {
				return err
			}
			sum := sha256.Sum256([]byte(l.DependsOn))
			ref := refs[l.Cell]
			if ref == nil || ref.Key != hex.EncodeToString(sum[:]) {
				return nil // a line of an earlier plan
			}
			c.in(file, fmt.Sprintf("line %d", line))
			c.reference(ref, &l.Result)
			c.cells[l.Cell] = &l.Result
			c.unchecked(withoutEvents)
			return nil
		}, file)
	}
}

// complete lists the cells that the tables contain, in the order of the plan.
func (c *checker) complete() (list []*cell) {
	for _, ref := range c.plan.Cells {
		if k := c.cells[ref.Cell]; k != nil && ref.Beyond == nil {
			k.CellRef = ref
			list = append(list, k)
		}
	}
	return list
}
