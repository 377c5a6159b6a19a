package realise

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/tfexp/tfexp/estimator/surrogate"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/tuning"
	"github.com/tfexp/tfexp/scheduler/control/tuner"
)

// Tuners has the searches for settings of an experiment. What a search tries next
// follows from its trials so far alone, so a run that was killed goes on with the
// same.
type Tuners struct{ searches []*search }

// search is one replicate of a tuning.
type search struct {
	x         *Experiment
	tuning    int
	t         *experiments.Tuning
	replicate int
	method    tuner.Method
	problem   *tuner.Problem
	trials    []surrogate.Trial
	spent     float64 // seconds of all trials
	made      int     // trials that are no imported ones
	waits     string  // the cell of the trial that is not over yet
	at        []float64
	over      bool
}

// Tuners are the searches of the experiment, before their first trials.
func (x *Experiment) Tuners() *Tuners {
	all := &Tuners{}
	for i, t := range x.Tunings() {
		m, _ := tuner.Find(t.Method) // the language knows no other
		for r := 1; r <= x.Replicates(); r++ {
			s := &search{x: x, tuning: i, t: t, replicate: r, method: m, problem: t.Problem(uint64(x.ReplicateSeed(r)))}
			for _, one := range t.Imported {
				if at, err := tuning.Point(&t.Tuning, one.Settings); err == nil {
					s.trials = append(s.trials, tuning.Trial(&t.Tuning, at, t.Reach(&one.Outcome)))
				}
			}
			all.searches = append(all.searches, s)
		}
	}
	return all
}

// Next returns the cell of the next trial of each search that is not over. over
// returns what a cell left that finished or failed.
func (u *Tuners) Next(over func(string) (record.Cell, bool)) ([]*Cell, error) {
	var cells []*Cell
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	next := make([]tuner.Suggestion, len(u.searches))
	for i, s := range u.searches {
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
	for i, s := range u.searches {
		if s.over {
			continue
		}
		c, err := s.cell(next[i])
		if err != nil {
			return nil, err
		}
		if c != nil {
			cells = append(cells, c)
		}
	}
	return cells, nil
}

// hear takes in what the last trial came to.
func (s *search) hear(over func(string) (record.Cell, bool)) error {
	if s.waits != "" {
		c, ok := over(s.waits)
		if !ok || c.Outcome == nil {
			return fmt.Errorf("the trial %s left no outcome", s.waits)
		}
		s.spent += c.Outcome.Time
		s.trials = append(s.trials, tuning.Trial(&s.t.Tuning, s.at, c.Outcome))
		s.waits = ""
	}
	if s.made >= s.t.Trials || s.t.LimitSeconds > 0 && s.spent >= s.t.LimitSeconds {
		s.over = true
	}
	return nil
}

// suggest asks the method.
func (s *search) suggest() (tuner.Suggestion, error) {
	next, err := s.method.Suggest(s.problem, s.trials)
	if errors.Is(err, tuner.ErrDone) {
		s.over = true
		return next, nil
	}
	if err != nil {
		return next, fmt.Errorf("tune %s: %w", s.t.Name, err)
	}
	return next, nil
}

// cell makes the cell of a suggestion. Settings that the job refuses count as a
// trial that crashed, without a cell.
func (s *search) cell(next tuner.Suggestion) (*Cell, error) {
	values := s.values(next.At)
	s.made++
	ref := record.TrialRef{Number: s.made}
	if next.Modelled {
		ref.Feasible = &next.Feasible
		ref.Predicted = s.natural(next.Mean)
		ref.Low, ref.High = s.natural(next.Mean-z90*next.SD), s.natural(next.Mean+z90*next.SD)
		if ref.Low != nil && ref.High != nil && *ref.Low > *ref.High {
			ref.Low, ref.High = ref.High, ref.Low
		}
	}
	c, err := s.x.Trial(s.tuning, s.replicate, values, ref)
	if err != nil {
		return nil, fmt.Errorf("tune %s: trial %d: %w", s.t.Name, s.made, err)
	}
	s.waits, s.at = c.Ref.Cell, next.At
	return c, nil
}

// z90 is how many standard deviations hold 90% of a normal distribution.
const z90 = 1.6448536269514722

// natural is a modelled logarithm as a value of the objective; nil for one that
// is out of range.
func (s *search) natural(log float64) *float64 {
	v := tuning.Natural(&s.t.Tuning, math.Exp(log))
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}

// values are the settings at a point: of a recorded job, as its table has them.
func (s *search) values(at []float64) []string {
	for i, c := range s.problem.Candidates {
		if slices.Equal(c, at) {
			return s.t.Candidates[i]
		}
	}
	return tuning.Values(&s.t.Tuning, at)
}
