package shares

import (
	"slices"

	"github.com/tfexp/tfexp/scheduler/lp"
)

// Pair is two jobs that can run on the same devices at the same time.
type Pair struct {
	// First and Second are indices into Problem.Jobs, in ascending order.
	First, Second int
	// Speed has the speeds of both jobs on each type while they share devices, in units of work per second. Both are 0
	// if they cannot share.
	Speed [2][]float64
}

// Team is one job, or a pair of jobs that share devices. Jobs are given by number.
type Team struct{ First, Second int32 }

// Nobody is the second job of a team of one.
const Nobody = int32(-1)

// Alone returns the team of one job.
func Alone(job int32) Team { return Team{job, Nobody} }

// Has reports whether a job belongs to the team.
func (t Team) Has(job int32) bool { return t.First == job || t.Second == job }

// Jobs returns the jobs of the team.
func (t Team) Jobs() []int32 {
	if t.Second == Nobody {
		return []int32{t.First}
	}
	return []int32{t.First, t.Second}
}

// lineup is a team in a problem.
type lineup struct {
	Team
	at   int // its index in divisions
	jobs []int
	pair *Pair // nil for a team of one job
}

// runs reports whether the team makes progress on a type.
func (l *lineup) runs(p *Problem, t int) bool {
	if l.pair == nil {
		return p.Jobs[l.jobs[0]].Speed[t] > 0
	}
	return l.pair.Speed[0][t] > 0 && l.pair.Speed[1][t] > 0
}

// workers returns the number of devices that the team holds on a type.
func (l *lineup) workers(p *Problem, t int) float64 { return p.Jobs[l.jobs[0]].Workers[t] }

// teams returns the teams of a problem: each job, followed by its pairs with earlier jobs.
func (p *Problem) teams() []lineup {
	list := make([]lineup, 0, len(p.Jobs)+len(p.Pairs))
	ends := make([][]int, len(p.Jobs)) // pairs by their second job
	for k := range p.Pairs {
		ends[p.Pairs[k].Second] = append(ends[p.Pairs[k].Second], k)
	}
	for i := range p.Jobs {
		list = append(list, lineup{Team: Alone(p.Jobs[i].Number), at: i, jobs: []int{i}})
		for _, k := range ends[i] {
			pair := &p.Pairs[k]
			list = append(list, lineup{
				Team: Team{p.Jobs[pair.First].Number, p.Jobs[i].Number}, at: len(p.Jobs) + k,
				jobs: []int{pair.First, i}, pair: pair,
			})
		}
	}
	return list
}

// gains reports whether a pair does more work on devices of a type than its jobs would in turns. Only then can a
// division with the pair be better.
func (p *Problem) gains(pair *Pair, t int) bool {
	a, b := p.Jobs[pair.First].Speed[t], p.Jobs[pair.Second].Speed[t]
	return a > 0 && b > 0 && pair.Speed[0][t]/a+pair.Speed[1][t]/b > 1
}

// packedMaxMin is max_min where two jobs may share devices: over jobs and pairs k, with the time
// x_kj on type j,
//
//	max z  with  Σ_{k∋i} Σ_j T_ikj x_kj ≥ z·need_i,  Σ_{k∋i} Σ_j x_kj ≤ 1,  Σ_k s_k x_kj ≤ N_j,  x ≥ 0
//
// for the speed T_ikj of job i in k. The time of a job or pair on a type is a block of the program;
// limits couple the blocks: the devices of each type, the time of each job, and its speed.
func (p *Problem) packedMaxMin() (Division, error) {
	types, m := len(p.Types), len(p.Jobs)
	program := lp.Problem{Gain: 1, Limits: make([]float64, types+2*m), Uses: make([]float64, types+2*m)}
	for t := range types {
		program.Limits[t] = p.Types[t].Count
	}
	for i := range p.Jobs {
		program.Limits[types+i] = 1
		program.Uses[types+m+i] = p.fairNeed(&p.Jobs[i]) / fastest(&p.Jobs[i])
	}
	d := make(Division, m+len(p.Pairs))
	for k := range d {
		d[k] = make([]float64, types)
	}
	teams := p.teams()
	var on [][2]int // team and type of each block
	for k := range teams {
		team := &teams[k]
		for t := range types {
			if team.runs(p, t) && team.workers(p, t) <= p.Types[t].Count && (team.pair == nil || p.gains(team.pair, t)) {
				program.Blocks = append(program.Blocks, team.block(p, t))
				on = append(on, [2]int{k, t})
			}
		}
	}
	s, err := lp.Solve(program)
	if err != nil {
		return nil, err
	}
	for i, at := range on {
		d[teams[at[0]].at][at[1]] = min(max(s.X[i][0], 0), 1)
	}
	return d, nil
}

// block returns the variable of a team's time on a type.
func (l *lineup) block(p *Problem, t int) lp.Block {
	types, m := len(p.Types), len(p.Jobs)
	b := lp.Block{Gain: []float64{0}, Limits: []int32{int32(t)}}
	uses := []float64{l.workers(p, t)}
	for n, i := range l.jobs {
		speed := p.Jobs[i].Speed[t]
		if l.pair != nil {
			speed = l.pair.Speed[n][t]
		}
		b.Limits = append(b.Limits, int32(types+i), int32(types+m+i))
		uses = append(uses, 1, -speed/fastest(&p.Jobs[i]))
	}
	b.Uses = [][]float64{slices.Clip(uses)}
	return b
}
