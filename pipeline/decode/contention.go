package decode

import (
	"strconv"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/stages/experiment"
)

// contention decodes a contention block.
func (d *Decoder) contention(n *eval.Node, e *eval.Env) (*experiment.Contention, bool) {
	var v simulated.ContentionArgs
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
	c.Law, a.OK = d.fitContention(a, &v)
	return c, a.OK
}

// fitContention fits the law to measurements. Its parameters are rounded to six
// digits, which is more than they mean, so that keys hold on any machine.
func (d *Decoder) fitContention(a *eval.Args, v *simulated.ContentionArgs) (estimator.Contention, bool) {
	from, at := d.Find(v.File), a.Node.Attr("file").Expr.Range()
	rows, ok := d.Columns(a, at, from, []string{v.CoresColumn, v.JobsColumn, v.TimeColumn}, v.Where)
	if !ok {
		return estimator.Contention{}, false
	}
	crowds := make([]estimator.Crowd, len(rows))
	for i, r := range rows {
		crowds[i] = estimator.Crowd{
			Own: r[0], Others: r[0] * max(r[1]-1, 0), Total: float64(v.MeasuredThreads), Seconds: r[2],
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
