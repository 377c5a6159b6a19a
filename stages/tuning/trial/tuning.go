package trial

import (
	"math"
	"slices"
	"strconv"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// Tuning is a search for the best settings of a job: one tune block at one point
// of the axes that it reads.
type Tuning struct {
	// Name is the name of the block.
	Name     string           `json:"name"`
	Job      string           `json:"job"`
	Hardware string           `json:"hardware"`
	Axes     []record.Setting `json:"axes,omitempty"`
	Method   string           `json:"method"`
	// Objective is the goal, one of Objectives; Target is the accuracy or loss of
	// "time_to_accuracy" and "time_to_loss".
	Objective string   `json:"objective"`
	Target    *float64 `json:"target,omitempty"`
	// Constraints are on other outcomes of a trial.
	Constraints []Constraint   `json:"constraints,omitempty"`
	Settings    []TunedSetting `json:"settings"`
	Trials      int            `json:"trials"`
	// Mode is how settings are tried: empty for separate jobs as trials; else one of
	// Online, ByRestart and Unchanged. Stretch is then the number of reports that measure a
	// setting, Confidence the required probability that a change pays off.
	Mode       string  `json:"mode,omitempty"`
	Stretch    int     `json:"stretch,omitempty"`
	Confidence float64 `json:"confidence,omitempty"`
	// PerCost weighs the promise of a trial against its predicted cost; Parallel is
	// the number of trials at a time, 0 for one after the other.
	PerCost  bool `json:"per_cost,omitempty"`
	Parallel int  `json:"parallel,omitempty"`
	// Start is the number of trials before the first model; 0: the method's default.
	Start int `json:"start,omitempty"`
	// LimitSeconds bounds the total time of all trials; 0: no bound.
	LimitSeconds float64 `json:"limit_s,omitempty"`
	// Budget bounds the total cost of all trials; 0: no bound.
	Budget float64 `json:"budget,omitempty"`
	// Imported are trials from another run; this run does not repeat them.
	Imported []Imported `json:"imported,omitempty"`
	// WarmStart is the digest of the file with the imported trials.
	WarmStart string `json:"warm_start,omitempty"`
	// Best is the best value of the objective, if the values of all settings are known
	// beforehand. BestSettings has the settings with this value.
	Best         *float64         `json:"best,omitempty"`
	BestSettings []record.Setting `json:"best_settings,omitempty"`
}

// The modes of a tuning other than separate trials. One job is changed while it
// trains: in place where its program can; always by a restart; or not at all.
const (
	Online    = "online"
	ByRestart = "restart"
	Unchanged = "fixed"
)

// TunedSetting is a setting that is searched: a list of values, or a range.
type TunedSetting struct {
	Name string `json:"name"`
	// Values are all values to try, as text; Numeric reports whether Values are numbers.
	Values  []string `json:"values,omitempty"`
	Numeric bool     `json:"numeric,omitempty"`
	// Min and Max bound a number without a list; Integer makes it whole.
	Min     float64 `json:"min,omitempty"`
	Max     float64 `json:"max,omitempty"`
	Integer bool    `json:"integer,omitempty"`
	// Log searches the logarithm.
	Log bool `json:"log,omitempty"`
	// Live reports whether the program adopts the setting while it trains.
	Live bool `json:"live,omitempty"`
	// Context marks a fidelity, the share of the whole training in a trial, not a
	// setting. Only trials at the value Goal count.
	Context bool   `json:"context,omitempty"`
	Goal    string `json:"goal,omitempty"`
	// Initial is where a search begins that begins somewhere.
	Initial string `json:"initial"`
}

// Complete gives a context the greatest of its values as its goal, unless it has one;
// it begins there.
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

// Objective is something that tunings seek.
type Objective struct {
	Name, Unit string
	// Higher reports that more is better.
	Higher bool
	// Target is the outcome ("loss", "accuracy") that must reach a target; empty
	// for objectives without one.
	Target string
	Doc    string
}

// Objectives are all there are.
var Objectives = []Objective{
	{Name: "accuracy", Higher: true, Doc: "the last accuracy, to be high"},
	{Name: "cost", Doc: "what the trial cost, by its table or the prices of its servers, to be low"},
	{Name: "loss", Doc: "the last training loss, to be low"},
	{Name: "throughput", Unit: "1/s", Higher: true, Doc: "epochs (or steps) a second, to be high"},
	{Name: "time", Unit: "s", Doc: "the time of the trial, to be short"},
	{Name: "time_to_accuracy", Unit: "s", Target: "accuracy", Doc: "the service time until the first report of an accuracy of `target` or more"},
	{Name: "time_to_loss", Unit: "s", Target: "loss", Doc: "the service time until the first report of a loss of `target` or less"},
}

// FindObjective returns the objective of a name.
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

// MoneyUnit is the unit of the costs of trials: the currency that the experiment names. Without one it is empty, since
// the costs in a table have the table's unit.
func MoneyUnit() string {
	if c := measure.Currency(); c != measure.Dollars {
		return c
	}
	return ""
}

// AllConstraints returns the constraints of the tuning, the target of its objective first.
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

// Value is the tuning's objective of a trial; NaN when it is not known, as of a trial that has diverged or has not
// reached its target.
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

// Feasible reports whether a trial has an objective and keeps all constraints.
func (t *Tuning) Feasible(o *Outcome) bool {
	if o.Crashed != "" || o.Diverged || math.IsNaN(t.Value(o)) {
		return false
	}
	for _, c := range t.AllConstraints() {
		if t.IsTarget(c) && o.Reached != nil {
			continue // it was reached before the end
		}
		v := o.Outcome(c.Outcome)
		if !(c.Min == nil || v >= *c.Min) || !(c.Max == nil || v <= *c.Max) {
			return false
		}
	}
	return true
}

// Missed reports whether a trial has an end, and never reached the target of the objective.
func (t *Tuning) Missed(o *Outcome) bool {
	return t.Target != nil && FindObjective(t.Objective).Target != "" && o.Crashed == "" && !o.Diverged && o.Reached == nil
}

// State is the state of a trial whose settings count.
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

// Counts reports whether a trial with these settings counts: its contexts are the
// goals.
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

// Aim is the bound that a trial must reach; nil without a target.
func (t *Tuning) Aim() *Constraint {
	if t.Target == nil {
		return nil
	}
	return &t.AllConstraints()[0]
}

// Better reports whether one value of the objective is better than another.
func (t *Tuning) Better(a, b float64) bool {
	if FindObjective(t.Objective).Higher {
		return a > b
	}
	return a < b
}

// Regret is the distance of a value from the best, as a part of the best.
func (t *Tuning) Regret(v, best float64) float64 {
	if t.Better(v, best) || v == best {
		return 0
	}
	return math.Abs(v-best) / math.Max(math.Abs(best), 1e-12)
}

// Same reports whether two tunings search the same, if perhaps in other ways:
// their trials can be compared.
func (t *Tuning) Same(o *Tuning) bool {
	return t.Name == o.Name && t.Job == o.Job && t.Hardware == o.Hardware && t.Objective == o.Objective
}

// The states of a trial.
const (
	TrialDone       = "done"
	TrialInfeasible = "infeasible"
	TrialCrashed    = "crashed"
	// TrialUnreached is a trial that never reached the target of its objective, TrialDiverged one whose last loss is NaN
	// or infinite.
	TrialUnreached = "not reached"
	TrialDiverged  = "diverged"
	TrialImported  = "imported"
	// TrialStretch is a stretch of a job that is changed while it trains: the rows before
	// the job's own.
	TrialStretch = "stretch"
	// TrialPartial is a trial in a context in which it does not count.
	TrialPartial = "partial"
)

// Asked are the searches of an experiment; the cells of their trials follow from the results of others.
var Asked = record.RegisterPlanMember[[]Tuning]("tunings", record.RankAfterPlots)
