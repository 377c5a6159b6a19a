package search

import (
	"embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
	"github.com/tfexp/tfexp/stages/tuning/trial"
	"github.com/tfexp/tfexp/stages/tuning/tuner"
)

// tuneArgs are the arguments of a tune block.
//
// A search for the best settings of a job. Each trial is a separate cell, with one job (but see `mode`):
// simulated trials of different tunings run side by side, real ones one at a time, and finished trials are kept.
// There is one search for each hardware of the matrix, each replicate and each value of the axes that the block,
// its job and its hardware read. A file with `tune` blocks needs no workload and no policy. Results are in
// `trials.csv` and `tunings.csv`.
//
//	job "digits" {
//	  builtin "mlp" {}
//	  epochs = 3
//	}
//
//	hardware "here" { engine = "process" }
//
//	tune "digits" {
//	  job       = job.digits
//	  objective = "time"
//	  trials    = 8
//
//	  setting "batch" { values = [8, 16, 32, 64, 128] }
//	  setting "learning_rate" {
//	    min = 0.0001
//	    max = 0.1
//	    log = true
//	  }
//	  constraint "accuracy" { min = 0.9 }
//	}
type tuneArgs struct {
	// The job to tune.
	//
	//	job = job.digits
	Job string `arg:"job,required" type:"job"`
	// The aim of the search: {objectives}.
	//
	//	objective = "time"
	Objective string `arg:"objective,required"`
	// The accuracy or loss that a trial must reach, for `time_to_accuracy` and `time_to_loss`. The service time until
	// the first report that reaches it counts, without interpolation. A trial that never reaches it is ranked behind
	// all others.
	//
	//	target = 0.95
	Target *float64 `arg:"target"`
	// The method that chooses the next settings:{methods}
	//
	//	method = "random"
	Method string `arg:"method" default:"bo"`
	// The number of settings to try, without imported trials.
	//
	//	trials = 40
	Trials int `arg:"trials" default:"20" min:"1" max:"100000"`
	// The number of first trials, spread over all settings, before the method fits a model.
	//
	// Default: half of the number of settings, and at least 3.
	//
	//	start = 5
	Start int `arg:"start" min:"1" max:"100000"`
	// Whether `bo` and `selftf` divide the expected gain of a trial by its predicted cost or time. With `context`
	// blocks they always do.
	//
	//	per_cost = true
	PerCost bool `arg:"per_cost" default:"false"`
	// The number of trials that are chosen together; simulated trials run at the same time. Models take those that
	// still run to come out as predicted.
	//
	//	parallel = 4
	Parallel int `arg:"parallel" default:"1" min:"1" max:"1000"`
	// The total time of trials after which no further trial begins.
	//
	//	limit = "30m"
	Limit time.Duration `arg:"limit,positive"`
	// The most that the whole search may take: a cost in the experiment's currency, or a time. When the trials so far
	// have cost as much, no more begin. A cost needs trials whose cost is known: by the prices of the servers, or by
	// the table of a `recorded` block.
	//
	//	budget = 2.50
	Budget cty.Value `arg:"budget" type:"any"`
	// Earlier trials that the search begins with: the results folder of another experiment, or a CSV file. Of another
	// experiment the trials with the same settings count. A CSV file has a column for each setting, `time_s`, and where
	// they are known `loss`, `accuracy`, `cost`, `units` (the epochs or steps) and `state` (`crashed`). It is relative
	// to the folder of the experiment file. The modes `online` and `restart` take its times of a unit as expectations.
	//
	//	warm_start = "earlier.csv"
	WarmStart string `arg:"warm_start"`
	// How tfexp tries settings:
	// - `trials` runs one job for each setting.
	// - `online` runs one job, which starts with the initial settings and is changed while it trains: in place where
	//   its program can (threads of a malleable job, parts of an elastic role, `batch` and `learning_rate` of
	//   built-in programs, settings with `live`), else by a checkpoint and a new start.
	// - `restart` is `online`, but always by a checkpoint and a new start.
	// - `fixed` runs the job with the initial settings, and is the baseline.
	//
	// Under `online` and `restart` a setting is measured; then another one is tried, or an earlier one restored, when
	// that is expected to save more than it costs. The job ends at its target, at `limit`, or with its work. More
	// cores are expected to be faster until they are measured. A `live` setting that the program does not confirm, and
	// that changes nothing, does not count as tried. When the job becomes slower or faster, other settings are
	// considered again. Each decision is in `decisions.csv` of the cell.
	//
	//	mode = "online"
	Mode string `arg:"mode" default:"trials" allowed:"trials online restart fixed"`
	// The most reports by which a setting is measured in the modes `online` and `restart`. A report is an epoch, or a
	// step of a job of steps; the first one after the change does not count. Fewer reports are enough if they leave no
	// doubt.
	//
	//	stretch = 3
	Stretch int `arg:"stretch" default:"2" min:"1" max:"10000"`
	// The probability with which a return to an earlier setting must save more time than it costs, in the modes
	// `online` and `restart`.
	//
	//	confidence = 0.8
	Confidence float64 `arg:"confidence" default:"0.9" min:"0" max:"0.999"`
}

// settingArgs are the arguments of a setting block.
//
// A setting to search: a list of values, or a range. For a job with a `recorded` block it may have neither: the values
// come from the table.
type settingArgs struct {
	// The possible values.
	//
	//	values = [1, 2, 4]
	Values cty.Value `arg:"values" type:"values"`
	// The smallest value of a range.
	//
	//	min = 1
	Min *float64 `arg:"min"`
	// The greatest value of a range.
	//
	//	max = 16
	Max *float64 `arg:"max"`
	// Whether the range has only whole numbers.
	//
	// Default: true when both ends of the range are whole.
	//
	//	integer = false
	Integer *bool `arg:"integer"`
	// Whether to search on a logarithmic scale.
	//
	//	log = true
	Log bool `arg:"log" default:"false"`
	// Whether the program can change the setting while it trains, from its control file. Else it is restarted for it.
	//
	// Default: true of `batch` and `learning_rate` of built-in programs.
	//
	//	live = true
	Live bool `arg:"live"`
	// The value at which `hill_climb` begins, and which `fixed` tries.
	//
	// Default: the first value, or `min`.
	//
	//	initial = 2
	Initial cty.Value `arg:"initial" type:"any"`
}

// contextArgs are the arguments of a context block.
//
// The size of a trial, such as the size of the training set or the number of epochs. Trials count where it is `at`
// alone; others are cheaper, and the methods `bo`, `selftf` and `halving` learn from them. Their `state` in
// `trials.csv` is `partial`. Methods without a model try nothing else than `at`.
type contextArgs struct {
	// The possible values, which are numbers.
	//
	//	values = [1000, 10000, 60000]
	Values cty.Value `arg:"values" type:"values"`
	// The smallest value of a range.
	//
	//	min = 1
	Min *float64 `arg:"min"`
	// The greatest value of a range.
	//
	//	max = 16
	Max *float64 `arg:"max"`
	// Whether the range has only whole numbers.
	//
	// Default: true when both ends of the range are whole.
	//
	//	integer = false
	Integer *bool `arg:"integer"`
	// Whether the model uses a logarithmic scale.
	//
	//	log = true
	Log bool `arg:"log" default:"false"`
	// The value at which trials count for the result.
	//
	// Default: the greatest value.
	//
	//	at = 60000
	At *float64 `arg:"at"`
}

// constraintArgs are the arguments of a constraint block.
//
// A bound on an outcome of a trial. A trial outside it is infeasible, and is seen with its outcomes.
type constraintArgs struct {
	// The smallest allowed value.
	//
	//	min = 0.95
	Min *float64 `arg:"min"`
	// The greatest allowed value; times are in seconds.
	//
	//	max = 0.1
	Max *float64 `arg:"max"`
}

//go:embed tune.go recorded.go
var sources embed.FS

var _ = schema.Document("search", sources)

func init() {
	language.Extend("tuning", language.File, language.Extension[experiment.Spec]{
		Blocks: func() []*schema.Block { return []*schema.Block{tuneBlock()} },
		Spares: func(file *eval.Node) []string {
			if file.First("tune") == nil {
				return nil
			}
			return []string{"workload", "policy"}
		},
		Beyond: language.Beyond{
			Kind: "tune", Begin: begin,
			Names: func(n *eval.Node) []string {
				return schema.Each(searched(n), func(s *eval.Node) string { return s.Label })
			},
		},
	})
	language.Extend("tuning", language.Job, language.Extension[experiment.Job]{
		Instead: "recorded",
		Blocks: func() []*schema.Block {
			return []*schema.Block{schema.BlockFor[recordedArgs](schema.Block{Name: "recorded", Single: true})}
		},
		Decode: func(d *language.Decoder, b language.Block, j *experiment.Job) {
			if n := b.Node.First("recorded"); n != nil {
				decoder{d}.recorded(n, b.Env, b.Args, j)
			}
		},
	})
}

// tuneBlock returns the tune block of the language. It is made at each call, since methods can be registered later.
func tuneBlock() *schema.Block {
	var objectives, docs, methods []string
	for _, o := range trial.Objectives {
		objectives = append(objectives, o.Name)
		docs = append(docs, "`"+o.Name+"` ("+o.Doc+")")
	}
	for _, m := range tuner.All() {
		methods = append(methods, "\n- `"+m.Name+"` "+m.Doc)
	}
	b := schema.BlockFor[tuneArgs](schema.Block{Name: "tune", Label: "name, of the tuning in the results", Unique: true})
	b.Blocks = []*schema.Block{
		schema.BlockFor[settingArgs](schema.Block{
			Name: "setting", Required: true, Unique: true,
			Label: "name of the setting: read as `each.<name>` in the job and its hardware, or else the name of an argument " +
				"of the job or of its built-in program, which it replaces",
		}),
		schema.BlockFor[contextArgs](schema.Block{Name: "context", Unique: true, Label: "name of the context: read as `each.<name>`, or an argument that it replaces, as a setting"}),
		schema.BlockFor[constraintArgs](schema.Block{
			Name: "constraint", Label: "outcome", Labels: []string{"accuracy", "cost", "loss", "time"}, Unique: true,
		}),
	}
	schema.Find(b.Args, "objective").Allowed, schema.Find(b.Args, "method").Allowed = objectives, tuner.Names()
	return b.ReplaceWords("{objectives}", strings.Join(docs, ", "), "{methods}", strings.Join(methods, ""))
}

// decoder decodes the blocks of searches.
type decoder struct{ *language.Decoder }

// tune decodes a tune block, without the cells of its trials.
func (d decoder) tune(n *eval.Node, e *eval.Env) (*tune, bool) {
	var v tuneArgs
	a := d.Decode(n, e, &v)
	t := &tune{Values: map[string]cty.Value{}, Search: &Search{Range: eval.RangeOf(n.Header)}}
	t.Tuning = trial.Tuning{
		Name: n.Label, Job: v.Job, Objective: v.Objective, Method: v.Method, Trials: v.Trials, Start: v.Start,
		LimitSeconds: v.Limit.Seconds(), PerCost: v.PerCost,
	}
	if v.Parallel > 1 {
		t.Tuning.Parallel = v.Parallel
	}
	d.target(n, a, v.Target, t)
	d.budget(a, v.Budget, t)
	d.mode(n, a, &v, t)
	for _, c := range n.All("constraint") {
		ok := d.constraint(c, e, t)
		a.OK = a.OK && ok
	}
	for _, s := range searched(n) {
		ok := d.setting(s, e, t)
		a.OK = a.OK && ok
	}
	if a.OK && a.IsSet("warm_start") {
		d.warmStart(a, v.WarmStart, t)
	}
	return t, a.OK
}

// mode reads how settings are tried, and the arguments for a job that is tuned while it trains.
func (d decoder) mode(n *eval.Node, a *eval.Args, v *tuneArgs, t *tune) {
	mode := v.Mode
	if mode == "" {
		return // it has a mistake, which is reported
	}
	unread := func(why string, names ...string) {
		if m := n.Attr("mode"); m != nil && len(m.Expr.Variables()) > 0 {
			return // at another value of the axis the arguments may be needed
		}
		a.Unread("{} is for "+why+".", names...)
	}
	trials, changed := "mode \"trials\": mode \""+mode+"\" changes the settings of one job",
		fmt.Sprintf("the modes %q and %q", trial.Online, trial.ByRestart)
	if mode == "trials" {
		unread(changed+", which change the settings of a job while it trains", "stretch", "confidence")
		return
	}
	t.Mode, t.Stretch, t.Confidence = mode, v.Stretch, v.Confidence
	if mode == trial.Unchanged {
		unread("modes that change settings: with \"fixed\" they stay the same", "stretch", "confidence", "trials", "start")
	}
	unread(trials, "parallel", "per_cost")
	if t.Budget > 0 {
		unread(trials, "budget")
	}
	if mode == trial.Unchanged {
		unread("modes that change settings: with \"fixed\" they stay the same", "warm_start")
	}
	for _, c := range n.All("context") {
		a.Fail(c.Header, "Unused block", "A context is the part of the whole that a trial gets; mode %q changes "+
			"one job, which gets the whole.", mode)
	}
	switch t.Objective {
	case "time", "throughput", "time_to_loss", "time_to_accuracy", "": // "" if the argument has an error
	default:
		a.Fail(a.At("objective"), "Objective that does not fit",
			"In mode %q the job is changed so that it is done sooner: the objective is time, throughput, time_to_loss or "+
				"time_to_accuracy, not %s; mode = \"trials\" has the others.", mode, t.Objective)
	}
}

// budget reads the limit of the whole search: a cost or a time.
func (d decoder) budget(a *eval.Args, v cty.Value, t *tune) {
	if !a.IsSet("budget") || v == cty.NilVal || !v.IsKnown() || v.IsNull() {
		return
	}
	at := a.At("budget")
	if v.Type() == cty.String && a.IsSet("limit") {
		a.Fail(at, "Contradicting arguments", "A budget that is a time means the same as limit: remove one of them.")
		return
	}
	switch v.Type() {
	case cty.Number:
		if t.Budget, _ = v.AsBigFloat().Float64(); t.Budget <= 0 {
			a.Fail(at, "Value out of range", "A budget must be above 0; it is %v.", t.Budget)
		}
	case cty.String:
		long, err := schema.ParseDuration(v.AsString())
		if t.LimitSeconds = long.Seconds(); err != nil || long <= 0 {
			a.Fail(at, "Not a budget", "%q is neither a cost, such as 2.50, nor a time, such as \"30m\".", v.AsString())
		}
	default:
		a.Fail(at, "Wrong type", "budget is a cost, such as 2.50, or a time, such as \"30m\".")
	}
}

// target reads the target of an objective that needs one.
func (d decoder) target(n *eval.Node, a *eval.Args, target *float64, t *tune) {
	if t.Objective == "" {
		return // it has a mistake, which is reported
	}
	o := trial.FindObjective(t.Objective)
	switch {
	case o.Target == "":
		a.Unread(fmt.Sprintf("The objective %q has no {}; a constraint block bounds an outcome.", o.Name), "target")
	case o.Target != "" && a.Lacks("target") && !n.Broken:
		a.Fail(n.Header, "Missing argument", "The objective %q needs target: the %s to be reached.", o.Name, o.Target)
	case target != nil && o.Target == "accuracy" && !(*target > 0 && *target <= 1):
		a.Fail(a.At("target"), "Value out of range", "An accuracy must be above 0 and at most 1; this is %v.", *target)
	default:
		t.Target = target
	}
}

// constraint reads a bound on an outcome.
func (d decoder) constraint(n *eval.Node, e *eval.Env, t *tune) bool {
	var v constraintArgs
	a := d.Decode(n, e, &v)
	c := trial.Constraint{Outcome: n.Label, Min: v.Min, Max: v.Max}
	switch {
	case n.Broken || !a.OK:
	case a.Lacks("min") && a.Lacks("max"):
		a.Fail(n.Header, "Constraint without a bound", "%s needs min or max.", n.Title())
	case c.Min != nil && c.Max != nil && *c.Min > *c.Max:
		a.Fail(a.At("min"), "Contradicting arguments", "min is above max, so no value is within both bounds.")
	case c.Outcome == "accuracy" && c.Min != nil && *c.Min > 1:
		a.Fail(a.At("min"), "Value out of range", "An accuracy is at most 1, so no trial satisfies min = %v.", *c.Min)
	case (c.Outcome == "accuracy" || c.Outcome == "time") && c.Max != nil && *c.Max < 0:
		a.Fail(a.At("max"), "Value out of range", "The %s is never below 0, so no trial satisfies max = %v.", c.Outcome,
			*c.Max)
	}
	t.Constraints = append(t.Constraints, c)
	return a.OK && !n.Broken
}

// setting reads a setting: its values, its range, or neither of them.
func (d decoder) setting(n *eval.Node, e *eval.Env, t *tune) bool {
	var v settingArgs
	var c contextArgs
	a := d.Decode(n, e, &v)
	s := trial.TunedSetting{Name: n.Label, Log: v.Log, Context: n.Schema.Name == "context", Live: v.Live}
	if s.Context {
		d.Decode(n, e, &c)
	}
	ranged := a.IsSet("min") || a.IsSet("max")
	whole := func(f float64) bool { return f == math.Trunc(f) }
	switch {
	case !a.OK:
		return false
	case a.IsSet("values") && ranged:
		a.Fail(a.At("values"), "Contradicting arguments", "A setting has values, or a range from min to max.")
	case a.IsSet("values"):
		d.listed(n, a, v.Values, t, &s)
	case ranged && (v.Min == nil || v.Max == nil):
		a.Fail(n.Header, "Missing argument", "A range needs both min and max.")
	case ranged && *v.Min > *v.Max:
		a.Fail(a.At("min"), "Empty range", "min is %v, above max, which is %v: there is no value between them.",
			*v.Min, *v.Max)
	case ranged && s.Log && *v.Min <= 0:
		a.Fail(a.At("log"), "Value out of range", "On a logarithmic scale min must be above 0; it is %v.", *v.Min)
	case ranged:
		s.Min, s.Max, s.Numeric = *v.Min, *v.Max, true
		s.Integer = whole(s.Min) && whole(s.Max)
		s.Integer = schema.Or(v.Integer, s.Integer)
		if s.Integer {
			s.Min, s.Max = math.Ceil(s.Min), math.Floor(s.Max)
		}
		if s.Min > s.Max {
			a.Fail(a.At("min"), "Empty range", "There is no whole number from %v to %v.", *v.Min, *v.Max)
		}
	}
	if a.OK && !ranged {
		a.Unread("{} needs min and max: without them, the setting has no range.", "integer")
	}
	if a.IsSet("initial") {
		s.Initial = eval.Display(v.Initial)
	}
	if c.At != nil {
		s.Goal = trial.Number(*c.At)
	}
	if known := len(s.Values) > 0 || s.Numeric; a.OK && known { // otherwise, the values come from a table
		a.OK = settle(d.Reporter, n, &s)
	}
	t.Settings = append(t.Settings, s)
	return a.OK
}

// settle completes a setting whose values or range are known.
func settle(r *eval.Reporter, n *eval.Node, s *trial.TunedSetting) bool {
	at := func(name string) hcl.Range { return n.Attr(name).Range }
	outside := func(text string) bool {
		if len(s.Values) > 0 {
			return !slices.Contains(s.Values, text)
		}
		f, err := strconv.ParseFloat(text, 64)
		return err != nil || f < s.Min || f > s.Max
	}
	for _, text := range s.Values {
		if f, err := strconv.ParseFloat(text, 64); s.Log && (err != nil || f <= 0) {
			r.Errorf(at("log"), "Value out of range", "On a logarithmic scale all values are numbers above 0; %s is not.", text)
			return false
		}
	}
	switch {
	case s.Initial == "" && len(s.Values) > 0:
		s.Initial = s.Values[0]
	case s.Initial == "":
		s.Initial = eval.Display(cty.NumberFloatVal(s.Min))
	case !outside(s.Initial):
	case len(s.Values) > 0:
		r.Errorf(at("initial"), "Unknown value", "initial is %s, which is none of the values.", s.Initial)
		return false
	default:
		r.Errorf(at("initial"), "Value out of range", "initial is %s, outside the range from %v to %v.",
			s.Initial, s.Min, s.Max)
		return false
	}
	switch {
	case !s.Context:
		return true
	case !s.Numeric:
		r.Errorf(n.Header, "Context that is not a number",
			"The values of %s must be numbers: the part of the whole that a trial gets.",
			n.Title())
		return false
	case s.Goal != "" && outside(s.Goal):
		r.Errorf(at("at"), "Unknown value", "at is %s, which is none of the values.", s.Goal)
		return false
	}
	s.Complete()
	return true
}

// listed reads the listed values of a setting.
func (d decoder) listed(n *eval.Node, a *eval.Args, v cty.Value, t *tune, s *trial.TunedSetting) {
	at := n.Attr("values").Expr.Range()
	switch {
	case !eval.IsList(v):
		a.Fail(at, "Wrong type", "values must be a list, such as [1, 2, 4].")
		return
	case v.LengthInt() == 0:
		a.Fail(at, "Empty list", "The setting %q has no values, so there is nothing to search.", n.Label)
		return
	}
	s.Numeric = true
	for it := v.ElementIterator(); it.Next(); {
		_, one := it.Element()
		text := eval.Display(one)
		if slices.Contains(s.Values, text) {
			a.Fail(at, "Duplicate value", "The setting %q already has the value %s.", n.Label, text)
			return
		}
		s.Values = append(s.Values, text)
		t.Values[n.Label+"\x00"+text] = one
		s.Numeric = s.Numeric && one.Type() == cty.Number
	}
}
