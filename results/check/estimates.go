package check

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
)

// estimated is an estimate that was in force when a cell began, in cell.json.
type estimated struct {
	Job       string  `json:"job"`
	Threads   int     `json:"threads"`
	GPUs      int     `json:"gpus"`
	Predicted float64 `json:"predicted_s"`
	Low       float64 `json:"low_s"`
	High      float64 `json:"high_s"`
	Factor    float64 `json:"factor"`
	Runs      int     `json:"runs"`
}

// estimate is a row of estimates.csv, and the runs that it is compared with.
type estimate struct {
	job, hardware, model, axes, role, threads, gpus string
	predicted, low, high                            float64
	line                                            int
	row                                             map[string]string

	seconds []float64 // of all runs
	before  errorsOf  // of the estimate itself
	later   errorsOf  // of the estimates in force when the cells began
	changed bool      // some of these were corrected
}

// errorsOf are the errors of predictions of real runs, in percent.
type errorsOf struct {
	percent          []float64
	bounded, covered int
}

func (e *errorsOf) add(predicted, low, high, took float64) {
	e.percent = append(e.percent, 100*(predicted-took)/took)
	if low < 0 || math.IsNaN(low) {
		return
	}
	e.bounded++
	if low <= took && took <= high {
		e.covered++
	}
}

// whole reports whether a job finished, and had its full request all the time.
func whole(o row) bool {
	return o.get("state") == "finished" && o.get("resizes") == "0" &&
		o.value("threads_mean") == o.value("threads_requested")
}

// shown reports whether a job of a cell shows how long the job of an estimate takes.
func (e *estimate) shown(o row, k *cell) bool {
	if !whole(o) || o.get("class") != e.job || k.Hardware != e.hardware || o.get("threads_requested") != e.threads ||
		o.get("gpus") != e.gpus {
		return false
	}
	for _, want := range strings.Fields(e.axes) {
		is := func(a setting) bool { return a.Name+"="+strings.ReplaceAll(a.Value, " ", "") == want }
		if !slices.ContainsFunc(k.Axes, is) {
			return false
		}
	}
	return true
}

// estimates compares estimates.csv and accuracy.csv with the jobs of the cells.
func (c *checker) estimates() error {
	var all []*estimate
	err := c.rows("estimates.csv", func(o row) {
		e := &estimate{line: o.line, row: map[string]string{}}
		for column := range o.at {
			e.row[column] = strings.Clone(o.get(column))
		}
		e.job, e.hardware, e.model, e.axes = e.row["job"], e.row["hardware"], e.row["model"], e.row["axes"]
		e.role, e.threads, e.gpus = e.row["role"], e.row["threads"], e.row["gpus"]
		e.predicted, e.low, e.high = o.value("predicted_s"), o.value("low_s"), o.value("high_s")
		all = append(all, e)
	})
	if err != nil || len(all) == 0 {
		return err
	}
	// Jobs that end when they have reached something: their run time is no estimate's.
	var early []string
	for _, t := range c.plan.Targets {
		early = append(early, t.Class)
	}
	for _, k := range c.complete() {
		if err := c.compareEstimates(k, all, early); err != nil {
			return err
		}
	}
	for _, e := range all {
		c.in("estimates.csv", fmt.Sprintf("line %d (%s)", e.line, e.job))
		c.text("runs", e.row["runs"], strconv.Itoa(len(e.seconds)))
		c.text("covered", e.row["covered"], strconv.Itoa(e.before.covered))
		c.number("actual_s", e.row["actual_s"], mean(e.seconds))
		c.number("actual_sd_s", e.row["actual_sd_s"], deviation(e.seconds))
		actual := mean(e.seconds) // of values with six digits, as the prediction
		c.about("error_pct", e.row["error_pct"], 100*(e.predicted-actual)/actual, 1e-4*(1+e.predicted/actual)/actual)
		if e.low > e.predicted || e.high < e.predicted {
			c.differs("predicted_s", e.row["predicted_s"], "within its interval")
		}
	}
	return c.accuracy(all)
}

func deviation(x []float64) float64 {
	m, squares := mean(x), 0.0
	for _, v := range x {
		squares += (v - m) * (v - m)
	}
	if len(x) < 2 {
		return math.NaN()
	}
	return math.Sqrt(squares / float64(len(x)-1))
}

// compareEstimates collects the runs of a cell.
func (c *checker) compareEstimates(k *cell, all []*estimate, early []string) error {
	real := !k.Simulated && !k.Recorded && k.Engine != "simulated"
	twin := map[string]float64{} // service times in the simulation, of jobs with their full request
	if real {
		_, err := c.each(func(o row) error {
			if whole(o) {
				twin[strings.Clone(o.get("job"))] = o.value("service_s")
			}
			return nil
		}, "cells", k.Cell, "simulated", "jobs.csv")
		if err != nil {
			return err
		}
	}
	_, err := c.each(func(o row) error {
		service, longer := o.value("service_s"), 1.0
		for _, e := range all {
			if slices.Contains(early, o.get("class")) || !e.shown(o, k) {
				continue
			}
			e.seconds = append(e.seconds, service)
			if !real {
				continue
			}
			if e.role == "used" {
				at := slices.IndexFunc(k.Estimated, func(f estimated) bool {
					return f.Job == e.job && strconv.Itoa(f.Threads) == e.threads && strconv.Itoa(f.GPUs) == e.gpus && f.Factor > 0
				})
				factor := 1.0
				if at >= 0 {
					factor = k.Estimated[at].Factor
				}
				longer = 1
				if t := twin[o.get("job")]; t > 0 && e.predicted > 0 {
					longer = t / e.predicted / factor
				}
				if at >= 0 {
					f := k.Estimated[at]
					e.later.add(longer*f.Predicted, longer*f.Low, longer*f.High, service)
					e.changed = e.changed || f.Runs > 0
				}
			}
			e.before.add(longer*e.predicted, longer*e.low, longer*e.high, service)
		}
		return nil
	}, "cells", k.Cell, "jobs.csv")
	return err
}

// accuracy compares accuracy.csv with the runs.
func (c *checker) accuracy(all []*estimate) error {
	return c.rows("accuracy.csv", func(o row) {
		var before, later errorsOf
		n := 0
		for _, e := range all {
			resource := e.hardware + ", " + e.threads + " threads"
			if e.threads == "1" {
				resource = e.hardware + ", 1 thread"
			}
			if e.gpus != "0" {
				resource += ", " + e.gpus + " GPUs"
			}
			group := map[string]string{"all": "", "job": e.job, "resource": resource}[o.get("by")]
			if e.model != o.get("model") || group != o.get("group") || len(e.before.percent) == 0 {
				continue
			}
			n++
			before.join(e.before)
			later.join(e.later)
		}
		if o.get("made") == "corrected" {
			before = later
		}
		size := schema.Each(before.percent, math.Abs)
		c.text("estimates", o.get("estimates"), strconv.Itoa(n))
		c.text("runs", o.get("runs"), strconv.Itoa(len(before.percent)))
		c.about("mean_abs_error_pct", o.get("mean_abs_error_pct"), mean(size), 1e-6)
		c.about("sd_error_pct", o.get("sd_error_pct"), deviation(before.percent), 1e-6)
		c.about("bias_pct", o.get("bias_pct"), mean(before.percent), 1e-6)
		c.number("coverage", o.get("coverage"), float64(before.covered)/float64(before.bounded))
	})
}

func (e *errorsOf) join(o errorsOf) {
	e.percent = append(e.percent, o.percent...)
	e.bounded += o.bounded
	e.covered += o.covered
}
