package blocks

import (
	"cmp"
	"io"
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/files"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// runtime decodes a runtime block of a job.
func (d *Decoder) runtime(n *eval.Node, e *eval.Env, j *experiments.Job) (*experiments.Runtime, bool) {
	a := d.EvalArgs(n, e)
	rt, ok := d.times(n, e, a, j)
	if !ok {
		return nil, false
	}
	for name, into := range map[string]**float64{"final_accuracy": &rt.Accuracy, "final_loss": &rt.Loss} {
		if a.IsSet(name) {
			v := eval.Get[float64](a, name)
			*into = &v
		}
	}
	return rt, true
}

// times decodes what a runtime block says of run times.
func (d *Decoder) times(n *eval.Node, e *eval.Env, a *eval.Args, j *experiments.Job) (*experiments.Runtime, bool) {
	if c := n.First("cluster"); c != nil {
		return d.parts().Runtime(c, e, a, j)
	}
	if c := n.First("elastic"); c != nil {
		return d.elastic.Runtime(c, e, a, j)
	}
	table := "table"
	if a.IsSet("file") {
		table = "file"
	}
	if !a.IsSet(table) {
		for _, name := range []string{"threads_column", "time_column", "where", "per"} {
			if a.IsSet(name) && a.Lacks("table") && a.Lacks("file") {
				a.Fail(a.At(name), "Argument that nothing reads",
					"%s is for a table of run times, but neither table nor file is set.", name)
			}
		}
		return d.runtimeLaw(a)
	}
	perEpoch := eval.Get[string](a, "per") == "epoch"
	for _, other := range []string{"epoch", "parallel", "speedup", "table"} {
		if a.IsSet(other) && other != table {
			a.Fail(a.At(other), "Contradicting arguments",
				"%s and %s both say how the run time depends on threads.", other, table)
		}
	}
	if a.IsSet("startup") && !perEpoch {
		a.Fail(a.At("startup"), "Contradicting arguments",
			"The run times of the %s include the start-up of the job. With per = \"epoch\" they are times of an "+
				"epoch, to which startup is added.", table)
	}
	times := eval.Get[[]eval.ThreadTime](a, "table")
	if table == "file" {
		if a.OK {
			times = d.timesFile(a)
		}
	} else {
		for _, name := range []string{"threads_column", "time_column", "where"} {
			if a.IsSet(name) {
				a.Fail(a.At(name), "Argument that nothing reads", "%s belongs to file, which is not set.", name)
			}
		}
	}
	losses := d.losses(a)
	if !a.OK || len(times) == 0 {
		return nil, false
	}
	curve := &workload.SpeedUp{}
	for _, t := range times {
		curve.Points = append(curve.Points, workload.SpeedPoint{Threads: t.Threads, Speed: 1 / t.Time.Seconds()})
	}
	return &experiments.Runtime{
		Startup: eval.Get[time.Duration](a, "startup"), Parallel: 1, SpeedUp: curve,
		Threads: times[0].Threads, Whole: !perEpoch,
		Epoch:    workload.Span{Kind: workload.Every, Mean: times[0].Time},
		GPURates: eval.Get[[]experiments.GPURate](a, "gpu_rate"),
		Losses:   losses, Neighbours: eval.Neighbours(a, "beside"),
	}, a.OK
}

// runtimeLaw decodes a run time that is given by formula.
func (d *Decoder) runtimeLaw(a *eval.Args) (*experiments.Runtime, bool) {
	if a.Lacks("epoch") && a.Lacks("table") && a.Lacks("file") && !a.Node.Broken {
		a.Fail(a.Node.Header, "Missing argument", "%s needs epoch, table, file, a cluster block or an elastic block.", a.Node.Title())
	}
	if a.IsSet("speedup") && a.IsSet("parallel") {
		a.Fail(a.At("parallel"), "Contradicting arguments",
			"parallel and speedup both say how epochs speed up; parallel = 0.9 is speedup = amdahl(0.9).")
	}
	epoch := eval.Get[workload.Arrivals](a, "epoch")
	r := &experiments.Runtime{
		Startup: eval.Get[time.Duration](a, "startup"), Parallel: eval.Get[float64](a, "parallel"),
		Epoch:    workload.Span{Kind: epoch.Kind, Mean: epoch.Mean, SD: epoch.SD},
		GPURates: eval.Get[[]experiments.GPURate](a, "gpu_rate"),
		Losses:   d.losses(a), Neighbours: eval.Neighbours(a, "beside"),
	}
	if s, ok := a.Values["speedup"].(workload.SpeedUp); ok {
		r.SpeedUp = &s
	}
	return r, a.OK
}

// timesFile reads a table of run times: the mean of the rows of each number
// of threads.
func (d *Decoder) timesFile(a *eval.Args) []eval.ThreadTime {
	from, at := d.Find(eval.Get[string](a, "file")), a.Node.Attr("file").Expr.Range()
	var where []workload.Column
	for _, w := range eval.Get[[]experiments.Setting](a, "where") {
		where = append(where, workload.Column{Name: w.Name, Text: w.Value})
	}
	var rows [][]float64
	_, err := files.ReadAll(from, func(text io.Reader) (err error) {
		rows, err = workload.ReadColumns(from.Shown, text,
			[]string{eval.Get[string](a, "threads_column"), eval.Get[string](a, "time_column")}, where)
		return err
	})
	switch {
	case err != nil:
		a.OK = false
		d.FileErrors(from, at, err)
		return nil
	case len(rows) == 0:
		a.Fail(at, "Table without rows", "No row of %s is selected.", from.Shown)
		return nil
	}
	slices.SortStableFunc(rows, func(x, y []float64) int { return cmp.Compare(x[0], y[0]) })
	var times []eval.ThreadTime
	for len(rows) > 0 {
		threads, sum, n := rows[0][0], 0.0, 0
		for n < len(rows) && rows[n][0] == threads {
			sum += rows[n][1]
			n++
		}
		if threads != math.Trunc(threads) || threads > schema.MaxThreads || sum/float64(n) > files.MaxSeconds {
			a.Fail(at, "Value out of range",
				"%s has %v seconds on %v threads: threads are a whole number up to %d, and times at most %v s.",
				from.Shown, sum/float64(n), threads, schema.MaxThreads, files.MaxSeconds)
			return nil
		}
		times = append(times,
			eval.ThreadTime{Threads: int(threads), Time: max(time.Duration(math.Round(sum/float64(n)*1e9)), 1)})
		rows = rows[n:]
	}
	return times
}
