package division

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/tfexp/tfexp/scheduler/lp"
)

// Configuration is a number of GPUs of one type. Cost is its part of the objective if a job has it.
type Configuration struct {
	Type, GPUs int
	Cost       float64
}

// Nothing means that a job has no GPUs.
const Nothing = -1

// Choose gives each job one of its configurations, or none. It minimizes the sum of the configurations' costs, plus
// `without` for each job that gets none; no type's GPUs may be exceeded. gpus has the number of GPUs by type. It
// returns the index of each job's configuration, or Nothing, and the sum. The optimum is exact, up to rounding.
//
// Jobs depend on each other only by the GPUs of each type. The linear program drops the condition that a job has one
// whole configuration. At its prices, each configuration has an excess cost over the cheapest one of its job. The gap
// between a choice and the bound is the sum of excesses plus the price of the free GPUs. Jobs are decided one after the
// other. Of the decisions that take equal numbers of GPUs of each type, only the best is kept (T. L. Morin, R. E.
// Marsten, "Branch-and-bound strategies for dynamic programming", 1976). Decisions whose excess exceeds a width are
// dropped; the width grows until a choice is found. Of identical jobs the first get GPUs, so no more of them are tried
// than there are GPUs.
func Choose(jobs [][]Configuration, gpus []int, without float64) ([]int, float64, error) {
	for j, options := range jobs {
		for _, o := range options {
			if o.Type < 0 || o.Type >= len(gpus) || o.GPUs < 1 || math.IsNaN(o.Cost) || math.IsInf(o.Cost, 0) {
				return nil, 0, fmt.Errorf("division: job %d has the configuration %+v", j, o)
			}
		}
	}
	first := firstAlike(jobs, Total(gpus))
	looked := make([][]Configuration, len(first))
	for i, j := range first {
		looked[i] = jobs[j]
	}
	c, err := newChooser(looked, gpus, without)
	if err != nil {
		return nil, 0, err
	}
	for width := c.first; ; width *= 2 {
		if best, ok := c.within(width); ok {
			chosen := slices.Repeat([]int{Nothing}, len(jobs))
			for i, j := range first {
				chosen[j] = best[i]
			}
			return chosen, c.cost(best) + without*float64(len(jobs)-len(first)), nil
		}
	}
}

// firstAlike returns the indices of jobs, with at most `most` jobs of equal configurations: the first ones.
func firstAlike(jobs [][]Configuration, most int) []int {
	var list []int
	seen := map[string]int{}
	var key []byte
	for j, options := range jobs {
		key = key[:0]
		for _, o := range options {
			key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(o.Type)), uint64(o.GPUs))
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(o.Cost))
		}
		if n := seen[string(key)]; n < most {
			seen[string(key)] = n + 1
			list = append(list, j)
		}
	}
	return list
}

// chooser is a problem that Choose solves.
type chooser struct {
	jobs    [][]Configuration
	gpus    []int
	without float64
	price   []float64
	// excess is the excess cost, by job and configuration. The last entry of a job is for no GPUs.
	excess [][]float64
	// ahead has the greatest number of GPUs that a job and the later ones can take, by job and type.
	ahead [][]int
	first float64 // the first width: the greatest excess that is tried first
	order []int   // order in which jobs are decided: jobs with many possible configurations last
}

func newChooser(jobs [][]Configuration, gpus []int, without float64) (*chooser, error) {
	c := &chooser{jobs: jobs, gpus: gpus, without: without}
	if err := c.prices(); err != nil {
		return nil, err
	}
	c.excesses()
	return c, nil
}

// prices computes the price of each type's GPUs by the linear program. It is 0 for a type with enough GPUs for all
// jobs.
func (c *chooser) prices() error {
	c.price = make([]float64, len(c.gpus))
	var p lp.Problem
	for _, n := range c.gpus {
		p.Limits = append(p.Limits, float64(n))
	}
	for _, options := range c.jobs {
		if len(options) == 0 {
			continue
		}
		b := lp.Block{Rows: []lp.Row{{Most: 1}}}
		for _, o := range options {
			uses := make([]float64, len(c.gpus))
			uses[o.Type] = float64(o.GPUs)
			b.Gain, b.Uses = append(b.Gain, c.without-o.Cost), append(b.Uses, uses)
			b.Rows[0].X = append(b.Rows[0].X, 1)
		}
		p.Blocks = append(p.Blocks, b)
	}
	if len(p.Blocks) == 0 || slices.Max(append([]int{0}, c.gpus...)) == 0 {
		return nil
	}
	s, err := lp.Solve(p)
	if err != nil {
		return fmt.Errorf("division: %w", err)
	}
	for t := range c.price { // prices of at least 0 give a bound, even if they are not the best
		c.price[t] = max(s.Prices[t], 0)
	}
	return nil
}

// excesses computes the excess cost of each configuration at the prices, the order of the jobs, and the first width.
func (c *chooser) excesses() {
	c.excess = make([][]float64, len(c.jobs))
	for j, options := range c.jobs {
		row := make([]float64, len(options)+1)
		for i, o := range options {
			row[i] = o.Cost + c.price[o.Type]*float64(o.GPUs)
		}
		row[len(options)] = c.without
		least := slices.Min(row)
		for i := range row {
			row[i] -= least
		}
		c.excess[j] = row
		c.order = append(c.order, j)
	}
	// Jobs with few configurations within the width are decided first, which keeps the number of states small.
	slices.SortStableFunc(c.order, func(a, b int) int { return len(c.jobs[a]) - len(c.jobs[b]) })
	c.ahead = make([][]int, len(c.order)+1)
	c.ahead[len(c.order)] = make([]int, len(c.gpus))
	for at := len(c.order) - 1; at >= 0; at-- {
		most := make([]int, len(c.gpus))
		for _, o := range c.jobs[c.order[at]] {
			most[o.Type] = max(most[o.Type], o.GPUs)
		}
		for t := range most {
			most[t] += c.ahead[at+1][t]
		}
		c.ahead[at] = most
	}
	c.first = 1e-3 * max(c.without, 1e-9)
}

// state is a decision about the first jobs of the order: the GPUs that they take, by type.
type state struct {
	used   []int
	excess float64
	before int // index of the state of the jobs before
	option int // index of the last job's configuration
}

// within returns the best choice with an excess of at most width; false if no choice has so little.
func (c *chooser) within(width float64) ([]int, bool) {
	layers := [][]state{{{used: make([]int, len(c.gpus))}}}
	for at, j := range c.order {
		var next []state
		index := map[string]int{}
		for before, s := range layers[at] {
			for option, excess := range c.excess[j] {
				excess += s.excess
				if excess > width {
					continue
				}
				used := s.used
				if option < len(c.jobs[j]) {
					o := c.jobs[j][option]
					if used[o.Type]+o.GPUs > c.gpus[o.Type] {
						continue
					}
					used = slices.Clone(used)
					used[o.Type] += o.GPUs
				}
				if excess+c.unused(used, at+1) > width {
					continue
				}
				key := keyOf(used)
				i, ok := index[key]
				switch {
				case !ok:
					index[key] = len(next)
					next = append(next, state{used, excess, before, option})
				case excess < next[i].excess:
					next[i] = state{used, excess, before, option}
				}
			}
		}
		if len(next) == 0 {
			return nil, false
		}
		layers = append(layers, next)
	}
	last := layers[len(layers)-1]
	best := 0
	for i := range last {
		if last[i].excess+c.unused(last[i].used, len(c.order)) < last[best].excess+c.unused(last[best].used, len(c.order)) {
			best = i
		}
	}
	chosen := make([]int, len(c.jobs))
	for at := len(c.order); at > 0; at-- {
		s := layers[at][best]
		j := c.order[at-1]
		if chosen[j] = s.option; s.option == len(c.jobs[j]) {
			chosen[j] = Nothing
		}
		best = s.before
	}
	return chosen, true
}

// unused returns the least price of GPUs that stay free, if the jobs from index `at` of the order on are still
// undecided.
func (c *chooser) unused(used []int, at int) float64 {
	sum := 0.0
	for t, n := range used {
		sum += c.price[t] * float64(max(c.gpus[t]-n-c.ahead[at][t], 0))
	}
	return sum
}

func keyOf(used []int) string {
	b := make([]byte, 0, 4*len(used))
	for _, n := range used {
		b = append(b, byte(n), byte(n>>8), byte(n>>16))
	}
	return string(b)
}

// cost returns the cost of a choice.
func (c *chooser) cost(chosen []int) float64 {
	sum := 0.0
	for j, i := range chosen {
		if i == Nothing {
			sum += c.without
		} else {
			sum += c.jobs[j][i].Cost
		}
	}
	return sum
}
