package tablefiles

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
	"github.com/tfexp/tfexp/stages/language/datafile"
)

// submitArgs are the arguments of a submit block with arrivals in a file.
type submitArgs struct {
	// A CSV file with a column of arrival times in seconds, relative to the folder of the experiment file; instead
	// of `at`.
	//
	//	at_file = "arrivals.csv"
	AtFile string `arg:"at_file"`
	// The column's name in the first line of `at_file`.
	//
	//	at_column = "submitted"
	AtColumn string `arg:"at_column" default:"arrival_s"`
}

// arrivals reads the arrivals of a submit block from a column of a file.
func arrivals(d *language.Decoder, b language.Block, into *experiment.Submit) {
	var v submitArgs
	b.Fill(&v)
	if !b.IsSet("at_file") {
		if b.Lacks("at_file") {
			b.Unread("{} is the column of at_file, which is not set.", "at_column")
		}
		return
	}
	into.Arrivals.Kind = workload.At
	if b.OK {
		instants(d, b, &v, into)
	}
	if !b.IsWrong("at_file") {
		b.Excludes("{} and at_file both set when the jobs arrive: keep one.", "interarrival", "start", "at")
	}
	into.Count = len(into.Arrivals.Times)
	if n := eval.Get[int](b.Args, "count"); b.Has("count") && into.Count > 1 && into.Count != n {
		b.Fail(b.At("at_file"), "Contradicting arguments", "at_file has %d times, but count is %d.", into.Count, n)
	}
}

// instants reads the file.
func instants(d *language.Decoder, b language.Block, v *submitArgs, into *experiment.Submit) {
	from, at := d.Find(v.AtFile), b.Node.Attr("at_file").Expr.Range()
	var skipped []error
	_, ok := datafile.Read(d, b.Args, at, from, func(text io.Reader) (err error) {
		into.Arrivals.Times, skipped, err = textfile.ReadInstants(from.Shown, text, v.AtColumn, d.Lenient)
		return err
	})
	switch n := len(into.Arrivals.Times); {
	case !ok:
	case n == 0 || n > schema.MaxJobs:
		b.Fail(at, "Value out of range", "%s has %s; there must be from 1 to %d.", from.Shown,
			schema.Plural(n, "instant"), schema.MaxJobs)
	case len(skipped) > 0:
		into.LeftOut = fmt.Sprintf("%s has %s, left out", filepath.Base(from.Path), datafile.Malformed(skipped))
	}
}

// warnings warns about lines that were skipped.
func warnings(d *language.Decoder, s *experiment.Spec) {
	for _, c := range s.Cells {
		for _, one := range c.Workload.Submits {
			if one.LeftOut != "" {
				d.Add(experiments.WarningAt(one.Range, "Incomplete file", "%s.", one.LeftOut))
			}
		}
	}
}
