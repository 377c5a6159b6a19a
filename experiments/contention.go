package experiments

import (
	"io"
	"strconv"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// Contention is how the jobs of a node slow each other down.
type Contention struct {
	Law estimator.Contention
	// Threads are the cores that the jobs of a node share; 0 stands for those
	// that the node has.
	Threads int
}

// contention decodes a contention block.
func (d *decoder) contention(n *node, e *env) (*Contention, bool) {
	a := d.evalArgs(n, e)
	c := &Contention{
		Law:     estimator.Contention{Serial: get[float64](a, "serial"), Capacity: get[float64](a, "capacity"), Sharpness: get[float64](a, "sharpness")},
		Threads: get[int](a, "threads"),
	}
	if !a.isSet("file") {
		for _, name := range []string{"measured_threads", "cores_column", "jobs_column", "time_column", "where"} {
			if a.isSet(name) && a.lacks("file") {
				a.fail(a.at(name), "Argument that nothing reads", "%s belongs to file, which is not set.", name)
			}
		}
		if a.lacks("capacity") && a.lacks("file") && !n.broken {
			a.fail(n.header, "Missing argument", "contention needs file, or capacity.")
		}
		return c, a.ok
	}
	for _, name := range []string{"serial", "capacity", "sharpness"} {
		if a.isSet(name) {
			a.fail(a.at(name), "Contradicting arguments", "%s is fitted to the measurements of file; give one or the other.", name)
		}
	}
	if a.lacks("measured_threads") {
		a.fail(a.at("file"), "Missing argument", "contention needs measured_threads: the cores of the machine on which %s was measured.", get[string](a, "file"))
	}
	if !a.ok {
		return nil, false
	}
	c.Law, a.ok = d.fitContention(a)
	return c, a.ok
}

// fitContention fits the law to measurements. Its parameters are rounded to six
// digits, which is more than they mean, so that keys hold on any machine.
func (d *decoder) fitContention(a *args) (estimator.Contention, bool) {
	from, at := d.source(get[string](a, "file")), a.n.attr("file").Expr.Range()
	var where []workload.Column
	for _, w := range get[[]Setting](a, "where") {
		where = append(where, workload.Column{Name: w.Name, Text: w.Value})
	}
	columns := []string{get[string](a, "cores_column"), get[string](a, "jobs_column"), get[string](a, "time_column")}
	var rows [][]float64
	_, err := readAll(from, func(text io.Reader) (err error) {
		rows, err = workload.ReadColumns(from.shown, text, columns, where)
		return err
	})
	if err != nil {
		d.traceErrors(from, at, err)
		return estimator.Contention{}, false
	}
	crowds := make([]estimator.Crowd, len(rows))
	for i, r := range rows {
		crowds[i] = estimator.Crowd{Own: r[0], Others: r[0] * max(r[1]-1, 0), Total: float64(get[int](a, "measured_threads")), Seconds: r[2]}
	}
	law, err := estimator.FitContention(crowds)
	if err != nil {
		a.fail(at, "Measurements that do not suffice", "%s has %s that count: %v.", from.shown, plural(len(rows), "row"), err)
		return law, false
	}
	for _, x := range []*float64{&law.Serial, &law.Capacity, &law.Sharpness} {
		*x, _ = strconv.ParseFloat(strconv.FormatFloat(*x, 'g', 6, 64), 64)
	}
	return law, true
}
