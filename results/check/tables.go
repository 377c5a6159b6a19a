package check

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// place compares the first columns of a row with the cell that it is about.
func (c *checker) place(o row, k *cellRef) {
	c.text("cell", o.get("cell"), k.Cell)
	c.text("workload", o.get("workload"), k.Workload)
	c.text("hardware", o.get("hardware"), k.Hardware)
	c.text("policy", o.get("policy"), k.Policy)
	c.text("replicate", o.get("replicate"), strconv.Itoa(k.Replicate))
	for _, a := range c.plan.Axes {
		c.text(a, o.get(a), k.axis(a))
	}
}

// perCell compares a table that has a row for each cell, in the order of the plan.
func (c *checker) perCell(name string, compare func(row, *cell)) error {
	cells := c.complete()
	i := 0
	there, err := c.each(func(o row) error {
		if i >= len(cells) {
			c.in(name, fmt.Sprintf("line %d", o.line))
			c.differs("cell", o.get("cell"), "the end")
			return nil
		}
		c.in(name, fmt.Sprintf("line %d (%s)", o.line, cells[i].Cell))
		c.place(o, &cells[i].cellRef)
		compare(o, cells[i])
		i++
		return nil
	}, name)
	if there && i < len(cells) {
		c.in(name, "")
		c.differs("rows", strconv.Itoa(i), strconv.Itoa(len(cells)))
	}
	return err
}

// metrics compares metrics.csv with the cells.
func (c *checker) metrics() error {
	return c.perCell("metrics.csv", func(o row, k *cell) {
		c.text("engine", o.get("engine"), k.Engine)
		c.text("state", o.get("state"), k.State)
		for column := range k.Metrics {
			if o.has(column) {
				c.text(column, o.get(column), k.metric(column))
			}
		}
		c.text("saturated", o.get("saturated"), field(k.Load, "saturated"))
		c.text("queued_at_last_arrival", o.get("queued_at_last_arrival"), field(k.Load, "queued_at_last_arrival"))
		c.number("offered_load", o.get("offered_load"), parse(field(k.Load, "offered_load")))
	})
}

// timings compares timings.csv with the cells.
func (c *checker) timings() error {
	return c.perCell("timings.csv", func(o row, k *cell) {
		for column, want := range map[string]float64{"seconds": k.Seconds, "busy_cores": k.Busy} {
			if o.has(column) && (column != "busy_cores" || k.Busy >= 0) {
				c.number(column, o.get(column), want)
			}
		}
	})
}

// jobs compares jobs.csv with the cells' tables of jobs.
func (c *checker) jobs() error {
	whole, err := c.open("jobs.csv")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer whole.file.Close()
	for _, k := range c.complete() {
		_, err := c.each(func(o row) error {
			if !whole.next() {
				c.in("jobs.csv", "")
				c.differs("job", "the end", o.get("job"))
				return whole.err
			}
			c.in("jobs.csv", fmt.Sprintf("line %d (job %s of %s)", whole.line, o.get("job"), k.Cell))
			c.place(whole.row, &k.cellRef)
			for column := range o.at {
				if whole.has(column) && !slices.Contains(c.plan.Axes, column) {
					c.text(column, whole.get(column), o.get(column))
				}
			}
			return nil
		}, "cells", k.Cell, "jobs.csv")
		if err != nil {
			return err
		}
	}
	if whole.next() {
		c.in("jobs.csv", fmt.Sprintf("line %d", whole.line))
		c.differs("job", whole.get("job"), "the end")
	}
	return whole.err
}

// fidelity compares fidelity.csv with the metrics of cells and of their simulations.
func (c *checker) fidelity() error {
	return c.rows("fidelity.csv", func(o row) {
		k, twin := c.cells[o.get("cell")], c.cells[o.get("cell")+"/simulated"]
		if k == nil || twin == nil {
			c.differs("cell", o.get("cell"), "a cell with its simulation")
			return
		}
		real, simulated := k.value(o.get("metric")), twin.value(o.get("metric"))
		c.number("real", o.get("real"), real)
		c.number("simulated", o.get("simulated"), simulated)
		off := 100 * (simulated - real) / real
		if simulated == real {
			off = 0
		}
		c.number("error_pct", o.get("error_pct"), off)
	})
}

// fidelityJobs compares fidelity_jobs.csv with the jobs of cells and of their simulations.
func (c *checker) fidelityJobs() error {
	cell := ""
	times := map[string][2]float64{}
	read := func(name ...string) error {
		_, err := c.each(func(o row) error {
			times[name[1]+"\x00"+strings.Clone(o.get("job"))] = [2]float64{o.value("first_start_s"), o.value("finish_s")}
			return nil
		}, append(name, "jobs.csv")...)
		return err
	}
	_, err := c.each(func(o row) error {
		c.in("fidelity_jobs.csv", fmt.Sprintf("line %d", o.line))
		if name := strings.Clone(o.get("cell")); name != cell {
			cell = name
			clear(times)
			if err := errors.Join(read("cells", cell), read("cells", cell+"/simulated")); err != nil {
				return err
			}
		}
		real, simulated := times[cell+"\x00"+o.get("job")], times[cell+"/simulated\x00"+o.get("job")]
		for i, what := range []string{"start", "finish"} {
			c.number(what+"_real_s", o.get(what+"_real_s"), real[i])
			c.number(what+"_simulated_s", o.get(what+"_simulated_s"), simulated[i])
			c.number(what+"_error_s", o.get(what+"_error_s"), simulated[i]-real[i])
		}
		return nil
	}, "fidelity_jobs.csv")
	return err
}

// fidelityDecisions compares the numbers of decisions.
func (c *checker) fidelityDecisions() error {
	_, err := c.each(func(o row) error {
		c.in("fidelity_decisions.csv", fmt.Sprintf("line %d", o.line))
		count := func(name string) (n int, err error) {
			err = lines(c.Dir, func(int, []byte) error { n++; return nil }, "cells", name, "decisions.jsonl")
			return n, err
		}
		real, err1 := count(o.get("cell"))
		simulated, err2 := count(o.get("cell") + "/simulated")
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		c.text("decisions", o.get("decisions"), strconv.Itoa(real))
		c.text("simulated_decisions", o.get("simulated_decisions"), strconv.Itoa(simulated))
		return nil
	}, "fidelity_decisions.csv")
	return err
}

// profiling compares profiling.csv with samples.csv and the metrics of the cells.
func (c *checker) profiling() error {
	cost := 0.0
	err := c.rows("samples.csv", func(o row) { cost += max(0, parse("0"+o.get("sampling_s"))) })
	if err != nil {
		return err
	}
	cells := c.complete()
	return c.rows("profiling.csv", func(o row) {
		var makespan, jct []float64
		for _, b := range cells {
			for _, k := range cells {
				if b.variant() == o.get("baseline") && k.variant() == o.get("policy") && b.Replicate == k.Replicate &&
					sameJobs(b, k) && b.Error == "" && k.Error == "" && b.Workload == o.get("workload") && k.Workload == b.Workload &&
					b.Hardware == o.get("hardware") && k.Hardware == b.Hardware {
					makespan = append(makespan, b.value("makespan_s")-k.value("makespan_s"))
					jct = append(jct, b.value("mean_jct_s")-k.value("mean_jct_s"))
				}
			}
		}
		c.text("pairs", o.get("pairs"), strconv.Itoa(len(makespan)))
		c.about("sampling_s", o.get("sampling_s"), cost, 1e-5)
		c.number("makespan_gain_s", o.get("makespan_gain_s"), mean(makespan))
		c.number("mean_jct_gain_s", o.get("mean_jct_gain_s"), mean(jct))
		c.about("net_makespan_s", o.get("net_makespan_s"), sum(makespan)-cost, 1e-5)
	})
}

// sums compares the files with SHA256SUMS.
func (c *checker) sums() error {
	listed, err := readSums(c.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		c.unchecked("there is no SHA256SUMS: a run goes on, was killed, or an earlier version wrote the files")
		return nil
	}
	if err != nil {
		return err
	}
	for _, s := range listed {
		c.in(s.path, "")
		c.Files++
		switch sum, err := sumOf(c.Dir, s.path); {
		case errors.Is(err, fs.ErrNotExist):
			c.differs("", "no file", "the one that was written")
		case err != nil:
			return err
		case sum != s.sum:
			c.differs("SHA-256", sum, s.sum)
		}
	}
	return nil
}
