package check

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/results/folder"
)

// plan is the needed part of plan.json.
type plan struct {
	Axes       []string  `json:"axes"`
	Cells      []cellRef `json:"cells"`
	Compares   []compare `json:"compares"`
	Estimating []string  `json:"estimating"`
	Targets    []struct {
		Class string `json:"class"`
	} `json:"targets"`
}

type compare struct {
	Baseline string `json:"baseline"`
}

// cellRef identifies a cell: in plan.json and in cell.json.
type cellRef struct {
	Cell      string    `json:"cell"`
	Workload  string    `json:"workload"`
	Hardware  string    `json:"hardware"`
	Policy    string    `json:"policy"`
	Replicate int       `json:"replicate"`
	Seed      int64     `json:"seed"`
	Engine    string    `json:"engine"`
	Simulated bool      `json:"simulated"`
	Recorded  bool      `json:"recorded"`
	Fixed     bool      `json:"fixed"`
	Axes      []setting `json:"axes"`
	Cores     int       `json:"cores"`
	GPUs      int       `json:"gpus"`
	Key       string    `json:"key"`
	Trial     any       `json:"trial"`
}

type setting struct{ Name, Value string }

// axis is the value of an axis; empty where the cell does not read it.
func (c *cellRef) axis(name string) string {
	for _, a := range c.Axes {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// variant is the policy with its axes.
func (c *cellRef) variant() string {
	s := c.Policy
	for _, a := range c.Axes {
		s += " " + a.Name + "=" + a.Value
	}
	return s
}

// place returns a cell's workload, hardware and variant.
func (c *cellRef) place() [3]string { return [3]string{c.Workload, c.Hardware, c.variant()} }

// cell is the needed part of cell.json.
type cell struct {
	cellRef
	State    string                     `json:"state"`
	Seconds  float64                    `json:"seconds"`
	Busy     float64                    `json:"busy_cores"`
	Error    string                     `json:"error"`
	Closed   float64                    `json:"closed_s"`
	Metrics  map[string]json.RawMessage `json:"metrics"`
	Load     map[string]json.RawMessage `json:"load"`
	Warnings []struct {
		Code string `json:"code"`
	} `json:"warnings"`
	Failures []struct {
		Job string  `json:"job"`
		At  float64 `json:"t_s"`
	} `json:"failures"`
	Groups []struct {
		By, Name string
		Metrics  map[string]float64
	} `json:"groups"`
	Files []struct {
		Name string `json:"name"`
		Size int64  `json:"bytes"`
	} `json:"files"`
	Estimated []estimated `json:"estimated"`
}

// field is a member of an object as the tables print it.
func field(of map[string]json.RawMessage, name string) string {
	s := string(of[name])
	if s == "null" {
		return ""
	}
	return strings.Trim(s, `"`)
}

// metric is a metric of the cell as metrics.csv prints it.
func (c *cell) metric(name string) string { return field(c.Metrics, name) }

func (c *cell) value(name string) float64 {
	v, err := strconv.ParseFloat(c.metric(name), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// cell checks a cell that has a folder, and its simulation.
func (c *checker) cell(ref *cellRef) error {
	found, err := c.folder(ref, ref.Cell)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // not complete, or in a shard
	}
	if err != nil {
		return err
	}
	c.cells[ref.Cell] = found
	twin, err := c.folder(nil, ref.Cell+"/simulated")
	if err == nil {
		c.cells[twin.Cell] = twin
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// folder checks the cell in a folder. Only a cell of the plan is one that the plan describes.
func (c *checker) folder(ref *cellRef, name string) (*cell, error) {
	k := &cell{}
	c.in("cells/"+name+"/cell.json", "")
	if err := c.json(k, "cells", name, "cell.json"); err != nil {
		return nil, err
	}
	at := "cells/" + name + "/"
	c.in(at+"cell.json", "")
	if ref != nil {
		c.reference(ref, k)
		if ref.Key != "" { // recorded runs have none
			raw, err := folder.ReadFile(c.Dir, "cells", name, "key.txt")
			if err != nil {
				return nil, err
			}
			sum := sha256.Sum256(raw)
			c.in(at+"key.txt", "")
			c.text("hash", hex.EncodeToString(sum[:]), ref.Key)
		}
	} else {
		k.Cell = name
	}
	c.in(at+"cell.json", "")
	for _, f := range k.Files {
		if info, err := folder.Stat(c.Dir, "cells", name, f.Name); err == nil {
			c.in(at+f.Name, "")
			c.text("size in bytes", strconv.FormatInt(info.Size(), 10), strconv.FormatInt(f.Size, 10))
		}
	}
	if _, err := folder.Stat(c.Dir, "cells", name, "events.jsonl"); errors.Is(err, fs.ErrNotExist) {
		if ref == nil || ref.Trial == nil {
			c.unchecked("cells without events (records = \"metrics\", recorded runs): their metrics are not recomputed")
		}
		return k, nil
	}
	c.Cells++
	return k, c.recompute(k, name, at)
}

// reference compares the entries of plan.json and cell.json on a cell.
func (c *checker) reference(ref *cellRef, k *cell) {
	for _, x := range []struct {
		column    string
		has, want any
	}{{"cell", k.Cell, ref.Cell}, {"workload", k.Workload, ref.Workload}, {"hardware", k.Hardware, ref.Hardware},
		{"policy", k.Policy, ref.Policy}, {"replicate", k.Replicate, ref.Replicate}, {"seed", k.Seed, ref.Seed},
		{"engine", k.Engine, ref.Engine}, {"axes", k.Axes, ref.Axes}, {"cores", k.Cores, ref.Cores},
		{"gpus", k.GPUs, ref.GPUs}, {"key", k.Key, ref.Key}} {
		if x.column != "seed" && x.column != "cell" && x.column != "policy" || k.Key != "" {
			c.text(x.column, fmt.Sprint(x.has), fmt.Sprint(x.want))
		}
	}
}

// recompute replays the events of a cell, and compares its tables and metrics with the replay.
func (c *checker) recompute(k *cell, name, at string) error {
	r := newReplay()
	r.broken = func(format string, args ...any) {
		c.differs("schedule", fmt.Sprintf(format, args...), "a valid schedule")
	}
	err := lines(c.Dir, func(line int, raw []byte) error {
		c.in(at+"events.jsonl", fmt.Sprintf("line %d", line))
		c.Values++
		return r.read(raw)
	}, "cells", name, "events.jsonl")
	if err != nil {
		return err
	}
	c.in(at+"events.jsonl", "")
	for what, n := range map[*map[int][]*life]int{&r.cores: k.Cores, &r.gpus: k.GPUs} {
		for number := range *what {
			if number >= n && n > 0 {
				r.broken("core or GPU %d of %d is held", number, n)
			}
		}
	}
	sum := newTotals()
	if err := c.outcomes(k, r, sum, name, at); err != nil {
		return err
	}
	if err := c.occupancy(r, name, at); err != nil {
		return err
	}
	if err := c.decisions(r, name, at); err != nil {
		return err
	}
	if !k.Recorded { // whose servers cost more than their part of a run
		sum.servers = []float64{}
		_, err = c.each(func(s row) error {
			sum.servers = append(sum.servers, s.value("cost_usd"))
			return nil
		}, "cells", name, "servers.csv")
	}
	c.in(at+"cell.json", "metrics")
	metrics := sum.metrics(r, k)
	for _, metric := range slices.Sorted(maps.Keys(metrics)) {
		if want := metrics[metric]; k.Metrics[metric] != nil {
			c.about(metric, k.metric(metric), want.value, want.slack)
		}
	}
	c.in(at+"cell.json", "load")
	if k.Closed == 0 && len(r.order) > 0 {
		c.text("queued_at_last_arrival", field(k.Load, "queued_at_last_arrival"), strconv.Itoa(r.waiting))
	}
	c.in(at+"cell.json", "failures")
	for i, f := range k.Failures {
		if i < len(r.failed) {
			c.text("job", f.Job, r.failed[i])
			if l := r.lives[f.Job]; l != nil {
				c.number("t_s", printed(f.At), float64(l.end)/1e6)
			}
		}
	}
	for _, g := range k.Groups {
		c.in(at+"cell.json", g.By+" "+g.Name)
		of := sum.groups[g.By][g.Name]
		if of == nil {
			continue // different from the most frequent ones
		}
		for _, metric := range slices.Sorted(maps.Keys(g.Metrics)) {
			if want, ok := of.grouped()[metric]; ok {
				c.number(metric, printed(g.Metrics[metric]), want)
			}
		}
	}
	return err
}

// occupancy compares occupancy.csv.
func (c *checker) occupancy(r *replay, name, at string) error {
	i := 0
	_, err := c.each(func(o row) error {
		if o.get("cores_held") == "" { // usage of containers
			return nil
		}
		c.in(at+"occupancy.csv", fmt.Sprintf("line %d", o.line))
		if i >= len(r.steps) {
			c.differs("", "a row", "the end")
			return nil
		}
		s := r.steps[i]
		c.number("t_s", o.get("t_s"), float64(s.at)/1e6)
		c.text("cores_held", o.get("cores_held"), strconv.Itoa(s.cores))
		c.text("running", o.get("running"), strconv.Itoa(s.running))
		c.text("queued", o.get("queued"), strconv.Itoa(s.queued))
		c.text("paused", o.get("paused"), strconv.Itoa(s.paused))
		i++
		return nil
	}, "cells", name, "occupancy.csv")
	if i < len(r.steps) {
		c.in(at+"occupancy.csv", "")
		c.differs("rows", strconv.Itoa(i), strconv.Itoa(len(r.steps)))
	}
	return err
}

// decisions checks that each decision was carried out: an event of its kind, job, instant and cores.
func (c *checker) decisions(r *replay, name, at string) error {
	err := lines(c.Dir, func(line int, raw []byte) error {
		var d event
		if err := json.Unmarshal(raw, &d); err != nil {
			return err
		}
		c.in(at+"decisions.jsonl", fmt.Sprintf("line %d", line))
		c.Values++
		if k := key(d.Decision, &d); r.said[hash(k)] > 0 {
			r.said[hash(k)]--
		} else {
			c.differs("decision", k, "one of the events")
		}
		return nil
	}, "cells", name, "decisions.jsonl")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// shards reads the cells without a folder: their lines are compared with the tables, but cannot be recomputed.
func (c *checker) shards() error {
	refs := map[string]*cellRef{}
	for i := range c.plan.Cells {
		refs[c.plan.Cells[i].Cell] = &c.plan.Cells[i]
	}
	entries, err := folder.ReadDir(c.Dir + "/cells")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".jsonl") {
			continue
		}
		err = errors.Join(err, lines(c.Dir, func(line int, raw []byte) error {
			var l struct {
				Cell      string `json:"cell"`
				DependsOn string `json:"depends_on"`
				Result    cell   `json:"result"`
			}
			if err := json.Unmarshal(raw, &l); err != nil {
				return err
			}
			sum := sha256.Sum256([]byte(l.DependsOn))
			ref := refs[l.Cell]
			if ref == nil || ref.Key != hex.EncodeToString(sum[:]) {
				return nil // of an earlier plan
			}
			c.in("cells/"+e.Name(), fmt.Sprintf("line %d", line))
			c.reference(ref, &l.Result)
			c.cells[l.Cell] = &l.Result
			c.unchecked("cells without events (records = \"metrics\", recorded runs): their metrics are not recomputed")
			return nil
		}, "cells", e.Name()))
	}
	return err
}

// complete lists the cells that tables have, in the order of the plan.
func (c *checker) complete() (list []*cell) {
	for i := range c.plan.Cells {
		if k := c.cells[c.plan.Cells[i].Cell]; k != nil && c.plan.Cells[i].Trial == nil {
			k.cellRef = c.plan.Cells[i]
			list = append(list, k)
		}
	}
	return list
}

// troubled reports whether something outside of the experiment disturbed the cell.
func (c *cell) troubled() bool { return c.warned("disturbed") || c.warned("busy_machine") }

func (c *cell) warned(code string) bool {
	return slices.ContainsFunc(c.Warnings, func(w struct {
		Code string `json:"code"`
	}) bool {
		return w.Code == code
	})
}
