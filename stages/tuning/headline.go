package tuning

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/tuning/trial"
)

// found is a trial that counts, with its value of the objective. Its settings are the last settings of the trial. Began
// has the first settings, if a controller has changed them.
type found struct {
	replicate int
	trial.Ref
	Began    []record.Setting
	outcome  *trial.Outcome
	value    float64 // NaN if it is unknown
	state    string
	feasible bool
	missed   float64 // the distance of the trial from its first constraint, if the trial is infeasible
}

// behind lists the states of trials, from the best state to the worst.
var behind = []string{trial.TrialDone, trial.TrialInfeasible, trial.TrialUnreached, trial.TrialDiverged, trial.TrialCrashed}

// findings returns the trials of all searches among the same settings, the best first: by state, as in behind. Feasible
// trials are in the order of their objectives, infeasible ones in the order of their distances from the first
// constraint.
func findings(e *record.Experiment, t *trial.Tuning) (list []found) {
	for _, c := range trial.Cells(e) {
		if c.Outcome == nil || !t.Same(&trial.Asked.Of(&e.Plan)[c.Trial.Tuning]) || !t.Counts(c.Trial.Settings) {
			continue
		}
		f := found{replicate: c.Replicate, Ref: *c.Trial, outcome: c.Outcome, value: math.NaN(), missed: math.Inf(1)}
		if s := c.Outcome.Stretches; len(s) > 0 && !slices.Equal(s[len(s)-1].Settings, f.Settings) {
			f.Began, f.Settings = f.Settings, s[len(s)-1].Settings
		}
		if f.state = t.State(c.Outcome); c.Outcome.Crashed == "" && !c.Outcome.Diverged {
			f.value, f.feasible = t.Value(c.Outcome), t.Feasible(c.Outcome)
			if all := t.AllConstraints(); len(all) > 0 && !f.feasible {
				f.missed = missedBy(all[0], c.Outcome)
				if t.IsTarget(all[0]) && c.Outcome.Reached != nil {
					f.missed = 0
				}
			}
		}
		list = append(list, f)
	}
	slices.SortStableFunc(list, func(a, b found) int {
		switch {
		case a.state != b.state:
			return cmp.Compare(slices.Index(behind, a.state), slices.Index(behind, b.state))
		case !a.feasible:
			return cmp.Compare(a.missed, b.missed)
		case t.Better(a.value, b.value):
			return -1
		case t.Better(b.value, a.value):
			return 1
		}
		return 0
	})
	return list
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// missedBy returns the distance of an outcome from a bound: 0 if it keeps the bound, +Inf if the outcome is unknown.
func missedBy(c trial.Constraint, o *trial.Outcome) float64 {
	v := o.Outcome(c.Outcome)
	switch {
	case math.IsNaN(v):
		return math.Inf(1)
	case c.Min != nil && v < *c.Min:
		return *c.Min - v
	case c.Max != nil && v > *c.Max:
		return v - *c.Max
	}
	return 0
}

// objectiveOf returns a value of the objective as text with its unit, such as "time 14.7 s" or "a loss of 0.5 after 0.6
// s".
func objectiveOf(t *trial.Tuning, v float64) string {
	value := t.Text(v)
	if aim := t.Aim(); aim != nil {
		return fmt.Sprintf("%s of %s after %s", article(aim.Outcome), table.Number(*t.Target), value)
	}
	return strings.ReplaceAll(t.Objective, "_", " ") + " " + value
}

// article returns an outcome's name with its article: "a loss", "an accuracy".
func article(outcome string) string {
	if strings.HasPrefix(outcome, "a") {
		return "an " + outcome
	}
	return "a " + outcome
}

// targetNote returns a sentence about the report at which a target counts as reached; "" without a target.
func targetNote(t *trial.Tuning) string {
	aim := t.Aim()
	if aim == nil {
		return ""
	}
	side := "less"
	if aim.Min != nil {
		side = "more"
	}
	return fmt.Sprintf("The %s is the service time at the first report of %s of %s or %s; trials without one come last.",
		strings.ReplaceAll(t.Objective, "_", " "), article(aim.Outcome), table.Number(*t.Target), side)
}

// headline answers the question of a tuning: which settings are the best, and how many trials found them. If several
// methods search the same settings, compared has the sentence that compares the methods.
func headline(e *record.Experiment, rows []TuningRow, compared []string) (h table.Headline) {
	tunings := trial.Asked.Of(&e.Plan)
	if len(tunings) == 0 || len(rows) == 0 {
		return h
	}
	t := &tunings[0]
	list := findings(e, t)
	if len(list) == 0 {
		return h
	}
	best := list[0]
	settings := listed(best.Settings)
	switch {
	case best.state == trial.TrialCrashed || best.state == trial.TrialDiverged:
		h.Sentence = fmt.Sprintf("No trial of %s succeeded: %s.", t.Name, lost(list))
		return h
	case !best.feasible:
		h.Sentence = fmt.Sprintf("No trial of %s %s; %s.", t.Name, unsatisfied(e, rows[0]), closest(t, best.outcome, settings))
	default:
		h.Sentence = fmt.Sprintf("The best settings found for %s are %s: %s", t.Name, settings,
			objectiveOf(t, best.value)) + shared(list)
		if best.Began != nil {
			h.Sentence = fmt.Sprintf("The best run of %s ended with %s, and began with %s: %s", t.Name, settings,
				listed(best.Began), objectiveOf(t, best.value))
		}
		if len(tunings) == 1 && t.Mode == "" {
			h.Sentence += soon(rows[0])
		}
		h.Sentence += "."
	}
	if len(compared) > 0 {
		h.Sentence = compared[0] + " " + h.Sentence
	}
	notes := []string{ended(t, rows[0]), targetNote(t), importanceSentence(e, t)}
	if n := inState(list, trial.TrialDiverged); n > 0 {
		notes = append(notes, fmt.Sprintf("%d of %s diverged: their last loss is NaN or infinite.", n, schema.Plural(len(list), "trial")))
	}
	notes = slices.DeleteFunc(notes, func(text string) bool { return text == "" })
	if len(tunings) > 1 {
		h.Table, h.Note = methodsTable(tunings, rows), strings.Join(notes, " ")
		return h
	}
	h.Table = trialsTable(t, list, mostTrialRows)
	what := "trial"
	if t.Mode != "" {
		what = "run"
	}
	h.Note = fmt.Sprintf("The best of %s%s; all are in %s.", schema.Plural(len(list), what), sizeOf(t, best), Trials.File)
	if severalRuns(list) {
		h.Note = "Settings that ran several times have the outcome of the best run. " + h.Note
	}
	h.Note = strings.Join(append(notes, h.Note), " ")
	return h
}

// sizeOf says at which values of its contexts a search compares its trials: " at images=60000"; "" without contexts.
func sizeOf(t *trial.Tuning, best found) string {
	sizes := schema.Where(best.Settings, func(s record.Setting) bool {
		return slices.ContainsFunc(t.Settings, func(o trial.TunedSetting) bool { return o.Context && o.Name == s.Name })
	})
	if len(sizes) == 0 {
		return ""
	}
	return " at " + listed(sizes)
}

// ended returns a sentence about a search that ended before its last trial, because its budget or its time was spent;
// "" for other searches.
func ended(t *trial.Tuning, r TuningRow) string {
	made := r.Trials / max(r.Runs, 1) // trials of a replicate, at the mean
	switch {
	case made >= t.Trials:
	case t.Budget > 0 && r.SpentCost >= t.Budget:
		return fmt.Sprintf("The budget of %s was spent after %d of %s.", table.WithUnit(t.Budget, trial.MoneyUnit()), made,
			schema.Plural(t.Trials, "trial"))
	case t.LimitSeconds > 0 && r.SpentTime >= t.LimitSeconds:
		return fmt.Sprintf("The time of %s was spent after %d of %s.", table.WithUnit(t.LimitSeconds, "s"), made,
			schema.Plural(t.Trials, "trial"))
	}
	return ""
}

// listed returns settings as text, such as "lr=0.1, batch=8".
func listed(settings []record.Setting) string {
	return strings.ReplaceAll(record.AxesLabel(settings), " ", ", ")
}

// severalRuns reports whether settings were tried in several replicates.
func severalRuns(list []found) bool {
	return slices.ContainsFunc(list, func(f found) bool { return f.replicate > 1 })
}

// shared returns a phrase with the number of other settings that are as good as the best; "" if there is no other.
func shared(list []found) string {
	as := map[string]bool{}
	for _, f := range list {
		if f.feasible && f.value == list[0].value {
			as[record.AxesLabel(f.Settings)] = true
		}
	}
	switch n := len(as) - 1; n {
	case 0:
		return ""
	case 1:
		return ", as with one other setting"
	default:
		return fmt.Sprintf(", as with %d other settings", n)
	}
}

// mostTrialRows is the greatest number of rows in a headline's table of trials.
const mostTrialRows = 8

// inState returns the number of trials in a state.
func inState(list []found, state string) (n int) {
	for _, f := range list {
		if f.state == state {
			n++
		}
	}
	return n
}

// lost returns the reasons why no trial succeeded, such as "2 of 8 diverged and 6 of 8 crashed".
func lost(list []found) string {
	var parts []string
	for _, state := range []string{trial.TrialDiverged, trial.TrialCrashed} {
		if n := inState(list, state); n > 0 {
			parts = append(parts, fmt.Sprintf("%d of %d %s", n, len(list), state))
		}
	}
	return strings.Join(parts, " and ")
}

// closest returns a phrase for a tuning without a feasible trial: the best trial's value for the first constraint, or
// that no trial reported a value.
func closest(t *trial.Tuning, o *trial.Outcome, settings string) string {
	c := trial.Constraint{Outcome: t.Objective} // without constraints, the outcome that is missing is the objective
	if all := t.AllConstraints(); len(all) > 0 {
		c = all[0]
	}
	v := o.Outcome(c.Outcome)
	if math.IsNaN(v) {
		return fmt.Sprintf("no trial reported %s: print it as jobs/README.md says, or add a progress block "+
			"that reads the program's output", article(strings.ReplaceAll(c.Outcome, "_", " ")))
	}
	return fmt.Sprintf("the nearest trial had %s %s with %s", c.Outcome, table.Number(v), settings)
}

// soon returns a phrase with the number of trials until one was within 10% of the best.
func soon(r TuningRow) string {
	switch {
	case math.IsNaN(r.Median):
		return ""
	case r.Runs == 1:
		return fmt.Sprintf("; trial %s of %d was the first within 10%% of it", table.Number(r.Median), r.Trials)
	}
	return fmt.Sprintf("; a search came within 10%% of it after %s, at the median of %d searches", trialsOf(r), r.Runs)
}

// trialsTable returns a table of at most `most` trials, with their settings and outcomes. Runs of the same settings in
// several replicates are one row, with the outcome of the best run.
func trialsTable(t *trial.Tuning, all []found, most int) table.Table {
	several, runs := severalRuns(all), map[string]int{}
	var list []found
	for _, f := range all {
		label := record.AxesLabel(f.Settings)
		if runs[label]++; !several || runs[label] == 1 {
			list = append(list, f)
		}
	}
	list = list[:min(len(list), most)]
	unit := trial.FindObjective(t.Objective).Unit
	var values, times []float64
	for _, f := range list {
		values, times = append(values, f.value), append(times, f.outcome.Time)
	}
	u, clock := table.UnitFor(unit, values...), table.UnitFor("s", times...)
	titles := []string{"trial"}
	if several {
		titles[0] = "runs"
	}
	for _, s := range t.Settings {
		titles = append(titles, s.Name)
	}
	titles = append(titles, "state")
	view := table.New(len(titles), append(titles, u.Label(strings.ReplaceAll(t.Objective, "_", " ")))...)
	others := slices.DeleteFunc([]string{"loss", "accuracy", "cost", "time"}, func(name string) bool {
		return name == t.Objective || !slices.ContainsFunc(list, func(f found) bool {
			return !math.IsNaN(f.outcome.Outcome(name))
		})
	})
	for _, name := range others {
		switch unit := trial.MoneyUnit(); {
		case name == "time":
			name = clock.Label(name)
		case name == "cost" && unit != "":
			name += " (" + unit + ")"
		}
		view.Columns = append(view.Columns, table.Column{Name: name, Kind: table.AsNumber})
	}
	for _, f := range list {
		row := []string{fmt.Sprint(f.Number)}
		if several {
			row[0] = fmt.Sprint(runs[record.AxesLabel(f.Settings)])
		}
		for _, s := range t.Settings {
			i := slices.IndexFunc(f.Settings, func(o record.Setting) bool { return o.Name == s.Name })
			value := ""
			if i >= 0 {
				value = f.Settings[i].Value
			}
			row = append(row, value)
		}
		row = append(row, f.state, u.Number(f.value))
		for _, name := range others {
			if name == "time" {
				row = append(row, clock.Number(f.outcome.Time))
			} else {
				row = append(row, table.Number(f.outcome.Outcome(name)))
			}
		}
		view.Add(row...)
	}
	return view
}

// methodsTable compares several searches, in the order of the number of trials that they needed, the fewest first.
func methodsTable(tunings []trial.Tuning, rows []TuningRow) table.Table {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b TuningRow) int {
		x, y := a.Median, b.Median
		if math.IsNaN(x) != math.IsNaN(y) {
			return boolean(math.IsNaN(x)) - boolean(math.IsNaN(y))
		}
		return cmp.Compare(x, y)
	})
	t := table.New(1, "search", "trials to within 10%", "runs that reached it", "found", "behind the best")
	for _, r := range rows[:min(len(rows), mostTrialRows)] {
		found := significant(r.Found)
		if i := slices.IndexFunc(tunings, func(o trial.Tuning) bool { return o.Name == r.Tuning }); i >= 0 {
			found = strings.ReplaceAll(tunings[i].Objective, "_", " ") + " " + tunings[i].Text(r.Found)
		}
		t.Add(tuningLabel(r, rows), trialsTo(r), fmt.Sprintf("%d of %d", r.Reached, r.Runs), found,
			behindBest(r))
	}
	return t
}

// importance is the part of the predictions' variation that one setting causes, from 0 to 1. The predictions are from a
// model of the trials.
type importance struct {
	name string
	part float64
}

// drawn is the number of points at which predictions are compared to measure the importance of settings.
const drawn = 512

// importances returns the importance of each setting, the greatest first; none if there are fewer than two trials for
// each setting. It is the change of a Gaussian process's predictions when one setting is permuted among the points of a
// Latin hypercube. The formula is the estimator of total effects of M. Jansen, "Analysis of variance designs for model
// output" (Computer Physics Communications 117, 1999), divided by the sum over the settings.
func importances(e *record.Experiment, t *trial.Tuning) (list []importance) {
	for i := range trial.Asked.Of(&e.Plan) {
		if !t.Same(&trial.Asked.Of(&e.Plan)[i]) {
			continue
		}
		l, err := read(e, i)
		if err != nil || l == nil || len(l.at) < 2*l.space.Settings() {
			continue
		}
		r := rand.New(rand.NewPCG(uint64(e.Plan.Seed), uint64(i)))
		points := l.space.LatinHypercube(drawn, r)
		for k := range points {
			points[k] = l.space.ToGoal(points[k])
		}
		mean, _ := l.process.Predict(points)
		sum := 0.0
		for d, s := range l.space {
			if s.Context {
				continue
			}
			changed, order := make([][]float64, len(points)), r.Perm(len(points))
			for k := range points {
				changed[k] = slices.Clone(points[k])
				changed[k][d] = points[order[k]][d]
			}
			other, _ := l.process.Predict(changed)
			effect := 0.0
			for k := range mean {
				effect += (mean[k] - other[k]) * (mean[k] - other[k])
			}
			list, sum = append(list, importance{s.Name, effect}), sum+effect
		}
		if sum == 0 {
			return nil
		}
		for k := range list {
			list[k].part /= sum
		}
		slices.SortStableFunc(list, func(a, b importance) int { return cmp.Compare(b.part, a.part) })
		return list
	}
	return nil
}

// importanceSentence names the most important settings: "Settings by importance: lr 72%, batch 20%, layers 8%."
func importanceSentence(e *record.Experiment, t *trial.Tuning) string {
	list := importances(e, t)
	if len(list) < 2 {
		return ""
	}
	var parts []string
	for _, x := range list[:min(len(list), mostImportances)] {
		parts = append(parts, x.name+" "+table.Share(x.part))
	}
	return "Settings by importance: " + strings.Join(parts, ", ") + "."
}

// mostImportances is the greatest number of settings that importanceSentence names.
const mostImportances = 4

// importanceTable returns the table of the importance of each setting.
func importanceTable(list []importance) table.Table {
	t := table.New(1, "setting", "importance")
	for _, x := range list {
		t.Add(x.name, table.Share(x.part))
	}
	return t
}
