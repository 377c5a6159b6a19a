package decode

import (
	"strconv"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
)

// contention decodes a contention block.
func (d *Decoder) contention(n *eval.Node, e *eval.Env) (*experiment.Contention, bool) {
	a := d.EvalArgs(n, e)
	c := &experiment.Contention{
		Law: estimator.Contention{
			Serial: eval.Get[float64](a, "serial"), Capacity: eval.Get[float64](a, "capacity"),
			Sharpness: eval.Get[float64](a, "sharpness"),
		},
		Threads: eval.Get[int](a, "threads"),
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
	columns := []string{
		eval.Get[string](a, "cores_column"), eval.Get[string](a, "jobs_column"), eval.Get[string](a, "time_column"),
	}
	rows, ok := d.columns(a, at, from, columns, eval.Get[[]schema.Setting](a, "where"))
	if !ok {
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
			schema.Plural(len(rows), "row"), err)
		return law, false
	}
	for _, x := range []*float64{&law.Serial, &law.Capacity, &law.Sharpness} {
		*x, _ = strconv.ParseFloat(strconv.FormatFloat(*x, 'g', 6, 64), 64)
	}
	return law, true
}
