package clusterspeed

import (
	"cmp"
	"embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
	"github.com/tfexp/tfexp/stages/clusterspeed/law"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
	"github.com/tfexp/tfexp/stages/language/datafile"
)

// clusterArgs are the arguments of a cluster block.
//
// The simulated speed of a job with roles, by the devices of its parts, also after a worker is lost or returns. A
// worker on a device that alone makes r steps/s makes r times the factor of its region; n parameter servers serve at
// most P = `limit` · n^`exponent` steps/s. All parts together make (S^−p + P^−p)^(−1/p) steps/s with p = `sharpness`,
// where S is the sum over the workers: of 1/(1/r + 1/P), as each step waits to be served, or of r with `law = "apart"`.
// A worker without parameter servers keeps the weights itself, which takes it as long as one server. The roles `worker`
// and `chief` work, `ps` serves.
//
// The rates, the limit, the exponent and the sharpness are given, or fitted to a `file` of measured clusters;
// a value given next to a file replaces the fitted one. Several models in a file have exponents and sharpnesses
// near common ones, unless their measurements say otherwise. The report then shows how well the law predicts
// clusters of 5 workers or more from smaller ones (`cluster_speed.csv`).
//
//	job "resnet32" {
//	  command = ["train"]
//	  steps   = 64000
//	  role "worker" {
//	    count   = 4
//	    gpus    = 1
//	    elastic = true
//	  }
//	  role "ps" {
//	    count   = 1
//	    threads = 0
//	  }
//	  runtime {
//	    startup = "30s"
//	    cluster {
//	      rates   = { K80 = 5.1, V100 = 19.5 }
//	      limit   = 44
//	      regions = { "us-east1 us-west1" = 0.8 }
//	    }
//	  }
//	}
type clusterArgs struct {
	// A CSV file of measured clusters with the columns `gpu`, `parameter_servers`, `workers`, `steps_per_s` and
	// optionally `model`; relative to the folder of the experiment file. In place of `steps_per_s` it can have
	// `seconds`, the duration of `steps` steps.
	//
	//	file = "steps_per_s.csv"
	File string `arg:"file"`
	// The names of columns of `file` that differ from those of `file`.
	//
	// Default: as above.
	//
	//	columns = { gpu = "device", seconds = "duration" }
	Columns []schema.Setting `arg:"columns" needs:"file"`
	// The number of steps that the times in the column `seconds` are for.
	//
	// Default: the steps of the job.
	//
	//	steps = 64000
	Steps int `arg:"steps" min:"1" max:"epochs" needs:"file"`
	// The model in `file` that the job trains.
	//
	// Default: the only one.
	//
	//	model = "res32"
	Model string `arg:"model" needs:"file"`
	// The steps per second of one worker that never waits for parameter servers, by its type of GPU.
	//
	// Default: fitted.
	//
	//	rates = { K80 = 5.1, V100 = 19.5 }
	Rates []experiment.GPURate `arg:"rates" type:"rates"`
	// The type of device of all workers, for nodes without GPUs.
	//
	// Default: the type of the GPUs of its node.
	//
	//	device = "K80"
	Device string `arg:"device"`
	// The steps per second that one parameter server serves.
	//
	// Default: fitted, or no limit.
	//
	//	limit = 44
	Limit *float64 `arg:"limit" min:"1e-09" max:"1000000000000"`
	// The exponent with which the limit grows with the number of parameter servers: 1 means in proportion.
	//
	// Default: fitted, or 0.8.
	//
	//	exponent = 0.9
	Exponent *float64 `arg:"exponent" min:"0" max:"10"`
	// How suddenly the speed stops growing at the limit: greater is more sudden.
	//
	// Default: fitted, or 4.
	//
	//	sharpness = 3
	Sharpness *float64 `arg:"sharpness" min:"0.05" max:"1000"`
	// Whether the time at the parameter servers is a part of each worker's step (`queued`), or not (`apart`).
	//
	//	law = "apart"
	Law string `arg:"law" default:"queued" allowed:"queued apart"`
	// The factor on a worker's speed if its parameter servers are in another region, by pair of regions; the lowest
	// factor counts. A pair is written with a blank between, in either order; within a region the factor is 1.
	//
	// Default: 1.
	//
	//	regions = { "us-east1 us-west1" = 0.8 }
	Regions []experiment.GPURate `arg:"regions" type:"rates"`
}

// Parameters of a law that neither the file nor the measurements determine.
const (
	defaultExponent  = 0.8
	defaultSharpness = 4.0
)

//go:embed decode.go
var source embed.FS

var _ = schema.Document("clusterspeed", source)

func init() {
	language.RegisterRunTimeLaw(language.RunTimeLaw{
		Name: "cluster", Decode: decode, Doc: "a `cluster` block gives the speed of a job with roles",
		Block: func() *schema.Block {
			return schema.BlockFor[clusterArgs](schema.Block{Name: "cluster", Single: true})
		},
	})
}

// decoder decodes cluster blocks.
type decoder struct{ *language.Decoder }

// decode decodes the cluster block of a job.
func decode(from *language.Decoder, n *eval.Node, around language.Block, j *experiment.Job,
	into *experiment.Runtime) bool {
	var v clusterArgs
	d := decoder{from}
	a := d.Decode(n, around.Env, &v)
	template := j.Template()
	workers, servers := 0, 0
	works, serves := false, false
	for _, r := range template.Roles() {
		switch r.Name {
		case contract.RoleWorker, contract.RoleChief:
			workers, works = workers+r.Count, true
		case contract.RoleServer:
			servers, serves = servers+r.Count, true
		}
	}
	switch {
	case !works:
		a.Fail(n.Header, "Job without workers",
			"A cluster block is for jobs with a role %q or %q, whose parts it counts.",
			contract.RoleWorker, contract.RoleChief)
	case j.Steps == 0 && j.Epochs > 0:
		a.Fail(n.Header, "Job without steps",
			"A cluster block knows steps per second: give the work of the job as steps.")
	case workers > 1 && !serves && (a.IsSet("limit") || a.IsSet("file")):
		a.Fail(n.Header, "Workers without a parameter server",
			"limit and file are about parameter servers: with %d workers, add a role %q.",
			workers, contract.RoleServer)
	}
	c := &Speed{
		Range: eval.RangeOf(n.Header), Device: v.Device,
		Law: law.Law{Form: law.Form(v.Law), Exponent: defaultExponent,
			Sharpness: defaultSharpness},
	}
	d.clusterLaw(a, &v, j, c)
	c.Regions = regionFactors(a, v.Regions)
	if !a.OK || !around.OK || len(c.Rates) == 0 {
		return false
	}
	device := c.Device
	if device == "" {
		device = c.Rates[0].Device
	}
	step := time.Duration(math.Round(1e9 / c.Speed(law.Alike(device, max(workers, 1)), servers)))
	into.Epoch, into.Parts = workload.Span{Kind: workload.Every, Mean: max(step, 1)}, append(into.Parts, c)
	return true
}

// clusterLaw returns the law. It is fitted if the block names a file; values in the block replace fitted ones.
func (d decoder) clusterLaw(a *eval.Args, v *clusterArgs, j *experiment.Job, c *Speed) {
	if a.IsSet("file") {
		d.clusterTable(a, v, j, c)
	} else if a.Lacks("rates") {
		a.Fail(a.Node.Header, "Missing argument", "%s needs rates, or a file to fit them to.", a.Node.Title())
	}
	for _, r := range v.Rates {
		rate := law.Rate{Device: r.Type, StepsPerSecond: r.Rate}
		if i := slices.IndexFunc(c.Rates, func(o law.Rate) bool { return o.Device == r.Type }); i >= 0 {
			c.Rates[i] = rate
		} else {
			c.Rates = append(c.Rates, rate)
		}
	}
	for into, given := range map[*float64]*float64{&c.Limit: v.Limit, &c.Exponent: v.Exponent, &c.Sharpness: v.Sharpness} {
		if given != nil {
			*into = *given
		}
	}
	if _, ok := c.Rate(c.Device); a.OK && c.Device != "" && !ok {
		a.Fail(a.At("device"), "Unknown device", "There is no rate for %q; there are rates for %s.", c.Device,
			schema.AllOf(devices(c.Law)))
	}
}

// devices returns the device types for which a law has rates.
func devices(l law.Law) []string {
	return schema.Each(l.Rates, func(r law.Rate) string { return r.Device })
}

// clusterTable reads a table of measured clusters and fits the law to it.
func (d decoder) clusterTable(a *eval.Args, v *clusterArgs, j *experiment.Job, c *Speed) {
	from, at := d.Find(v.File), a.At("file")
	steps := j.Steps
	if a.IsSet("steps") {
		steps = v.Steps
	}
	t := clusterTable{steps: float64(steps)}
	t.columns = append(t.columns, clusterFacts...)
	for _, s := range v.Columns {
		i := slices.Index(clusterFacts, s.Name)
		if i < 0 {
			a.Fail(a.At("columns"), "Unknown fact", "%q is not a column of measured clusters. The columns are %s.", s.Name,
				schema.AllOf(clusterFacts))
			return
		}
		t.columns[i], t.named[i] = s.Value, true
	}
	if !a.OK {
		return
	}
	if _, ok := datafile.EachRow(d.Decoder, a, at, from, nil, t.head, t.row); !ok {
		return
	}
	if len(t.samples) == 0 {
		a.Fail(at, "Table without rows", "%s has no measured cluster.", from.Shown)
		return
	}
	model, ok := chosenModel(a, v.Model, at, from.Shown, t.samples)
	if !ok {
		return
	}
	fitted, err := law.Fit(t.samples, c.Form)
	if err != nil {
		a.Fail(at, "Law that cannot be fitted", "%s", language.Sentence(err.Error()))
		return
	}
	c.Law, _ = fitted.Law(model)
	c.Samples, c.Model, c.File = t.samples, model, v.File
}

// chosenModel returns the model in a table that the job trains.
func chosenModel(a *eval.Args, model string, at hcl.Range, shown string, samples []law.Sample) (string, bool) {
	var models []string
	for _, s := range samples {
		models = schema.AddOnce(models, s.Model)
	}
	switch {
	case a.IsSet("model") && !slices.Contains(models, model):
		a.Fail(a.At("model"), "Unknown model", "%s has no model %q, but %s.", shown, model, schema.AllOf(models))
		return "", false
	case !a.IsSet("model") && len(models) > 1:
		a.Fail(at, "Several models", "%s has the models %s: say which of them the job trains with model.", shown,
			schema.AllOf(models))
		return "", false
	case !a.IsSet("model"):
		return models[0], true
	}
	return model, true
}

// clusterFacts are the standard names of columns in a table of measured clusters.
var clusterFacts = []string{"model", "gpu", "parameter_servers", "workers", "steps_per_s", "seconds"}

// clusterTable reads the rows of a table of measured clusters.
type clusterTable struct {
	steps   float64
	columns []string // the column's name for each of clusterFacts
	named   [6]bool  // whether the experiment file names the column
	at      []int    // column numbers; -1 if the table lacks the column
	samples []law.Sample
}

func (t *clusterTable) head(columns []string) error {
	for i, name := range t.columns {
		at, err := textfile.Column(columns, name)
		if needed := i >= 1 && i <= 3 || t.named[i]; err != nil && (needed || slices.Contains(columns, name)) {
			return err
		}
		t.at = append(t.at, at)
	}
	if t.at[4] < 0 && t.at[5] < 0 {
		return fmt.Errorf("there is neither a column %q nor a column %q; the columns are %s", t.columns[4], t.columns[5],
			textfile.Names(columns))
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
	s := law.Sample{Model: text(0), Device: text(1)}
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

// regionFactors parses the factors for pairs of regions.
func regionFactors(a *eval.Args, rates []experiment.GPURate) []RegionFactor {
	var out []RegionFactor
	for _, r := range rates {
		pair := strings.Fields(r.Type)
		if len(pair) != 2 || pair[0] == pair[1] {
			a.Fail(a.At("regions"), "Not a pair of regions",
				"%q must be two regions with a space between them, as in \"us-east1 us-west1\".", r.Type)
			return nil
		}
		if r.Rate > 1 {
			a.Fail(a.At("regions"), "Value out of range",
				"The factor of %q is %g: a distant worker cannot be faster.", r.Type, r.Rate)
			return nil
		}
		out = append(out, RegionFactor{A: pair[0], B: pair[1], Factor: r.Rate})
	}
	return out
}
