package parts

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfexp/tfexp/estimator/clusterspeed"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/files"
	"github.com/tfexp/tfexp/experiments/words"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// What a law has where neither the file nor a table says more.
const (
	defaultExponent  = 0.8
	defaultSharpness = 4.0
)

// Runtime decodes the run time of a job whose speed depends on what its parts run on. rt has the arguments
// of the runtime block around it.
func (d Decoder) Runtime(n *eval.Node, e *eval.Env, rt *eval.Args, j *experiments.Job) (*experiments.Runtime,
	bool) {
	a := d.EvalArgs(n, e)
	for _, name := range []string{
		"epoch", "parallel", "speedup", "table", "file", "threads_column", "time_column", "where", "per", "losses", "loss_column",
		"gpu_rate", "beside",
	} {
		if rt.IsSet(name) {
			rt.Fail(rt.At(name), "Contradicting arguments",
				"%s and the cluster block both say how long the job takes.", name)
		}
	}
	switch workers := count(j.Roles, roleWorker) + count(j.Roles, roleChief); {
	case !has(j.Roles, roleWorker) && !has(j.Roles, roleChief):
		a.Fail(n.Header, "Job without workers",
			"A cluster block is for jobs with a role %q or %q, whose parts it counts.",
			roleWorker, roleChief)
	case j.Steps == 0 && j.Epochs > 0:
		a.Fail(n.Header, "Job without steps",
			"A cluster block knows steps per second: give the work of the job as steps.")
	case workers > 1 && !has(j.Roles, roleServer) && (a.IsSet("limit") || a.IsSet("file")):
		a.Fail(n.Header, "Workers without a parameter server",
			"%d workers need a role %q, which has the limit of the cluster.",
			workers, roleServer)
	}
	c := &experiments.ClusterSpeed{
		Range: eval.RangeOf(n.Header), Device: eval.Get[string](a, "device"),
		Law: clusterspeed.Law{Form: clusterspeed.Form(eval.Get[string](a, "law")), Exponent: defaultExponent,
			Sharpness: defaultSharpness},
	}
	d.clusterLaw(a, j, c)
	c.Regions = regionFactors(a)
	if !a.OK || !rt.OK || len(c.Rates) == 0 {
		return nil, false
	}
	device := c.Device
	if device == "" {
		device = c.Rates[0].Device
	}
	workers := clusterspeed.Alike(device, max(count(j.Roles, roleWorker)+count(j.Roles, roleChief), 1))
	step := time.Duration(math.Round(1e9 / c.Speed(workers, count(j.Roles, roleServer))))
	return &experiments.Runtime{
		Startup: eval.Get[time.Duration](rt, "startup"), Epoch: workload.Span{Kind: workload.Every, Mean: max(step, 1)},
		Cluster: c,
	}, true
}

// clusterLaw fits the law to a table, if there is one, and puts what the file gives in place of what was fitted.
func (d Decoder) clusterLaw(a *eval.Args, j *experiments.Job, c *experiments.ClusterSpeed) {
	if a.IsSet("file") {
		d.clusterTable(a, j, c)
	} else {
		for _, name := range []string{"columns", "steps", "model"} {
			if a.IsSet(name) {
				a.Fail(a.At(name), "Argument that nothing reads", "%s belongs to file, which is not set.", name)
			}
		}
		if a.Lacks("rates") {
			a.Fail(a.Node.Header, "Missing argument", "%s needs rates, or a file to fit them to.", a.Node.Title())
		}
	}
	for _, r := range eval.Get[[]experiments.GPURate](a, "rates") {
		rate := clusterspeed.Rate{Device: r.Type, StepsPerSecond: r.Rate}
		if i := slices.IndexFunc(c.Rates, func(o clusterspeed.Rate) bool { return o.Device == r.Type }); i >= 0 {
			c.Rates[i] = rate
		} else {
			c.Rates = append(c.Rates, rate)
		}
	}
	for name, into := range map[string]*float64{"limit": &c.Limit, "exponent": &c.Exponent, "sharpness": &c.Sharpness} {
		if a.IsSet(name) {
			*into = eval.Get[float64](a, name)
		}
	}
	if _, ok := c.Rate(c.Device); a.OK && c.Device != "" && !ok {
		a.Fail(a.At("device"), "Unknown device", "There is no rate for %q; there are rates for %s.", c.Device,
			words.AllOf(devices(c.Law)))
	}
}

// devices lists the types that a law has rates for.
func devices(l clusterspeed.Law) []string {
	var names []string
	for _, r := range l.Rates {
		names = append(names, r.Device)
	}
	return names
}

// clusterTable reads a table of measured clusters and fits the law to it.
func (d Decoder) clusterTable(a *eval.Args, j *experiments.Job, c *experiments.ClusterSpeed) {
	from, at := d.Find(eval.Get[string](a, "file")), a.At("file")
	steps := j.Steps
	if a.IsSet("steps") {
		steps = eval.Get[int](a, "steps")
	}
	t := clusterTable{steps: float64(steps)}
	t.columns = append(t.columns, clusterFacts...)
	for _, s := range eval.Get[[]experiments.Setting](a, "columns") {
		i := slices.Index(clusterFacts, s.Name)
		if i < 0 {
			a.Fail(a.At("columns"), "Unknown fact", "%q is not a fact of measured clusters, which are %s.", s.Name,
				words.AllOf(clusterFacts))
			return
		}
		t.columns[i], t.named[i] = s.Value, true
	}
	if !a.OK {
		return
	}
	if _, err := files.ReadAll(from, func(text io.Reader) error {
		_, err := workload.EachRow(from.Shown, text, false, t.head, t.row)
		return err
	}); err != nil {
		a.OK = false
		d.FileErrors(from, at, err)
		return
	}
	if len(t.samples) == 0 {
		a.Fail(at, "Table without rows", "%s has no measured cluster.", from.Shown)
		return
	}
	model, ok := chosenModel(a, at, from.Shown, t.samples)
	if !ok {
		return
	}
	fitted, err := clusterspeed.Fit(t.samples, c.Form)
	if err != nil {
		a.Fail(at, "Law that cannot be fitted", "%s", files.Sentence(err.Error()))
		return
	}
	c.Law, _ = fitted.Law(model)
	c.Samples, c.Model, c.File = t.samples, model, eval.Get[string](a, "file")
}

// chosenModel is the model of a table that the job trains.
func chosenModel(a *eval.Args, at hcl.Range, shown string, samples []clusterspeed.Sample) (string, bool) {
	var models []string
	for _, s := range samples {
		if !slices.Contains(models, s.Model) {
			models = append(models, s.Model)
		}
	}
	model := eval.Get[string](a, "model")
	switch {
	case a.IsSet("model") && !slices.Contains(models, model):
		a.Fail(a.At("model"), "Unknown model", "%s has no model %q, but %s.", shown, model, words.AllOf(models))
		return "", false
	case !a.IsSet("model") && len(models) > 1:
		a.Fail(at, "Several models", "%s has the models %s: say which of them the job trains with model.", shown,
			words.AllOf(models))
		return "", false
	case !a.IsSet("model"):
		return models[0], true
	}
	return model, true
}

// clusterFacts are the columns of a table of measured clusters.
var clusterFacts = []string{"model", "gpu", "parameter_servers", "workers", "steps_per_s", "seconds"}

// clusterTable reads the rows of a table.
type clusterTable struct {
	steps   float64
	columns []string // by fact
	named   [6]bool  // by the file
	at      []int    // of the columns; -1 for one that is not there
	samples []clusterspeed.Sample
}

func (t *clusterTable) head(columns []string) error {
	for i := range columns {
		columns[i] = strings.TrimSpace(columns[i])
	}
	for i, name := range t.columns {
		at := slices.Index(columns, name)
		if needed := i >= 1 && i <= 3 || t.named[i]; at < 0 && needed {
			return fmt.Errorf("there is no column %q; there are %s", name, workload.Names(columns))
		}
		t.at = append(t.at, at)
	}
	if t.at[4] < 0 && t.at[5] < 0 {
		return fmt.Errorf("there is no column %q nor %q; there are %s", t.columns[4], t.columns[5],
			workload.Names(columns))
	}
	return nil
}

func (t *clusterTable) row(_ int, fields []string) error {
	text := func(i int) string {
		if t.at[i] < 0 {
			return ""
		}
		return strings.TrimSpace(fields[t.at[i]])
	}
	s := clusterspeed.Sample{Model: text(0), Device: text(1)}
	var err, err2, err3 error
	s.Servers, err = strconv.Atoi(text(2))
	if err != nil || s.Servers < 0 {
		err = fmt.Errorf("%s %q is not a whole number from 0", t.columns[2], text(2))
	}
	if s.Workers, err2 = strconv.Atoi(text(3)); err2 != nil || s.Workers < 1 {
		err2 = fmt.Errorf("%s %q is not a whole number from 1", t.columns[3], text(3))
	}
	which := 4
	if t.at[4] < 0 || text(4) == "" && t.at[5] >= 0 {
		which = 5
	}
	value, err3 := strconv.ParseFloat(text(which), 64)
	if err3 != nil || !(value > 0) || math.IsInf(value, 1) {
		err3 = fmt.Errorf("%s %q is not a number above 0", t.columns[which], text(which))
	}
	if err := cmp.Or(err, err2, err3); err != nil {
		return err
	}
	if s.StepsPerSecond = value; which == 5 {
		s.StepsPerSecond = t.steps / value
	}
	t.samples = append(t.samples, s)
	return nil
}

// regionFactors reads the factors by pair of regions.
func regionFactors(a *eval.Args) []experiments.RegionFactor {
	var out []experiments.RegionFactor
	for _, r := range eval.Get[[]experiments.GPURate](a, "regions") {
		pair := strings.Fields(r.Type)
		if len(pair) != 2 || pair[0] == pair[1] {
			a.Fail(a.At("regions"), "Not a pair of regions",
				"%q is to be two regions with a blank between, as in \"us-east1 us-west1\".", r.Type)
			return nil
		}
		if r.Rate > 1 {
			a.Fail(a.At("regions"), "Value out of range",
				"The factor of %q is %g: a worker is not faster for being far away.", r.Type, r.Rate)
			return nil
		}
		out = append(out, experiments.RegionFactor{A: pair[0], B: pair[1], Factor: r.Rate})
	}
	return out
}
