package pipeline

import (
	"errors"
	"fmt"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/tfexp/tfexp/estimator/surrogate"
	"github.com/tfexp/tfexp/pipeline/realise"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/tuning"
	"github.com/tfexp/tfexp/scheduler/tuner"
	"github.com/tfexp/tfexp/stages/experiment"
)

// searches are the searches of an experiment. The next trials of a search depend
// only on its trials so far, so a killed run resumes with the same trials.
type searches struct{ all []*search }

// search is one replicate of a tuning.
type search struct {
	x         *realise.Experiment
	tuning    int
	t         *experiment.Tuning
	replicate int
	method    tuner.Method
	problem   *tuner.Problem
	trials    []surrogate.Trial
	spent     float64 // seconds of all trials
	made      int     // trials that are no imported ones
	waits     []openTrial
	over      bool
}

// openTrial is a trial that is not over yet.
type openTrial struct {
	cell string
	at   []float64
}

// newSearches returns the searches of an experiment, before their first trials.
func newSearches(x *realise.Experiment) *searches {
	u := &searches{}
	for i, t := range x.Spec.Tunings {
		m, _ := tuner.Find(t.Method) // the language knows no other
		for r := 1; r <= x.Spec.Replicates; r++ {
			s := &search{x: x, tuning: i, t: t, replicate: r, method: m, problem: t.Problem(uint64(x.ReplicateSeed(r)))}
			for _, one := range t.Imported {
				if at, err := tuning.Point(&t.Tuning, one.Settings); err == nil {
					s.trials = append(s.trials, tuning.Trial(&t.Tuning, at, one.Outcome.Reach(t.Aim())))
				}
			}
			u.all = append(u.all, s)
		}
	}
	return u
}

// Next returns the cells of the next trials of each search that is not over. over
// returns the record of a cell that finished or failed.
func (u *searches) Next(over func(string) (record.Cell, bool)) ([]*realise.Cell, error) {
	var cells []*realise.Cell
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

// ahead counts the trials that may follow.
func (u *searches) ahead() (n int) {
	for _, s := range u.all {
		if !s.over {
			n += max(0, s.most()-s.made)
		}
	}
	return n
}

// most is the number of trials that a search makes at most.
func (s *search) most() int {
	if s.t.Mode != "" {
		return 1
	}
	return s.t.Trials
}

// hear takes in the results of the last trials.
func (s *search) hear(over func(string) (record.Cell, bool)) error {
	for _, w := range s.waits {
		c, ok := over(w.cell)
		if !ok || c.Outcome == nil {
			return fmt.Errorf("the trial %s left no outcome", w.cell)
		}
		s.spent += c.Outcome.Time
		s.trials = append(s.trials, tuning.Trial(&s.t.Tuning, w.at, c.Outcome))
	}
	s.waits = nil
	if s.made >= s.most() || s.t.LimitSeconds > 0 && s.spent >= s.t.LimitSeconds {
		s.over = true
	}
	return nil
}

// suggest asks the method for as many trials as run side by side. Those that it has
// suggested already count as running.
func (s *search) suggest() ([]tuner.Suggestion, error) {
	if s.t.Mode != "" { // one job, whose controller tries the others
		return []tuner.Suggestion{{At: s.problem.Initial}}, nil
	}
	var list []tuner.Suggestion
	trials := s.trials[:len(s.trials):len(s.trials)]
	for range min(max(s.t.Parallel, 1), s.t.Trials-s.made) {
		next, err := s.method.Suggest(s.problem, trials)
		if errors.Is(err, tuner.ErrDone) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("tune %s: %w", s.t.Name, err)
		}
		list = append(list, next)
		trials = append(trials, surrogate.Trial{At: next.At, State: surrogate.Running})
	}
	s.over = len(list) == 0
	return list, nil
}

// cell makes the cell of a suggestion.
func (s *search) cell(next tuner.Suggestion) (*realise.Cell, error) {
	s.made++
	ref := record.TrialRef{Number: s.made}
	if next.Modelled {
		ref.Feasible = &next.Feasible
		ref.Predicted = s.natural(next, 0)
		ref.Low, ref.High = s.natural(next, -z90), s.natural(next, z90)
		if ref.Low != nil && ref.High != nil && *ref.Low > *ref.High {
			ref.Low, ref.High = ref.High, ref.Low
		}
	}
	c, err := s.x.Trial(s.tuning, s.replicate, s.t.ValuesAt(next.At), ref)
	if err != nil {
		return nil, fmt.Errorf("tune %s: trial %d: %w", s.t.Name, s.made, err)
	}
	s.waits = append(s.waits, openTrial{c.Ref.Cell, next.At})
	return c, nil
}

// z90 is how many standard deviations hold 90% of a normal distribution.
const z90 = 1.6448536269514722

// natural returns a model's expectation plus the given number of standard
// deviations, as a value of the objective; nil if it is out of range.
func (s *search) natural(next tuner.Suggestion, deviations float64) *float64 {
	v := tuning.Natural(&s.t.Tuning, next.Scale.Natural(next.Mean+deviations*next.SD))
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}
