package record

import (
	"math"
	"slices"
	"strconv"

	"github.com/tfexp/tfexp/results/tell"
)

// Tuning is a search for the best settings of a job: one tune block at one point
// of the axes that it reads.
type Tuning struct {
	// Name is that of the block.
	Name     string    `json:"name"`
	Job      string    `json:"job"`
	Hardware string    `json:"hardware"`
	Axes     []Setting `json:"axes,omitempty"`
	Method   string    `json:"method"`
	// Objective is what is sought, one of Objectives; Target is the accuracy or
	// loss of "time_to_accuracy" and "time_to_loss".
	Objective string   `json:"objective"`
	Target    *float64 `json:"target,omitempty"`
	// Constraints are on other outcomes of a trial.
	Constraints []Constraint   `json:"constraints,omitempty"`
	Settings    []TunedSetting `json:"settings"`
	Trials      int            `json:"trials"`
	// Mode is how settings are tried: empty for trials that are jobs of their own; else
	// one of Online, ByRestart and Unchanged. Stretch is then how many reports a setting is
	// measured by, Confidence that with which a change has to pay.
	Mode       string  `json:"mode,omitempty"`
	Stretch    int     `json:"stretch,omitempty"`
	Confidence float64 `json:"confidence,omitempty"`
	// PerCost weighs what a trial promises against its predicted cost; Parallel is how
	// many trials run side by side, 0 for one after the other.
	PerCost  bool `json:"per_cost,omitempty"`
	Parallel int  `json:"parallel,omitempty"`
	// Start is how many trials come before the first model; 0: the method's default.
	Start int `json:"start,omitempty"`
	// LimitSeconds bounds what all trials may take together; 0: no bound.
	LimitSeconds float64 `json:"limit_s,omitempty"`
	// Imported are trials that were made elsewhere, which count as made.
	Imported []Imported `json:"imported,omitempty"`
	// WarmStart is the digest of the file that they are from.
	WarmStart string `json:"warm_start,omitempty"`
	// Best is the best value of the objective there is, where all are known
	// beforehand, and BestSettings where it is.
	Best         *float64  `json:"best,omitempty"`
	BestSettings []Setting `json:"best_settings,omitempty"`
}

// The modes of a tuning other than trials of their own: one job is changed while it
// trains, in place where its program can; or always by a new start; or not at all.
const (
	Online    = "online"
	ByRestart = "restart"
	Unchanged = "fixed"
)

// TunedSetting is a setting that is searched: a list of values, or a range.
type TunedSetting struct {
	Name string `json:"name"`
	// Values are the only ones, in their text form; Numeric that they are numbers.
	Values  []string `json:"values,omitempty"`
	Numeric bool     `json:"numeric,omitempty"`
	// Min and Max bound a number without a list; Integer makes it whole.
	Min     float64 `json:"min,omitempty"`
	Max     float64 `json:"max,omitempty"`
	Integer bool    `json:"integer,omitempty"`
	// Log searches the logarithm.
	Log bool `json:"log,omitempty"`
	// Live says that the program takes the setting on while it trains.
	Live bool `json:"live,omitempty"`
	// Context marks what is no setting but how much of a whole a trial is given; trials
	// count at the value Goal alone.
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

// Constraint bounds an outcome of a trial: time, loss, accuracy or cost.
type Constraint struct {
	Outcome string   `json:"outcome"`
	Min     *float64 `json:"min,omitempty"`
	Max     *float64 `json:"max,omitempty"`
}

// Imported is a trial that was made elsewhere.
type Imported struct {
	Settings []Setting    `json:"settings"`
	Outcome  TrialOutcome `json:"outcome"`
}

// TrialRef makes a cell a trial of a tuning.
type TrialRef struct {
	// Tuning is an index into Plan.Tunings, Number counts from 1.
	Tuning   int       `json:"tuning"`
	Number   int       `json:"number"`
	Settings []Setting `json:"settings"`
	// Predicted is what a model expected of the objective, with the interval that
	// holds it with a probability of 90%; nil for trials without a model. Feasible is
	// the probability that all constraints hold.
	Predicted *float64 `json:"predicted,omitempty"`
	Low       *float64 `json:"low,omitempty"`
	High      *float64 `json:"high,omitempty"`
	Feasible  *float64 `json:"feasible,omitempty"`
}

// Stretch is a time in which a job that is changed while it trains had the same settings.
// Times are in seconds of service.
type Stretch struct {
	Settings []Setting `json:"settings"`
	From     float64   `json:"from_s"`
	To       float64   `json:"to_s"`
	// Units are the epochs (or steps) that it finished in it, and Pace the median time of
	// one; 0: not known.
	Units int     `json:"units"`
	Pace  float64 `json:"pace_s,omitempty"`
	// Cost is the time that the change before it took, Restart that it was by a new start.
	Cost    float64 `json:"change_s,omitempty"`
	Restart bool    `json:"restart,omitempty"`
	// Ignored names settings that the change before was to bring, and that the program has not
	// taken on: Settings are those that it went on with.
	Ignored string `json:"ignored,omitempty"`
	// Loss and Accuracy are the last ones. Remaining is how long the job was predicted to
	// go on when the stretch began.
	Loss      *float64 `json:"loss,omitempty"`
	Accuracy  *float64 `json:"accuracy,omitempty"`
	Remaining *float64 `json:"remaining_s,omitempty"`
}

// TrialOutcome is what a trial came to. What is not known is nil.
type TrialOutcome struct {
	// Stretches are those of a job that was changed while it trained.
	Stretches []Stretch `json:"stretches,omitempty"`
	// Time is the service time in seconds, Units the epochs or steps that were done.
	Time  float64 `json:"time_s"`
	Units int     `json:"units,omitempty"`
	// Loss and Accuracy are the last that were reported, Cost is in dollars, or in
	// what a table has it.
	Loss     *float64 `json:"loss,omitempty"`
	Accuracy *float64 `json:"accuracy,omitempty"`
	Cost     *float64 `json:"cost,omitempty"`
	// Reached is after how many seconds of service the target was reached.
	Reached *float64 `json:"reached_s,omitempty"`
	// Crashed says why the trial has no outcome; empty for one that has.
	Crashed string `json:"crashed,omitempty"`
}

// Objective is something that tunings seek.
type Objective struct {
	Name, Unit string
	// Higher reports that more is better.
	Higher bool
	// Target is the outcome ("loss", "accuracy") that has to reach a target; empty
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
	{Name: "time_to_accuracy", Unit: "s", Target: "accuracy", Doc: "the time until the accuracy reaches `target`"},
	{Name: "time_to_loss", Unit: "s", Target: "loss", Doc: "the time until the loss comes down to `target`"},
}

// FindObjective returns the objective of a name.
func FindObjective(name string) Objective {
	i := slices.IndexFunc(Objectives, func(o Objective) bool { return o.Name == name })
	if i < 0 {
		return Objective{Name: name}
	}
	return Objectives[i]
}

// AllConstraints are those of the tuning, the target of its objective first.
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

// Outcome returns an outcome of a trial by its name; NaN when it is not known.
func (o *TrialOutcome) Outcome(name string) float64 {
	var v *float64
	switch name {
	case "time":
		return o.Time
	case "loss":
		v = o.Loss
	case "accuracy":
		v = o.Accuracy
	case "cost":
		v = o.Cost
	}
	if v == nil {
		return math.NaN()
	}
	return *v
}

// Value is the tuning's objective of a trial; NaN when it is not known. Of a
// trial that did not reach its target it is the whole time.
func (t *Tuning) Value(o *TrialOutcome) float64 {
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
		return o.Time
	}
	return o.Outcome(t.Objective)
}

// Feasible reports whether a trial has an objective and keeps all constraints.
func (t *Tuning) Feasible(o *TrialOutcome) bool {
	if o.Crashed != "" || math.IsNaN(t.Value(o)) {
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

// Counts reports whether a trial with these settings counts: its contexts are the
// goals.
func (t *Tuning) Counts(settings []Setting) bool {
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

// Reach returns the outcome of a trial of which only the end is known: it has
// reached its target if it ends there.
func (t *Tuning) Reach(o *TrialOutcome) *TrialOutcome {
	if t.Target == nil || o.Crashed != "" || o.Reached != nil {
		return o
	}
	c := t.AllConstraints()[0]
	if v := o.Outcome(c.Outcome); c.Min != nil && v >= *c.Min || c.Max != nil && v <= *c.Max {
		reached := *o
		reached.Reached = &o.Time
		return &reached
	}
	return o
}

// Better reports whether one value of the objective is better than another.
func (t *Tuning) Better(a, b float64) bool {
	if FindObjective(t.Objective).Higher {
		return a > b
	}
	return a < b
}

// Regret is how far a value is behind the best, as a part of the best.
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

// TrialRow is a row of trials.csv. What is not known is NaN, an empty field.
type TrialRow struct {
	Tuning    string `csv:"tuning"`
	Method    string `csv:"method"`
	Hardware  string `csv:"hardware"`
	Axes      string `csv:"axes"`
	Replicate int    `csv:"replicate"`
	Trial     int    `csv:"trial"`
	// State is done, infeasible, crashed, imported or partial.
	State string `csv:"state"`
	// Settings are as text "workers=8 type=t2.small".
	Settings string  `csv:"settings"`
	Time     float64 `csv:"time_s"`
	Loss     float64 `csv:"loss"`
	Accuracy float64 `csv:"accuracy"`
	Cost     float64 `csv:"cost"`
	// Objective is the value of what is sought, Best the best feasible one so far.
	Objective float64 `csv:"objective"`
	Best      float64 `csv:"best"`
	// RegretPct is by how much Best is behind the best there is, in percent.
	RegretPct float64 `csv:"regret_pct"`
	// Predicted, Low, High and Feasible are what a model expected.
	Predicted float64 `csv:"predicted"`
	Low       float64 `csv:"low"`
	High      float64 `csv:"high"`
	Feasible  float64 `csv:"feasible"`
	// SpentTime and SpentCost add up all trials so far.
	SpentTime float64 `csv:"spent_s"`
	SpentCost float64 `csv:"spent_cost"`
	// Epoch is the time of an epoch (or step), at the median of a stretch; Change is what
	// the change before a stretch cost. Remaining is how long the job was predicted to go on
	// when it began, and ActualRemaining how long it did.
	Epoch           float64 `csv:"epoch_s"`
	Change          float64 `csv:"change_s"`
	Remaining       float64 `csv:"remaining_s"`
	ActualRemaining float64 `csv:"actual_remaining_s"`
	Cell            string  `csv:"cell"`
	Reason          string  `csv:"reason"`
}

// The states of a trial.
const (
	TrialDone       = "done"
	TrialInfeasible = "infeasible"
	TrialCrashed    = "crashed"
	TrialImported   = "imported"
	// TrialStretch is a stretch of a job that is changed while it trains: the rows before
	// that of the job.
	TrialStretch = "stretch"
	// TrialPartial is a trial in a context in which it does not count.
	TrialPartial = "partial"
)

// TuningRow is a row of tunings.csv: what a method came to over its replicates.
type TuningRow struct {
	Tuning   string `csv:"tuning"`
	Method   string `csv:"method"`
	Hardware string `csv:"hardware"`
	Axes     string `csv:"axes"`
	// Runs are its replicates, Trials those of all of them.
	Runs    int `csv:"runs"`
	Trials  int `csv:"trials"`
	Crashed int `csv:"crashed"`
	// Reached counts the runs that came within 10% of the best, Median the trials
	// that it took at the median, Low and High bound the median with a confidence of
	// 95%. A run that did not come there counts as one that takes for ever.
	Reached int     `csv:"reached"`
	Median  float64 `csv:"trials_to_10pct"`
	Low     float64 `csv:"trials_low"`
	High    float64 `csv:"trials_high"`
	// Best is the best value there is, or that any trial found; Found what the runs
	// found at the median, RegretPct how far that is behind.
	Best      float64 `csv:"best"`
	Found     float64 `csv:"found"`
	RegretPct float64 `csv:"regret_pct"`
	// SpentTime and SpentCost are of a whole run, at the mean; CostToBest what had been
	// spent within 10% of the best, at the median over the runs that came there.
	SpentTime  float64 `csv:"spent_s"`
	SpentCost  float64 `csv:"spent_cost"`
	CostToBest float64 `csv:"cost_to_10pct"`
	// PredictedRank is the rank of the setting that a model of a run's trials predicts to
	// be the best, among all that were tried, at the median over the runs.
	PredictedRank float64 `csv:"rank_of_predicted_best"`
	// ToFixed is what a job that was tuned while it trained came to, tuning included, against
	// the best settings that did not change, below 1 where it is better, with an interval
	// of 95%; NaN for other tunings.
	ToFixed     float64 `csv:"to_best_fixed"`
	ToFixedLow  float64 `csv:"to_best_fixed_low"`
	ToFixedHigh float64 `csv:"to_best_fixed_high"`
}

// The tables of tunings.
var (
	Trials  = tell.Register[TrialRow]("trials.csv", nil)
	Tunings = tell.Register[TuningRow]("tunings.csv", nil)
)

// Number is the text form of a number.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
