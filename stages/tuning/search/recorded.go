package search

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
	"github.com/tfexp/tfexp/stages/language/datafile"
	"github.com/tfexp/tfexp/stages/tuning/trial"
)

// recordedArgs are the arguments of a recorded block. The expressions of outcomes are evaluated for each row.
//
// The outcomes of a job from a table of measurements, for `tune` blocks: tfexp reads them instead of running a program.
// A row is chosen by the settings; several rows with the same settings count with their mean. The outcomes are
// expressions over `row.<column>`.
//
//	job "cnn" {
//	  recorded {
//	    file     = "measured.csv"
//	    where    = { samples = "60000" }
//	    settings = { workers = "n_workers", type = "vm" }
//	    time     = row.training_time
//	    accuracy = row.acc
//	    cost     = row.training_time / 3600 * row.n_workers * { small = 0.02, large = 0.37 }[row.vm]
//	  }
//	}
type recordedArgs struct {
	// A CSV file (perhaps `.gz`) whose first line names the columns; relative to the folder of the experiment file.
	//
	//	file = "measured.csv"
	File string `arg:"file,required"`
	// The column of `file` for each setting of the `tune` block.
	//
	//	settings = { workers = "n_workers" }
	Settings []schema.Setting `arg:"settings,required"`
	// The text that a column must have: tfexp leaves out other rows.
	//
	//	where = { samples = "60000" }
	Where []schema.Setting `arg:"where"`
	// The time of the job in seconds. A row in which it is empty is a trial that crashed.
	//
	//	time = row.seconds
	Time cty.Value `arg:"time,required" type:"row"`
	// The last loss.
	//
	//	loss = row.loss
	Loss cty.Value `arg:"loss" type:"row"`
	// The last accuracy, 0 to 1.
	//
	//	accuracy = row.acc
	Accuracy cty.Value `arg:"accuracy" type:"row"`
	// The cost of the job.
	//
	//	cost = row.seconds / 3600 * 0.7
	Cost cty.Value `arg:"cost" type:"row"`
}

// Recorded is the outcome of a job at its settings, from a table. It is a part of the job, and replaces the program.
type Recorded struct {
	// File is the path of the table.
	File    string
	Outcome trial.Outcome
}

// recordedOf returns the recorded outcome of a job; nil for a job that runs a program.
func recordedOf(j *experiment.Job) *Recorded {
	r, _ := experiment.PartOf[*Recorded](j.Parts)
	return r
}

// Program implements stages.ProgramPart.
func (r *Recorded) Program() string { return "recorded" }

// ProgramLines implements stages.ProgramPart.
func (r *Recorded) ProgramLines(prefix string) []stages.KeyLine {
	raw, _ := json.Marshal(r.Outcome) // cannot fail: it has only numbers and a text
	return []stages.KeyLine{{Label: prefix + "recorded", Value: fmt.Sprintf("%s, %s", filepath.Base(r.File), raw)}}
}

// measured is the rows of a table of measurements that a recorded block selects.
type measured struct {
	language.Input
	head []string
	rows [][]string
	ok   bool
}

// rowsOf reads the table of a recorded block. It evaluates only those arguments that do not depend on a row.
func (d decoder) rowsOf(n *eval.Node, e *eval.Env) (*eval.Args, *recordedArgs, *measured) {
	plain := *n
	plain.Args = slices.DeleteFunc(slices.Clone(n.Args), func(a schema.Arg) bool { return a.Type == schema.OfRow })
	v := &recordedArgs{}
	a := d.Decode(&plain, e, v)
	if !a.OK {
		return a, v, nil
	}
	t := d.measured(a, v)
	for i, c := range append(slices.Clone(v.Settings), v.Where...) {
		list, column := "settings", c.Value
		if i >= len(v.Settings) {
			list, column = "where", c.Name
		}
		if t.ok && !slices.Contains(t.head, column) {
			a.Wrong(n.Attr(list).Expr.Range(), schema.Nearest(column, t.head), "Unknown column",
				"%s has no column %q; it has %s.", t.Shown, column, strings.Join(t.head, ", "))
		}
	}
	if t.ok && a.OK && len(t.rows) == 0 {
		a.Fail(a.At("file"), "Table without rows", "No row of %s has the values of `where`.", t.Shown)
	}
	a.OK = a.OK && t.ok
	return a, v, t
}

// tableKey identifies a table by its file and by the selection of rows.
type tableKey string

// measured reads a table, once for each selection of rows.
func (d decoder) measured(a *eval.Args, v *recordedArgs) *measured {
	from, where := d.Find(v.File), v.Where
	key := from.Path
	for _, w := range where {
		key += "\x00" + w.Name + "\x00" + w.Value
	}
	t := language.Once(d.Decoder, tableKey(key), func() *measured {
		t := &measured{Input: from}
		_, t.ok = datafile.EachRow(d.Decoder, a, a.At("file"), from, where, func(head []string) error {
			t.head = head
			return nil
		}, func(_ int, row []string) error {
			t.rows = append(t.rows, slices.Clone(row))
			return nil
		})
		return t
	})
	a.OK = a.OK && t.ok
	return t
}

// recorded gives the job the outcome of the rows with its settings. While the settings are unknown, the first row
// serves to check the expressions.
func (d decoder) recorded(n *eval.Node, e *eval.Env, a *eval.Args, j *experiment.Job) {
	j.Dir, j.Files = "", nil
	a.Unread("The outcomes of the job are recorded, so {} has no effect: remove it.", "command", "epochs", "steps", "budget")
	for _, block := range append(language.Programs(), "runtime", "alternative") {
		if b := a.Node.First(block); b != nil {
			a.Fail(b.Header, "Contradicting blocks", "The outcomes of the job are recorded; it has no %s.", block)
		}
	}
	j.Epochs = 1
	args, v, t := d.rowsOf(n, e)
	if !args.OK {
		a.OK = false
		return
	}
	each, _ := e.Lookup("each")
	rows := t.rows
	known := true
	for _, s := range v.Settings {
		if each == cty.NilVal || !each.Type().IsObjectType() || !each.Type().HasAttribute(s.Name) {
			args.Fail(args.At("settings"), "Setting without a value",
				"A row is chosen by each.%s, which only a tune block with a setting %q, or an axis of the matrix, has.", s.Name, s.Name)
			a.OK = false
			return
		}
		value := each.GetAttr(s.Name)
		if !value.IsWhollyKnown() {
			known = false
			continue
		}
		column, text := slices.Index(t.head, s.Value), eval.Display(value)
		rows = slices.DeleteFunc(slices.Clone(rows), func(r []string) bool { return !datafile.SameTextOrNumber(r[column], text) })
	}
	switch {
	case !known:
		rows = t.rows[:1]
	case len(rows) == 0:
		args.Fail(args.At("settings"), "Settings that were not measured", "%s has no row with these settings%s.", t.Shown,
			e.Note())
		a.OK = false
		return
	}
	out, ok := d.outcome(n, e, t, rows)
	if !ok {
		a.OK = false
		return
	}
	j.Parts = append(j.Parts, &Recorded{File: t.Path, Outcome: out})
	j.Runtime = &experiment.Runtime{
		Whole: true, SpeedUp: &workload.SpeedUp{Points: []workload.SpeedPoint{{Threads: max(j.Threads.Request, 1), Speed: 1}}},
		Threads: max(j.Threads.Request, 1), Parallel: 1,
		Epoch: workload.Span{Kind: workload.Every, Mean: max(time.Duration(math.Round(out.Time*1e9)), 1)},
	}
}

// outcome evaluates the outcomes of rows, and returns their means.
func (d decoder) outcome(n *eval.Node, e *eval.Env, t *measured, rows [][]string) (trial.Outcome, bool) {
	out := trial.Outcome{Units: 1}
	for _, name := range []string{"time", "loss", "accuracy", "cost"} {
		attr := n.Attr(name)
		if attr == nil {
			continue
		}
		mean, ok := d.meanOf(attr, e, t, rows)
		switch {
		case !ok:
			return out, false
		case name == "loss":
			out.Loss = mean
		case name == "accuracy" && mean != nil && !(*mean >= 0 && *mean <= 1):
			d.Errorf(attr.Expr.Range(), "Value out of range", "accuracy is %v in a row of %s: it is a part of 1. "+
				"Where the table has percent, divide by 100.", *mean, t.Shown)
			return out, false
		case name == "accuracy":
			out.Accuracy = mean
		case name == "cost":
			out.Cost = mean
		case mean == nil:
			out.Crashed = "the table has no time for these settings"
		case !(*mean >= 0) || *mean > datafile.MaxSeconds:
			d.Errorf(attr.Expr.Range(), "Value out of range", "time is %v s in a row of %s: times are from 0 to %v s.", *mean,
				t.Shown, datafile.MaxSeconds)
			return out, false
		default:
			out.Time = *mean
		}
	}
	return out, true
}

// meanOf returns the mean of an expression over rows; nil if the expression has no value in one of them.
func (d decoder) meanOf(attr *hcl.Attribute, e *eval.Env, t *measured, rows [][]string) (*float64, bool) {
	sum := 0.0
	for _, r := range rows {
		v := d.Eval(attr.Expr, e.WithRow(t.head, r))
		if !v.IsKnown() {
			return nil, false
		}
		if v.IsNull() || v.Type() == cty.String && strings.TrimSpace(v.AsString()) == "" {
			return nil, true
		}
		number, err := convert.Convert(v, cty.Number)
		if err != nil {
			d.Errorf(attr.Expr.Range(), "Wrong type", "%s must be a number; in a row of %s it is %s.", attr.Name, t.Shown,
				eval.Describe(v))
			return nil, false
		}
		f, _ := number.AsBigFloat().Float64()
		sum += f
	}
	mean := sum / float64(len(rows))
	return &mean, true
}

// measuredSettings returns the combinations of settings in the table of a recorded job, each once, in the order of the
// table. It returns nil for other jobs. Names that the recorded block maps to no column are skipped.
func (d decoder) measuredSettings(job *eval.Node, e *eval.Env, names []string) [][]string {
	n := job.First("recorded")
	if n == nil || n.Broken {
		return nil
	}
	args, v, t := d.rowsOf(n, e)
	if !args.OK {
		return nil
	}
	columns := make([]int, len(names))
	for i, name := range names {
		columns[i] = -1
		for _, s := range v.Settings {
			if s.Name == name {
				columns[i] = slices.Index(t.head, s.Value)
			}
		}
	}
	var out [][]string
	seen := map[string]bool{}
	for _, r := range t.rows {
		values := make([]string, len(names))
		for i, c := range columns {
			if c >= 0 {
				values[i] = canonicalText(r[c])
			}
		}
		if key := strings.Join(values, "\x00"); !seen[key] {
			seen[key] = true
			out = append(out, values)
		}
	}
	return out
}

// recordedSettings returns the names of the settings by which a recorded job chooses its row.
func (d decoder) recordedSettings(job *eval.Node, e *eval.Env) []string {
	n := job.First("recorded")
	if n == nil || n.Broken {
		return nil
	}
	_, v, _ := d.rowsOf(n, e)
	return schema.Each(v.Settings, func(s schema.Setting) string { return s.Name })
}

// canonicalText returns a text of a table in the form of the language, so that equal numbers have equal texts.
func canonicalText(s string) string {
	s = strings.TrimSpace(s)
	if f, err := strconv.ParseFloat(s, 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
		return eval.Display(cty.NumberFloatVal(f))
	}
	return s
}
