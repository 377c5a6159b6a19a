package machines

import (
	"io"
	"strconv"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/files"
	"github.com/tfexp/tfexp/experiments/words"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// contention decodes a contention block.
func (d *Decoder) contention(n *eval.Node, e *eval.Env) (*experiments.Contention, bool) {
	a := d.EvalArgs(n, e)
	c := &experiments.Contention{
		Law: estimator.Contention{
			Serial: eval.Get[float64](a, "serial"), Capacity: eval.Get[float64](a, "capacity"),
			Sharpness: eval.Get[float64](a, "sharpness"),
		},
		Threads: eval.Get[int](a, "threads"),
	}
	if !a.IsSet("file") {
		for _, name := range []string{"measured_threads", "cores_column", "jobs_column", "time_column", "where"} {
			if a.IsSet(name) && a.Lacks("file") {
				a.Fail(a.At(name), "Argument that nothing reads", "%s belongs to file, which is not set.", name)
			}
		}
		if a.Lacks("capacity") && a.Lacks("file") && !n.Broken {
			a.Fail(n.Header, "Missing argument", "contention needs file, or capacity.")
		}
		return c, a.OK
	}
	for _, name := range []string{"serial", "capacity", "sharpness"} {
		if a.IsSet(name) {
			a.Fail(a.At(name), "Contradicting arguments",
				"%s is fitted to the measurements of file; set one or the other.", name)
		}
	}
	if a.Lacks("measured_threads") {
		a.Fail(a.At("file"), "Missing argument",
			"contention needs measured_threads: the cores of the machine on which %s was measured.",
			eval.Get[string](a, "file"))
	}
	if !a.OK {
		return nil, false
	}
	c.Law, a.OK = d.fitContention(a)
	return c, a.OK
}

// fitContention fits the law to measurements. Its parameters are rounded to six
// digits, which is more than they mean, so that keys hold on any machine.
func (d *Decoder) fitContention(a *eval.Args) (estimator.Contention, bool) {
	from, at := d.Find(eval.Get[string](a, "file")), a.Node.Attr("file").Expr.Range()
	var where []workload.Column
	for _, w := range eval.Get[[]experiments.Setting](a, "where") {
		where = append(where, workload.Column{Name: w.Name, Text: w.Value})
	}
	columns := []string{
		eval.Get[string](a, "cores_column"), eval.Get[string](a, "jobs_column"), eval.Get[string](a, "time_column"),
	}
	var rows [][]float64
	_, err := files.ReadAll(from, func(text io.Reader) (err error) {
		rows, err = workload.ReadColumns(from.Shown, text, columns, where)
		return err
	})
	if err != nil {
		d.FileErrors(from, at, err)
		return estimator.Contention{}, false
	}
	crowds := make([]estimator.Crowd, len(rows))
	for i, r := range rows {
		crowds[i] = estimator.Crowd{
			Own: r[0], Others: r[0] * max(r[1]-1, 0), Total: float64(eval.Get[int](a, "measured_threads")), Seconds: r[2],
		}
	}
	law, err := estimator.FitContention(crowds)
	if err != nil {
		a.Fail(at, "Measurements that cannot be fitted", "%s has %s for the fit: %v.", from.Shown,
			words.Plural(len(rows), "row"), err)
		return law, false
	}
	for _, x := range []*float64{&law.Serial, &law.Capacity, &law.Sharpness} {
		*x, _ = strconv.ParseFloat(strconv.FormatFloat(*x, 'g', 6, 64), 64)
	}
	return law, true
}
