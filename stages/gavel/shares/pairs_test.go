package shares

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// packable returns random jobs and pairs on several device types.
func packable(chance *Chance) *Problem {
	p := &Problem{}
	for range 1 + chance.Below(3) {
		p.Types = append(p.Types, Devices{Count: float64(1 + chance.Below(3)), Price: 1})
	}
	for i := range 2 + chance.Below(4) {
		j := Job{Number: int32(i), Weight: float64(1 + chance.Below(3)), Left: 1}
		for range p.Types {
			j.Workers = append(j.Workers, 1)
			j.Speed = append(j.Speed, float64(1+chance.Below(40))/7)
		}
		p.Jobs = append(p.Jobs, j)
	}
	for b := range p.Jobs {
		for a := range b {
			if chance.Below(4) == 0 {
				continue
			}
			pair := Pair{First: a, Second: b}
			for n, i := range []int{a, b} {
				for _, s := range p.Jobs[i].Speed {
					pair.Speed[n] = append(pair.Speed[n], s*float64(2+chance.Below(9))/10)
				}
			}
			p.Pairs = append(p.Pairs, pair)
		}
	}
	return p
}

// least returns the value z of a division with pairs.
func (p *Problem) least(d Division) float64 {
	z := math.Inf(1)
	for i := range p.Jobs {
		speed := p.Jobs[i].throughput(d[i])
		for k := range p.Pairs {
			for n, job := range []int{p.Pairs[k].First, p.Pairs[k].Second} {
				for t, x := range d[len(p.Jobs)+k] {
					if job == i {
						speed += x * p.Pairs[k].Speed[n][t]
					}
				}
			}
		}
		z = min(z, speed/p.fairNeed(&p.Jobs[i]))
	}
	return z
}

// simplex solves packedMaxMin by gonum's dense simplex, with all pairs, including those that gain nothing.
func (p *Problem) simplex() (float64, error) {
	types, m := len(p.Types), len(p.Jobs)
	teams := p.teams()
	n, rows := len(teams)*types+1, types+2*m
	a, b, c := mat.NewDense(rows, n+rows, nil), make([]float64, rows), make([]float64, n+rows)
	c[n-1] = -1
	for t := range types {
		b[t] = p.Types[t].Count
	}
	for i := range p.Jobs {
		b[types+i] = 1
		a.Set(types+m+i, n-1, p.fairNeed(&p.Jobs[i]))
	}
	for k, team := range teams {
		for t := range types {
			a.Set(t, k*types+t, team.workers(p, t))
			for who, i := range team.jobs {
				speed := p.Jobs[i].Speed[t]
				if team.pair != nil {
					speed = team.pair.Speed[who][t]
				}
				a.Set(types+i, k*types+t, 1)
				a.Set(types+m+i, k*types+t, -speed)
			}
		}
	}
	basis := make([]int, rows)
	for r := range rows {
		a.Set(r, n+r, 1)
		basis[r] = n + r
	}
	z, _, err := lp.Simplex(c, a, b, 1e-10, basis)
	return -z, err
}

func TestPackedMaxMinIsThatOfTheSimplex(t *testing.T) {
	chance := NewChance(11)
	compared := 0
	for range 150 {
		p := packable(chance)
		d, err := p.packedMaxMin()
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.simplex()
		if err != nil {
			continue // gonum's simplex fails for some problems
		}
		compared++
		if z := p.least(d); math.Abs(z-want) > 1e-6*want {
			t.Errorf("%d jobs, %d pairs: the least is %.9g, the simplex has %.9g", len(p.Jobs), len(p.Pairs), z, want)
		}
	}
	if compared < 75 {
		t.Errorf("only %d of 150 were compared", compared)
	}
}

// Two jobs keep 0.8 of their speed next to each other, and a third one 0.3. On one device, the pair runs when the third
// job does not: 0.8 y = 1 - y.
func TestPairsThatGain(t *testing.T) {
	job := func(i int32) Job { return Job{Number: i, Workers: []float64{1}, Speed: []float64{2}, Weight: 1} }
	p := &Problem{Types: []Devices{{Count: 1}}, Jobs: []Job{job(0), job(1), job(2)}, Pairs: []Pair{
		{First: 0, Second: 1, Speed: [2][]float64{{1.6}, {1.6}}},
		{First: 0, Second: 2, Speed: [2][]float64{{0.6}, {0.6}}},
		{First: 1, Second: 2, Speed: [2][]float64{{0.6}, {0.6}}},
	}}
	d := divided(t, "max_min", p)
	for k, want := range []float64{0, 0, 4.0 / 9, 5.0 / 9, 0, 0} {
		near(t, "the time of a team", d[k][0], want)
	}
}

// A pair and a single job run in turns on one device; no job is picked twice in a round.
func TestMechanismPicksPairs(t *testing.T) {
	p := &Problem{Types: []Devices{{Name: "gpu", Count: 1}}}
	for i := range 3 {
		p.Jobs = append(p.Jobs, Job{Number: int32(i), Workers: []float64{1}, Speed: []float64{1}})
	}
	p.Pairs = []Pair{{First: 0, Second: 1, Speed: [2][]float64{{0.8}, {0.8}}}}
	m := Mechanism{Round: 10}
	m.Divided(p, Division{{0}, {0}, {1.0 / 3}, {2.0 / 3}}, 0)
	ran := map[Team]int{}
	for range 9 {
		picks := m.Pick(p, []int{0}, nil)
		if len(picks) != 1 {
			t.Fatalf("%v were picked for one device", picks)
		}
		ran[picks[0].Team]++
		m.Ran(picks[0].Team, 0, 10)
	}
	if ran[Team{0, 1}] != 6 || ran[Alone(2)] != 3 {
		t.Errorf("the teams ran %v rounds, want 6 of the pair and 3 of the third", ran)
	}
	m.Ended(1)
	if len(m.accounts) != 2 {
		t.Errorf("after the end of a job of the pair there are the accounts of %d teams", len(m.accounts))
	}
}

func BenchmarkPackedMaxMin100(b *testing.B) {
	chance := NewChance(5)
	p := &Problem{Types: []Devices{{Count: 12}, {Count: 12}, {Count: 12}}}
	for i := range 100 {
		j := Job{Number: int32(i), Weight: 1, Workers: []float64{1, 1, 1}}
		for range p.Types {
			j.Speed = append(j.Speed, float64(1+chance.Below(40))/7)
		}
		for a := range p.Jobs {
			pair := Pair{First: a, Second: i}
			for n, other := range []Job{p.Jobs[a], j} {
				for _, s := range other.Speed {
					pair.Speed[n] = append(pair.Speed[n], s*float64(2+chance.Below(9))/10)
				}
			}
			p.Pairs = append(p.Pairs, pair)
		}
		p.Jobs = append(p.Jobs, j)
	}
	for b.Loop() {
		if _, err := p.packedMaxMin(); err != nil {
			b.Fatal(err)
		}
	}
}
