// Package contention adds the block `contention` to simulated hardware: how jobs on a node slow each other down. Its
// parameters can be fitted to measurements.
package contention

import (
	"embed"
	"math"
	"strconv"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
	"github.com/tfexp/tfexp/stages/language/datafile"
)

// arguments are the arguments of a contention block.
//
// How jobs on one node slow each other down, by the cores that they hold. The law is given by its parameters, or fitted
// when the file is read to measurements of like jobs that ran side by side: a CSV `file` with the cores of each job,
// the number of jobs, and the seconds until all were done.
//
// The law: a job on n cores keeps n / (1 + serial (n − 1)) of them busy; where the jobs of a node together keep L busy,
// each is slowed by (1 + (L / C)^sharpness)^(1/sharpness), with C = capacity × threads, against running alone, which
// has the slowdown 1. All that a job has left is slowed, its start-up and its overheads too, from the instant at which
// a neighbor starts, stops, pauses, resumes or changes its size. A gang goes as slowly as on its slowest node.
// Estimates stay the run times of jobs that run alone.
//
//	hardware "shared" {
//	  engine  = "simulated"
//	  threads = 16
//	  contention {
//	    capacity  = 0.8
//	    sharpness = 3
//	  }
//	}
//
//	hardware "measured" {
//	  engine  = "simulated"
//	  threads = 16
//	  contention {
//	    file             = "contention.csv"
//	    measured_threads = 64
//	  }
//	}
type arguments struct {
	// The part of a job that keeps only one of its cores busy.
	//
	//	serial = 0.05
	Serial float64 `arg:"serial" default:"0" min:"0" max:"1"`
	// The part of the threads that can be busy at full speed: below 1 if jobs wait for memory, or two threads share a
	// core.
	//
	// Default: required without `file`.
	//
	//	capacity = 0.8
	Capacity float64 `arg:"capacity" min:"1e-3" max:"1e3"`
	// How suddenly the slowdown begins at the capacity: with small numbers it begins earlier.
	//
	//	sharpness = 2
	Sharpness float64 `arg:"sharpness" default:"4" min:"0.2" max:"20"`
	// A CSV file with measurements, relative to the folder of the experiment file. Its first line names the columns.
	//
	//	file = "contention.csv"
	File string `arg:"file"`
	// The cores of the measured machine.
	//
	// Default: required with `file`.
	//
	//	measured_threads = 64
	MeasuredThreads int `arg:"measured_threads" min:"1" max:"threads"`
	// The column of `file` with the cores of each job.
	//
	//	cores_column = "Cores_Per_C"
	CoresColumn string `arg:"cores_column" default:"cores"`
	// The column of `file` with the number of jobs that ran at the same time.
	//
	//	jobs_column = "Containers"
	JobsColumn string `arg:"jobs_column" default:"jobs"`
	// The column of `file` with the seconds.
	//
	//	time_column = "Time"
	TimeColumn string `arg:"time_column" default:"seconds"`
	// The rows of `file` that count: by column, the text that they must have.
	//
	// Default: all.
	//
	//	where = { model = "resnet" }
	Where []schema.Setting `arg:"where"`
	// The real cores of a node, if `threads` of the node is a greater number.
	//
	// Default: the threads of the node.
	//
	//	threads = 8
	Threads int `arg:"threads" min:"1" max:"threads"`
}

//go:embed block.go
var source embed.FS

const name = "contention"

func init() {
	schema.Document(name, source)
	engine.Extend(engine.Extension{
		To:     func(k *engine.Kind) bool { return !k.Real && !k.Recorded },
		Blocks: []*schema.Block{schema.BlockFor[arguments](schema.Block{Name: name, Single: true})},
	})
	language.Extend(name, language.Hardware, language.Extension[experiment.Hardware]{
		Decode: func(d *language.Decoder, b language.Block, h *experiment.Hardware) {
			if n := b.Node.First(name); n != nil {
				var ok bool
				h.Contention, ok = decode(d, n, b.Env)
				b.OK = b.OK && ok
			}
		},
	})
}

// decode decodes a contention block.
func decode(d *language.Decoder, n *eval.Node, e *eval.Env) (*experiment.Contention, bool) {
	var v arguments
	a := d.Decode(n, e, &v)
	c := &experiment.Contention{
		Law:     estimator.Contention{Serial: v.Serial, Capacity: v.Capacity, Sharpness: v.Sharpness},
		Threads: v.Threads,
	}
	if !a.IsSet("file") {
		if a.Lacks("file") {
			a.Unread("{} belongs to file, which is not set.",
				"measured_threads", "cores_column", "jobs_column", "time_column", "where")
		}
		if a.Lacks("capacity") && a.Lacks("file") && !n.Broken {
			a.Fail(n.Header, "Missing argument", "contention needs file, or capacity.")
		}
		return c, a.OK
	}
	a.Excludes("{} is fitted to the measurements of file; set one or the other.", "serial", "capacity", "sharpness")
	if a.Lacks("measured_threads") {
		a.Fail(a.At("file"), "Missing argument",
			"contention needs measured_threads: the cores of the machine on which %s was measured.",
			v.File)
	}
	if !a.OK {
		return nil, false
	}
	c.Law, a.OK = fit(d, a, &v)
	return c, a.OK
}

// fit fits the law to measurements. The parameters are rounded to six digits, more than their precision, so that keys
// are the same on all machines.
func fit(d *language.Decoder, a *eval.Args, v *arguments) (estimator.Contention, bool) {
	from, at := d.Find(v.File), a.Node.Attr("file").Expr.Range()
	rows, ok := datafile.Columns(d, a, at, from, []string{v.CoresColumn, v.JobsColumn, v.TimeColumn}, v.Where)
	if !ok {
		return estimator.Contention{}, false
	}
	crowds := make([]crowd, len(rows))
	for i, r := range rows {
		if r[0] > float64(v.MeasuredThreads) || r[1] != math.Trunc(r[1]) || r[1] > schema.MaxThreads || r[2] > datafile.MaxSeconds {
			a.Fail(at, "Value out of range", "%s has %v seconds of %v jobs on %v cores each: a job has at most the %d cores of the "+
				"machine, jobs are a whole number up to %d, and times at most %v s.",
				from.Shown, r[2], r[1], r[0], v.MeasuredThreads, schema.MaxThreads, datafile.MaxSeconds)
			return estimator.Contention{}, false
		}
		crowds[i] = crowd{
			Own: r[0], Others: r[0] * max(r[1]-1, 0), Total: float64(v.MeasuredThreads), Seconds: r[2],
		}
	}
	law, err := fitted(crowds)
	if err != nil {
		a.Fail(at, "Measurements that cannot be fitted", "%s has %s for the fit: %v.", from.Shown,
			schema.Plural(len(rows), "row"), err)
		return law, false
	}
	for _, x := range []*float64{&law.Serial, &law.Capacity, &law.Sharpness} {
		*x, _ = strconv.ParseFloat(strconv.FormatFloat(*x, 'g', 6, 64), 64)
	}
	return law, true
}
