package trial

import (
	"math"
	"slices"
	"strconv"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// Tuning is a search for the best settings of a job: one tune block, at one point of the axes that it reads.
type Tuning struct {
	// Name is the name of the block.
	Name     string           `json:"name"`
	Job      string           `json:"job"`
	Hardware string           `json:"hardware"`
	Axes     []record.Setting `json:"axes,omitempty"`
	Method   string           `json:"method"`
	// Objective is the goal, one of Objectives. Target is the accuracy or loss to reach; nil for other objectives.
	Objective string   `json:"objective"`
	Target    *float64 `json:"target,omitempty"`
	// Constraints are bounds on outcomes of a trial.
	Constraints []Constraint   `json:"constraints,omitempty"`
	Settings    []TunedSetting `json:"settings"`
	Trials      int            `json:"trials"`
	// Mode says how settings are tried: empty if each trial is a separate job; else Online, ByRestart or Unchanged. The
	// following fields are for these modes. Stretch is the number of reports that measure a setting. Confidence is the
	// probability of a gain that a change must have.
	Mode       string  `json:"mode,omitempty"`
	Stretch    int     `json:"stretch,omitempty"`
	Confidence float64 `json:"confidence,omitempty"`
	// PerCost weighs the expected improvement of a trial against its predicted cost. Parallel is the number of trials
	// that run at the same time; 0 means one.
	PerCost  bool `json:"per_cost,omitempty"`
	Parallel int  `json:"parallel,omitempty"`
	// Start is the number of trials before a model is fitted; 0 means the method's default.
	Start int `json:"start,omitempty"`
	// LimitSeconds bounds the total time of all trials; 0 means no bound.
	LimitSeconds float64 `json:"limit_s,omitempty"`
	// Budget bounds the total cost of all trials; 0 means no bound.
	Budget float64 `json:"budget,omitempty"`
	// Imported are trials of another run, whose outcomes are used instead of running them.
	Imported []Imported `json:"imported,omitempty"`
	// WarmStart is the digest of the file with the imported trials.
	WarmStart string `json:"warm_start,omitempty"`
	// Best is the best value of the objective, if the values of all settings are known before the search; else nil.
	// BestSettings are the settings with this value.
	Best         *float64         `json:"best,omitempty"`
	BestSettings []record.Setting `json:"best_settings,omitempty"`
}

// The modes in which one job is changed while it trains: in place, if its program can change the settings; by a
// restart; or, for comparison, not at all.
const (
	Online    = "online"
	ByRestart = "restart"
	Unchanged = "fixed"
)

// TunedSetting is a setting that is searched: a list of values, or a range.
type TunedSetting struct {
	Name string `json:"name"`
	// Values are the values to try, as text; empty for a range. Numeric reports whether they are numbers.
	Values  []string `json:"values,omitempty"`
	Numeric bool     `json:"numeric,omitempty"`
	// Min and Max are the range of a number without a list of values. Integer allows only whole numbers.
	Min     float64 `json:"min,omitempty"`
	Max     float64 `json:"max,omitempty"`
	Integer bool    `json:"integer,omitempty"`
	// Log searches on a logarithmic scale.
	Log bool `json:"log,omitempty"`
	// Live reports whether the program can change the setting while it trains.
	Live bool `json:"live,omitempty"`
	// Context marks the part of the whole training that a trial gets, which is not a setting. Only trials at the value
	// Goal count.
	Context bool   `json:"context,omitempty"`
	Goal    string `json:"goal,omitempty"`
	// Initial is the value of the first trial, for methods that begin at a given point.
	Initial string `json:"initial"`
}

// Complete sets the goal of a context without one to its greatest value. The initial value of a context is its goal.
func (s *TunedSetting) Complete() {
	if s.Goal == "" {
		s.Goal = Number(s.Max)
		for i, v := range s.Values {
			f, _ := strconv.ParseFloat(v, 64)
			if most, _ := strconv.ParseFloat(s.Goal, 64); i == 0 || f > most {
				s.Goal = v
			}
		}
	}
	s.Initial = s.Goal
}

// Imported is a trial from another run.
type Imported struct {
	Settings []record.Setting `json:"settings"`
	Outcome  Outcome          `json:"outcome"`
}

// Objective is a goal of tunings.
type Objective struct {
	Name, Unit string
	// Higher reports whether greater values are better.
	Higher bool
	// Target is the outcome ("loss", "accuracy") that must reach a target; empty for objectives without a target.
	Target string
	Doc    string
}

// Objectives lists all objectives, by name.
var Objectives = []Objective{
	{Name: "accuracy", Higher: true, Doc: "maximize the last accuracy"},
	{Name: "cost", Doc: "minimize the cost of the trial, from its table or the prices of its servers"},
	{Name: "loss", Doc: "minimize the last training loss"},
	{Name: "throughput", Unit: "1/s", Higher: true, Doc: "maximize the epochs (or steps) per second"},
	{Name: "time", Unit: "s", Doc: "minimize the time of the trial"},
	{Name: "time_to_accuracy", Unit: "s", Target: "accuracy", Doc: "minimize the service time until the first report of an accuracy of `target` or more"},
	{Name: "time_to_loss", Unit: "s", Target: "loss", Doc: "minimize the service time until the first report of a loss of `target` or less"},
}

// FindObjective returns the objective with the given name.
func FindObjective(name string) Objective {
	i := slices.IndexFunc(Objectives, func(o Objective) bool { return o.Name == name })
	if i < 0 {
		return Objective{Name: name}
	}
	o := Objectives[i]
	if o.Name == "cost" {
		o.Unit = MoneyUnit()
	}
	return o
}

// MoneyUnit returns the unit of the costs of trials: the currency of the experiment. It is empty if the experiment
// names none, since costs from a table are in the table's unit.
func MoneyUnit() string {
	if c := measure.Currency(); c != measure.Dollars {
		return c
	}
	return ""
}

// Text writes a value of the objective with its unit.
func (t *Tuning) Text(v float64) string { return table.WithUnit(v, FindObjective(t.Objective).Unit) }

// AllConstraints returns the target of the objective, if there is one, and then the constraints.
func (t *Tuning) AllConstraints() []Constraint {
	o := FindObjective(t.Objective)
	switch {
	case t.Target == nil:
		return t.Constraints
	case o.Target == "loss":
		return append([]Constraint{{Outcome: "loss", Max: t.Target}}, t.Constraints...)
	}
	return append([]Constraint{{Outcome: "accuracy", Min: t.Target}}, t.Constraints...)
}

// Value returns a trial's value of the objective; NaN if it is unknown, or if the trial diverged or did not reach its
// target.
func (t *Tuning) Value(o *Outcome) float64 {
	switch t.Objective {
	case "throughput":
		if o.Time <= 0 || o.Units == 0 {
			return math.NaN()
		}
		return float64(o.Units) / o.Time
	case "time_to_loss", "time_to_accuracy":
		if o.Reached != nil {
			return *o.Reached
		}
		return math.NaN()
	}
	return o.Outcome(t.Objective)
}

// Feasible reports whether a trial has a value of the objective and keeps all constraints.
func (t *Tuning) Feasible(o *Outcome) bool {
	if o.Crashed != "" || o.Diverged || math.IsNaN(t.Value(o)) {
		return false
	}
	for _, c := range t.AllConstraints() {
		if t.IsTarget(c) && o.Reached != nil {
			continue // it was reached before the end of the trial
		}
		v := o.Outcome(c.Outcome)
		if !(c.Min == nil || v >= *c.Min) || !(c.Max == nil || v <= *c.Max) {
			return false
		}
	}
	return true
}

// Missed reports whether a trial ended without having reached the target of the objective.
func (t *Tuning) Missed(o *Outcome) bool {
	return t.Target != nil && FindObjective(t.Objective).Target != "" && o.Crashed == "" && !o.Diverged && o.Reached == nil
}

// State returns the state of a trial in the contexts that count.
func (t *Tuning) State(o *Outcome) string {
	switch {
	case o.Crashed != "":
		return TrialCrashed
	case o.Diverged:
		return TrialDiverged
	case t.Missed(o):
		return TrialUnreached
	case !t.Feasible(o):
		return TrialInfeasible
	}
	return TrialDone
}

// Counts reports whether trials with these settings count: each context has its goal.
func (t *Tuning) Counts(settings []record.Setting) bool {
	for _, s := range t.Settings {
		for _, v := range settings {
			if s.Context && v.Name == s.Name && v.Value != s.Goal {
				return false
			}
		}
	}
	return true
}

// IsTarget reports whether a constraint is the target of the objective.
func (t *Tuning) IsTarget(c Constraint) bool {
	return t.Target != nil && FindObjective(t.Objective).Target == c.Outcome && (c.Min == t.Target || c.Max == t.Target)
}

// Aim returns the target of the objective as a bound; nil if the objective has none.
func (t *Tuning) Aim() *Constraint {
	if t.Target == nil {
		return nil
	}
	return &t.AllConstraints()[0]
}

// Better reports whether a is a better value of the objective than b.
func (t *Tuning) Better(a, b float64) bool {
	if FindObjective(t.Objective).Higher {
		return a > b
	}
	return a < b
}

// Regret returns the distance of a value from the best, relative to the best.
func (t *Tuning) Regret(v, best float64) float64 {
	if t.Better(v, best) || v == best {
		return 0
	}
	return math.Abs(v-best) / math.Max(math.Abs(best), 1e-12)
}

// Same reports whether two tunings are one search with the same goal, so that their trials can be compared. Their
// methods and modes may differ.
func (t *Tuning) Same(o *Tuning) bool {
	return t.Name == o.Name && t.Job == o.Job && t.Hardware == o.Hardware && t.Objective == o.Objective
}

// The states of a trial.
const (
	TrialDone       = "done"
	TrialInfeasible = "infeasible"
	TrialCrashed    = "crashed"
	// TrialUnreached is a trial that did not reach the target of its objective. TrialDiverged is a trial whose last
	// loss is NaN or infinite.
	TrialUnreached = "not reached"
	TrialDiverged  = "diverged"
	TrialImported  = "imported"
	// TrialStretch is a period between two changes of a job that is tuned while it trains. These rows precede the row
	// of the job.
	TrialStretch = "stretch"
	// TrialPartial is a trial in a context other than the goal, so that it does not count.
	TrialPartial = "partial"
)

// Asked are the searches of an experiment, in its plan. The cells of their trials are not in the plan, since they
// depend on the outcomes of earlier trials.
var Asked = record.RegisterPlanMember[[]Tuning]("tunings", record.RankAfterPlots)
