package search

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/tfexp/tfexp/estimator/surrogate"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/tuning/trial"
	"github.com/tfexp/tfexp/stages/tuning/tuner"
)

// searches are all searches of an experiment, in each replicate. The next trials of a search depend only on its trials
// so far. It implements stages.Search.
type searches struct{ all []*replicate }

// replicate is a search in one replicate of the experiment.
type replicate struct {
	*Search
	number  int
	seed    int64
	method  tuner.Method
	problem *tuner.Problem
	trials  []surrogate.Trial
	spent   float64 // seconds of all trials so far
	paid    float64 // cost of all trials so far
	made    int     // number of trials, without imported ones
	waits   []openTrial
	over    bool
}

// openTrial is a trial that has not ended.
type openTrial struct {
	cell string
	at   []float64
}

// Search implements stages.SearchPart. The first search of a file returns all searches of the file; the others return
// nil.
func (t *Search) Search(x stages.Searched) stages.Search {
	if t.Index > 0 {
		return nil
	}
	return newSearches(x)
}

// newSearches returns the searches of an experiment, before their first trials.
func newSearches(x stages.Searched) *searches {
	u := &searches{}
	for _, t := range Of(x.Spec) {
		m, _ := tuner.Find(t.Method) // decoding has checked that the method exists
		for r := 1; r <= x.Replicates; r++ {
			seed := x.Seed(r)
			s := &replicate{Search: t, number: r, seed: seed, method: m, problem: t.Problem(uint64(seed))}
			for _, one := range t.Imported {
				if at, err := trial.Point(&t.Tuning, one.Settings); err == nil {
					s.trials = append(s.trials, trial.ForModel(&t.Tuning, at, one.Outcome.Reach(t.Aim())))
				}
			}
			u.all = append(u.all, s)
		}
	}
	return u
}

// Next implements stages.Search. It returns the cells of the next trials of each search that has not ended. over
// returns the record of a cell, and false if the cell has not ended.
func (u *searches) Next(over func(string) (record.Cell, bool)) (cells []stages.Beyond, err error) {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	next := make([][]tuner.Suggestion, len(u.all))
	for i, s := range u.all {
		if err := s.hear(over); err != nil {
			return nil, err
		}
		if !s.over {
			g.Go(func() (err error) {
				next[i], err = s.suggest()
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for i, s := range u.all {
		for _, one := range next[i] {
			c, err := s.cell(one)
			if err != nil {
				return nil, err
			}
			cells = append(cells, c)
		}
	}
	return cells, nil
}

// Ahead implements stages.Search. It returns the greatest number of trials that may follow.
func (u *searches) Ahead() (n int) {
	for _, s := range u.all {
		if !s.over {
			n += max(0, s.Most()-s.made)
		}
	}
	return n
}

// hear records the outcomes of the trials that were started last.
func (s *replicate) hear(over func(string) (record.Cell, bool)) error {
	for _, w := range s.waits {
		c, ok := over(w.cell)
		o := record.FeatureValueOf[trial.Outcome](c.Outcome)
		if !ok || o == nil {
			return fmt.Errorf("trial %s ended without an outcome", w.cell)
		}
		s.spent += o.Time
		switch {
		case o.Cost != nil:
			s.paid += *o.Cost
		case s.Budget > 0 && o.Crashed == "":
			return fmt.Errorf("tune %s: the budget is %v, but the cost of trial %s is unknown: its servers have no "+
				"price, and no table gives its cost", s.Name, s.Budget, w.cell)
		}
		s.trials = append(s.trials, trial.ForModel(&s.Tuning, w.at, o))
	}
	s.waits = nil
	if s.made >= s.Most() || s.LimitSeconds > 0 && s.spent >= s.LimitSeconds || s.Budget > 0 && s.paid >= s.Budget {
		s.over = true
	}
	return nil
}

// suggest asks the method for as many trials as run at the same time. To the method, earlier suggestions of this call
// are running trials.
func (s *replicate) suggest() ([]tuner.Suggestion, error) {
	if s.Mode != "" { // there is one job, and its controller tries other settings
		return []tuner.Suggestion{{At: s.problem.Initial}}, nil
	}
	var list []tuner.Suggestion
	trials := s.trials[:len(s.trials):len(s.trials)]
	for range min(max(s.Parallel, 1), s.Most()-s.made) {
		next, err := s.method.Suggest(s.problem, trials)
		if errors.Is(err, tuner.ErrDone) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("tune %s: %w", s.Name, err)
		}
		list = append(list, next)
		trials = append(trials, surrogate.Trial{At: next.At, State: surrogate.Running})
	}
	s.over = len(list) == 0
	return list, nil
}

// cell makes the cell of a suggested trial.
func (s *replicate) cell(next tuner.Suggestion) (stages.Beyond, error) {
	s.made++
	ref := trial.Ref{Tuning: s.Index, Number: s.made}
	if next.Modelled {
		ref.Feasible = &next.Feasible
		ref.Predicted = s.natural(next, 0)
		ref.Low, ref.High = s.natural(next, -z90), s.natural(next, z90)
		if ref.Low != nil && ref.High != nil && *ref.Low > *ref.High {
			ref.Low, ref.High = ref.High, ref.Low
		}
	}
	c, err := s.Trial(s.number, s.seed, s.ValuesAt(next.At), ref)
	if err != nil {
		return c, fmt.Errorf("tune %s: trial %d: %w", s.Name, s.made, err)
	}
	s.waits = append(s.waits, openTrial{c.Name, next.At})
	return c, nil
}

// Trial returns the cell of a trial in a replicate with the given seed. values are the settings' values, in the order
// of the tuning's settings. The error says why these settings are impossible.
func (t *Search) Trial(replicate int, seed int64, values []string, ref trial.Ref) (stages.Beyond, error) {
	at, err := t.At(values)
	if err != nil {
		return stages.Beyond{}, err
	}
	named := at
	named.Axes = t.Axes
	ref.Settings = at.Axes
	name := fmt.Sprintf("%s-r%d-%s%d", named.Name(), replicate, cmp.Or(t.Mode, "trial"), ref.Number)
	at.Parts = append(at.Parts, &cell{search: t, point: at, ref: ref, seed: seed})
	return stages.Beyond{Name: name, Replicate: replicate, Point: at, Axes: t.Axes, Kept: record.NewFeatureValue(&ref)}, nil
}

// z90 is half the width of the 90% interval of a normal distribution, in standard deviations.
const z90 = 1.6448536269514722

// natural returns the model's mean plus a number of standard deviations, in the unit of the objective; nil if it is out
// of range.
func (s *replicate) natural(next tuner.Suggestion, deviations float64) *float64 {
	v := trial.Natural(&s.Tuning, next.Scale.Natural(next.Mean+deviations*next.SD))
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}
