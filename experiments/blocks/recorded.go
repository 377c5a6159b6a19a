package blocks

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/files"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/experiments/words"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// measured is a table of measurements: the rows that a recorded block selects.
type measured struct {
	files.File
	head   []string
	rows   [][]string
	digest string
	ok     bool
}

// recordedArgs evaluates the arguments of a recorded block that are no
// expressions over rows, and reads its table.
func (d *Decoder) recordedArgs(n *eval.Node, e *eval.Env) (*eval.Args, *measured) {
	plain := *n
	plain.Args = slices.DeleteFunc(slices.Clone(n.Args), func(a schema.Arg) bool { return a.Type == schema.OfRow })
	a := d.EvalArgs(&plain, e)
	if !a.OK {
		return a, nil
	}
	t := d.measured(a)
	for _, list := range []string{"settings", "where"} {
		for _, c := range eval.Get[[]experiments.Setting](a, list) {
			column := c.Value
			if list == "where" {
				column = c.Name
			}
			if t.ok && !slices.Contains(t.head, column) {
				a.Wrong(n.Attr(list).Expr.Range(), words.Nearest(column, t.head), "Unknown column",
					"%s has no column %q; it has %s.", t.Shown, column, strings.Join(t.head, ", "))
			}
		}
	}
	if t.ok && a.OK && len(t.rows) == 0 {
		a.Fail(a.At("file"), "Table without rows", "No row of %s is selected.", t.Shown)
	}
	a.OK = a.OK && t.ok
	return a, t
}

// measured reads a table, once for each selection of rows.
func (d *Decoder) measured(a *eval.Args) *measured {
	from, where := d.Find(eval.Get[string](a, "file")), eval.Get[[]experiments.Setting](a, "where")
	key := from.Path
	for _, w := range where {
		key += "\x00" + w.Name + "\x00" + w.Value
	}
	if t, ok := d.tables[key]; ok {
		a.OK = a.OK && t.ok
		return t
	}
	t := &measured{File: from}
	d.tables[key] = t
	digest, err := files.ReadAll(from, func(text io.Reader) error {
		_, err := workload.EachRow(from.Shown, text, false, func(head []string) error {
			t.head = slices.Clone(head)
			return nil
		}, func(_ int, row []string) error {
			for _, w := range where {
				if i := slices.Index(t.head, w.Name); i >= 0 && !alike(row[i], w.Value) {
					return nil
				}
			}
			t.rows = append(t.rows, slices.Clone(row))
			return nil
		})
		return err
	})
	if err != nil {
		a.OK = false
		d.FileErrors(from, a.At("file"), err)
		return t
	}
	t.digest, t.ok = digest, true
	return t
}

// alike reports whether two texts are the same, or the same number.
func alike(a, b string) bool {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	if a == b {
		return true
	}
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err == nil && err2 == nil && x == y
}

// recorded gives a job the outcomes of the table's rows at its settings. While
// these are unknown, the expressions are checked with the first row.
func (d *Decoder) recorded(n *eval.Node, e *eval.Env, a *eval.Args, j *experiments.Job) {
	for _, name := range []string{"command", "epochs", "steps", "budget"} {
		if a.IsSet(name) {
			a.Fail(a.At(name), "Argument that nothing reads", "The outcomes of the job are recorded: %s has no meaning.", name)
		}
	}
	for _, block := range []string{"builtin", "runtime", "alternative"} {
		if b := a.Node.First(block); b != nil {
			a.Fail(b.Header, "Contradicting blocks", "The outcomes of the job are recorded; it has no %s.", block)
		}
	}
	j.Epochs = 1
	args, t := d.recordedArgs(n, e)
	if !args.OK {
		a.OK = false
		return
	}
	each, _ := e.Lookup("each")
	rows := t.rows
	known := true
	for _, s := range eval.Get[[]experiments.Setting](args, "settings") {
		if each == cty.NilVal || !each.Type().IsObjectType() || !each.Type().HasAttribute(s.Name) {
			args.Fail(args.At("settings"), "Setting without a value",
				"A row is chosen by each.%s, which only a tune block with a setting %q, or an axis of the matrix, has.", s.Name, s.Name)
			a.OK = false
			return
		}
		v := each.GetAttr(s.Name)
		if !v.IsWhollyKnown() {
			known = false
			continue
		}
		column, text := slices.Index(t.head, s.Value), eval.Display(v)
		rows = slices.DeleteFunc(slices.Clone(rows), func(r []string) bool { return !alike(r[column], text) })
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
	j.Recorded = &experiments.Recorded{File: t.Path, Outcome: out}
	j.Runtime = &experiments.Runtime{
		Whole: true, SpeedUp: &workload.SpeedUp{Points: []workload.SpeedPoint{{Threads: max(j.Threads.Request, 1), Speed: 1}}},
		Threads: max(j.Threads.Request, 1), Parallel: 1,
		Epoch: workload.Span{Kind: workload.Every, Mean: max(time.Duration(math.Round(out.Time*1e9)), 1)},
	}
}

// outcome evaluates the outcomes of rows, and returns their means.
func (d *Decoder) outcome(n *eval.Node, e *eval.Env, t *measured, rows [][]string) (record.TrialOutcome, bool) {
	out := record.TrialOutcome{Units: 1}
	set := map[string]func(*float64){
		"time": func(v *float64) {
			if v == nil {
				out.Crashed = "the table has no time for these settings"
			} else {
				out.Time = *v
			}
		},
		"loss":     func(v *float64) { out.Loss = v },
		"accuracy": func(v *float64) { out.Accuracy = v },
		"cost":     func(v *float64) { out.Cost = v },
	}
	for _, name := range []string{"time", "loss", "accuracy", "cost"} {
		attr := n.Attr(name)
		if attr == nil {
			continue
		}
		mean, ok := d.meanOf(attr, e, t, rows)
		if !ok {
			return out, false
		}
		if name == "time" && mean != nil && (!(*mean >= 0) || *mean > files.MaxSeconds) {
			d.Errorf(attr.Expr.Range(), "Value out of range", "time is %v s in a row of %s: times are from 0 to %v s.", *mean,
				t.Shown, files.MaxSeconds)
			return out, false
		}
		set[name](mean)
	}
	return out, true
}

// meanOf is the mean of an expression over rows; nil when it is empty in one.
func (d *Decoder) meanOf(attr *hcl.Attribute, e *eval.Env, t *measured, rows [][]string) (*float64, bool) {
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

// Measured returns the settings that the table of a job with recorded outcomes
// has, each combination once, in the order of the table; nil for other jobs. It
// leaves out columns for names that the block does not map.
func (d *Decoder) Measured(job *eval.Node, e *eval.Env, names []string) [][]string {
	n := job.First("recorded")
	if n == nil || n.Broken {
		return nil
	}
	args, t := d.recordedArgs(n, e)
	if !args.OK {
		return nil
	}
	columns := make([]int, len(names))
	for i, name := range names {
		columns[i] = -1
		for _, s := range eval.Get[[]experiments.Setting](args, "settings") {
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
				values[i] = eval.Canonical(r[c])
			}
		}
		if key := strings.Join(values, "\x00"); !seen[key] {
			seen[key] = true
			out = append(out, values)
		}
	}
	return out
}

// RecordedSettings are the settings by which a job with recorded outcomes chooses
// its row.
func (d *Decoder) RecordedSettings(job *eval.Node, e *eval.Env) []string {
	n := job.First("recorded")
	if n == nil || n.Broken {
		return nil
	}
	args, _ := d.recordedArgs(n, e)
	var names []string
	for _, s := range eval.Get[[]experiments.Setting](args, "settings") {
		names = append(names, s.Name)
	}
	return names
}
