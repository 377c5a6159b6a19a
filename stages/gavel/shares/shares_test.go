package shares

import (
	"math"
	"slices"
	"testing"
)

// two returns a problem with two device types, with one device each.
func two(jobs ...Job) *Problem {
	p := &Problem{Types: []Devices{{Name: "fast", Count: 1, Price: 3}, {Name: "slow", Count: 1, Price: 1}}}
	for i, j := range jobs {
		j.Number = int32(i)
		if j.Workers == nil {
			j.Workers = []float64{1, 1}
		}
		if j.Weight == 0 {
			j.Weight = 1
		}
		if j.Left == 0 {
			j.Left = 1
		}
		if j.Due == 0 {
			j.Due = math.Inf(1)
		}
		p.Jobs = append(p.Jobs, j)
	}
	return p
}

func divided(t *testing.T, kind string, p *Problem) Division {
	t.Helper()
	d, err := Find(kind).New(Options{}).Divide(p)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-4 {
		t.Errorf("%s is %.6f, want %.6f", what, got, want)
	}
}

// One job is four times as fast on the fast device, the other as fast on both. An even share
// of all devices is worth 2.5 and 1, so each has z times that: the first has x of the fast one, 4x + (1-y)·0,
// and the least ratio is greatest when the first has all of the fast device and the second all of the slow one.
func TestMaxMin(t *testing.T) {
	p := two(Job{Speed: []float64{4, 1}}, Job{Speed: []float64{1, 1}})
	d := divided(t, "max_min", p)
	near(t, "the least ratio", min(p.Jobs[0].throughput(d[0])/2.5, p.Jobs[1].throughput(d[1])/1), 1)
	w := divided(t, "water_filling", p)
	near(t, "the first job's speed after water filling", p.Jobs[0].throughput(w[0]), 4)
	near(t, "the second job's speed after water filling", p.Jobs[1].throughput(w[1]), 1)
}

// Work of 8 and 2: with the first job on the fast device (4 a second) for all of the time the
// makespan is 2 s, and the other needs one of these on the slow one.
func TestMakespanIsExact(t *testing.T) {
	p := two(Job{Speed: []float64{4, 1}, Left: 8}, Job{Speed: []float64{1, 1}, Left: 2})
	d := divided(t, "makespan", p)
	last := 0.0
	for i := range p.Jobs {
		last = max(last, p.Jobs[i].Left/p.Jobs[i].throughput(d[i]))
	}
	near(t, "the makespan", last, 2)
}

// TestMakespanWithinATolerance of the least, with the jobs of TestMakespanIsExact. 1000 times their work takes 2000 s:
// of the bounds 100 and 1,000,000 s the upper one becomes 100 + 999,900/2⁹ = 2052.93, and the lower one 1991.90, within
// 5% of it. Values below 100 s are not searched; work for 2·10⁹ s is found beyond the first bounds.
func TestMakespanWithinATolerance(t *testing.T) {
	for _, c := range []struct{ work, tolerance, least, most float64 }{
		{1000, 0.05, 2000, 2052.93}, {1000, 1e-9, 2000, 2000.001}, {1, 0.05, 2, 105}, {1e9, 0.05, 2e9, 2.1e9},
		{1000, math.SmallestNonzeroFloat64, 2000, 2000.001},
	} {
		p := two(Job{Speed: []float64{4, 1}, Left: 8 * c.work}, Job{Speed: []float64{1, 1}, Left: 2 * c.work})
		d, err := Find("makespan").New(Options{Tolerance: c.tolerance}).Divide(p)
		if err != nil {
			t.Fatal(err)
		}
		last := 0.0
		for i := range p.Jobs {
			last = max(last, p.Jobs[i].Left/p.Jobs[i].throughput(d[i]))
		}
		if last < c.least*(1-1e-5) || last > c.most*(1+1e-5) {
			t.Errorf("%g times the work, within %g: a makespan of %g s, want from %g to %g", c.work, c.tolerance, last, c.least, c.most)
		}
	}
}

// Two equal jobs: an even share of each device gives both the speed 2.5 of the isolated division, and no division gives
// both more.
func TestFinishTimeFairness(t *testing.T) {
	p := two(Job{Speed: []float64{4, 1}, Left: 10}, Job{Speed: []float64{4, 1}, Left: 10})
	d := divided(t, "finish_time_fairness", p)
	near(t, "the speed of the first", p.Jobs[0].throughput(d[0]), 2.5)
	near(t, "the speed of the second", p.Jobs[1].throughput(d[1]), 2.5)
}

// Per dollar, the fast device does 4/3 and 3/3 of the jobs' work, and the slow one 1 and 2. Without deadlines each job
// uses its better device. A job that needs the fast device to meet its deadline gets it.
func TestMinCost(t *testing.T) {
	p := two(Job{Speed: []float64{4, 1}, Left: 8}, Job{Speed: []float64{3, 2}, Left: 9})
	d := divided(t, "min_cost", p)
	near(t, "the part of the fast device that the first has", d[0][0], 1)
	near(t, "the part of the slow device that the second has", d[1][1], 1)
	p.Jobs[1].Due = 3 // it must have the speed 3
	d = divided(t, "min_cost", p)
	near(t, "the speed of the one with a deadline", p.Jobs[1].throughput(d[1]), 3)
	p.Jobs[1].Due = 1 // it cannot meet its deadline
	d = divided(t, "min_cost", p)
	near(t, "the part of the slow device that the second has when it is late", d[1][1], 1)
}

func TestFIFO(t *testing.T) {
	jobs := []Job{{Speed: []float64{2, 1}}, {Speed: []float64{2, 1}}, {Speed: []float64{2, 1}}}
	d := divided(t, "fifo", two(jobs...))
	if d[0][0] != 1 || d[1][1] != 1 || d[2][0] != 0 || d[2][1] != 0 {
		t.Errorf("the division is %v", d)
	}
}

// Of three types with a device each, c, the last by name, takes the first job and is full; one is struck by lot.
//
//	seed 5: 2 strikes c, job 1 has b; 1 strikes b, job 2 has a
//	seed 0: 1 strikes b; a has room, so jobs 1 and 2 have their turn, and are given the last one: c again
//
// With the seed 0, the fourth job has the place of the first, when this one ends.
func TestBlindFIFO(t *testing.T) {
	jobs := func(numbers ...int32) *Problem {
		p := &Problem{Types: []Devices{{Name: "c", Count: 1}, {Name: "a", Count: 1}, {Name: "b", Count: 1}}}
		for _, n := range numbers {
			p.Jobs = append(p.Jobs, Job{Number: n, Speed: []float64{1, 1, 1}, Workers: []float64{1, 1, 1}})
		}
		return p
	}
	types := func(f Divider, p *Problem) (on []string) {
		t.Helper()
		d, err := f.Divide(p)
		if err != nil {
			t.Fatal(err)
		}
		for i := range d {
			on = append(on, p.Types[slices.Index(d[i], 1)].Name)
		}
		return on
	}
	f := Find("fifo").New(Options{Blind: true, Seed: 5})
	if on := types(f, jobs(0, 1, 2)); !slices.Equal(on, []string{"c", "b", "a"}) {
		t.Errorf("with the seed 5 the jobs are on %v", on)
	}
	f = Find("fifo").New(Options{Blind: true, Seed: 0})
	if on := types(f, jobs(0, 1, 2)); !slices.Equal(on, []string{"c", "c", "c"}) {
		t.Errorf("with the seed 0 the jobs are on %v", on)
	}
	if on := types(f, jobs(1, 2, 3)); !slices.Equal(on, []string{"c", "c", "c"}) {
		t.Errorf("after the end of the first the jobs are on %v", on)
	}
}

// drawProblem returns random jobs on three device types.
func drawProblem(chance *Chance) *Problem {
	p := &Problem{Types: []Devices{{Name: "a", Count: 1 + float64(chance.Below(8)), Price: 3},
		{Name: "b", Count: 1 + float64(chance.Below(8)), Price: 1}, {Name: "c", Count: 1 + float64(chance.Below(8)), Price: 0.5}}}
	for i := range 1 + chance.Below(12) {
		j := Job{Number: int32(i), Weight: 1 + float64(chance.Below(3)), Left: 1 + float64(chance.Below(1000)),
			Age: float64(chance.Below(500)), Due: math.Inf(1)}
		if chance.Below(3) == 0 {
			j.Due = float64(10 + chance.Below(1000))
		}
		for range p.Types {
			j.Workers = append(j.Workers, float64(1+chance.Below(2)))
			j.Speed = append(j.Speed, float64(chance.Below(50))/7)
		}
		j.Speed[0] += 0.1
		for t := range p.Types {
			if j.Workers[t] > p.Types[t].Count {
				j.Workers[t] = 1
			}
		}
		p.Jobs = append(p.Jobs, j)
	}
	return p
}

// For random jobs, no kind uses more devices or time than exist.
func TestDivisionsFit(t *testing.T) {
	chance := NewChance(3)
	for range 60 {
		p := drawProblem(chance)
		for _, k := range All() {
			d := divided(t, k.Name, p)
			used := make([]float64, len(p.Types))
			for i, x := range d {
				sum := 0.0
				for ty, v := range x {
					if v < 0 || v > 0 && p.Jobs[i].Speed[ty] == 0 && k.Name != "isolated" {
						t.Errorf("%s: x[%d][%d] = %g", k.Name, i, ty, v)
					}
					sum += v
					used[ty] += v * p.Jobs[i].Workers[ty]
				}
				if sum > 1+1e-6 {
					t.Errorf("%s: job %d runs %g of the time", k.Name, i, sum)
				}
			}
			for ty, u := range used {
				if u > p.Types[ty].Count*(1+1e-6) {
					t.Errorf("%s: %g of %g devices", k.Name, u, p.Types[ty].Count)
				}
			}
		}
	}
}

// The expected values are from Python's random.Random(0).randrange(3) and random.Random(5).shuffle.
func TestChanceIsThatOfPython(t *testing.T) {
	c := NewChance(0)
	for i, want := range []int{1, 1, 0, 1, 2, 1, 1, 1, 1, 1, 2, 0} {
		if got := c.Below(3); got != want {
			t.Errorf("number %d is %d, want %d", i, got, want)
		}
	}
	c = NewChance(5)
	for i, want := range [][]int{{0, 1, 2}, {0, 1, 2}, {1, 0, 2}} {
		list := []int{0, 1, 2}
		if c.Shuffle(list); !slices.Equal(list, want) {
			t.Errorf("order %d is %v, want %v", i, list, want)
		}
	}
}

// Two jobs share a device two to one: of nine rounds, the first job runs in six.
func TestMechanismFollowsTheDivision(t *testing.T) {
	p := &Problem{Types: []Devices{{Name: "gpu", Count: 1}}, Jobs: []Job{
		{Number: 0, Workers: []float64{1}, Speed: []float64{1}}, {Number: 1, Workers: []float64{1}, Speed: []float64{1}},
	}}
	m := Mechanism{Round: 10}
	m.Divided(p, Division{{2.0 / 3}, {1.0 / 3}}, 0)
	ran := [2]int{}
	for range 9 {
		picks := m.Pick(p, []int{0}, nil)
		if len(picks) != 1 {
			t.Fatalf("%d jobs were picked for one device", len(picks))
		}
		ran[picks[0].First]++
		m.Ran(picks[0].Team, 0, 10)
	}
	if ran != [2]int{6, 3} {
		t.Errorf("the jobs ran %v rounds, want 6 and 3", ran)
	}
}

// No division by another kind or at random has a better objective of a kind than the kind's own division.
func TestEachKindIsBestAtItsOwn(t *testing.T) {
	values := map[string]func(p *Problem, d Division) float64{
		"makespan": func(p *Problem, d Division) (last float64) {
			for i := range p.Jobs {
				last = max(last, p.Jobs[i].Left/p.Jobs[i].throughput(d[i]))
			}
			return last
		},
		"finish_time_fairness": func(p *Problem, d Division) (worst float64) {
			even := p.isolated()
			for i := range p.Jobs {
				j := &p.Jobs[i]
				worst = max(worst, (j.Age+j.Left/j.throughput(d[i]))/(j.Left/j.throughput(even[i])))
			}
			return worst
		},
		"max_min": func(p *Problem, d Division) float64 {
			least := math.Inf(1)
			for i := range p.Jobs {
				j, even := &p.Jobs[i], 0.0
				for t, s := range j.Speed {
					even += s * p.Types[t].Count / p.devices() / j.Workers[t]
				}
				least = min(least, j.throughput(d[i])/even/j.Weight)
			}
			return -least
		},
	}
	chance := NewChance(7)
	for range 25 {
		p := drawProblem(chance)
		all := map[string]Division{}
		for _, k := range All() {
			all[k.Name] = divided(t, k.Name, p)
		}
		for range 20 {
			all["chance"] = drawDivision(chance, p)
			for kind, value := range values {
				best := value(p, all[kind])
				for other, d := range all {
					if v := value(p, d); v < best-1e-4*math.Abs(best) {
						t.Fatalf("%s reaches %g, %s %g: %+v", kind, best, other, v, p)
					}
				}
			}
		}
	}
}

// drawDivision returns a random division that is possible.
func drawDivision(chance *Chance, p *Problem) Division {
	d, left := p.nothing()
	for range 3 * len(p.Jobs) {
		i, ty := chance.Below(len(p.Jobs)), chance.Below(len(p.Types))
		j, idle := &p.Jobs[i], 1.0
		for _, x := range d[i] {
			idle -= x
		}
		x := min(idle, left[ty]/j.Workers[ty]) * float64(chance.Below(101)) / 100
		d[i][ty] += x
		left[ty] -= x * j.Workers[ty]
	}
	return d
}

// Over many rounds, each job runs on each type for about its time in the division, even if the division changes
// meanwhile. A job without time does not run if the kind leaves devices idle.
func TestMechanismFollowsAnyDivision(t *testing.T) {
	chance := NewChance(11)
	for range 10 {
		p := &Problem{Types: []Devices{{Name: "a", Count: float64(1 + chance.Below(3))}, {Name: "b", Count: float64(1 + chance.Below(3))}}}
		for i := range 2 + chance.Below(5) {
			p.Jobs = append(p.Jobs, Job{Number: int32(i), Workers: []float64{1, 1}, Speed: []float64{1, 1}})
		}
		m := Mechanism{Round: 10, Idle: true}
		now := 0.0
		for range 2 {
			// The division has multiples of 0.1 and no job on both types, so that rounds can follow it exactly.
			d, left := p.nothing()
			for i := range p.Jobs {
				ty := chance.Below(2)
				d[i][ty] = min(float64(chance.Below(11))/10, left[ty])
				left[ty] -= d[i][ty]
			}
			m.Divided(p, d, now)
			ran := make([][2]float64, len(p.Jobs))
			const rounds = 400
			for range rounds {
				on := map[int]float64{}
				for _, pick := range m.Pick(p, []int{0, 1}, nil) {
					m.Ran(pick.Team, pick.Type, m.Round)
					ran[pick.First][pick.Type]++
					on[pick.Type]++
				}
				for ty, n := range on {
					if n > p.Types[ty].Count {
						t.Fatalf("%g jobs run on %g devices", n, p.Types[ty].Count)
					}
				}
				now += m.Round
			}
			for i := range p.Jobs {
				for ty := range p.Types {
					if d[i][ty] == 0 && ran[i][ty] > 0 {
						t.Errorf("job %d runs on type %d, of which it was given nothing", i, ty)
					}
					if got := ran[i][ty] / rounds; got < d[i][ty]-0.03 {
						t.Errorf("job %d runs %g of the time on type %d, not %g", i, got, ty, d[i][ty])
					}
				}
			}
		}
	}
}

// A team's deficit or surplus is carried over to the next division. First 20 s are divided 3:1 and only the first team
// runs; then 10 s are divided and no team runs.
func TestDeficitsAreCarriedOver(t *testing.T) {
	p := &Problem{Types: []Devices{{Name: "gpu", Count: 1}}, Jobs: []Job{
		{Number: 0, Workers: []float64{1}, Speed: []float64{1}}, {Number: 1, Workers: []float64{1}, Speed: []float64{1}},
	}}
	m := Mechanism{Round: 10}
	d := Division{{0.75}, {0.25}}
	for _, c := range []struct {
		now, ran   float64 // since the previous division
		deficits   [2]float64
		priorities [2]float64 // x divided by the fraction of the time since the division; both start with half a round
	}{{0, 0, [2]float64{0, 0}, [2]float64{1.5, 0.5}}, {20, 20, [2]float64{-5, 5}, [2]float64{1.5, 0.5}}, {30, 0, [2]float64{2.5, 7.5}, [2]float64{1.5, 0.5}}} {
		if c.ran > 0 {
			m.Ran(Alone(0), 0, c.ran)
			near(t, "the priority of who ran", m.priority(Alone(0), 0), 0.75/(25./30))
			near(t, "the priority of who did not", m.priority(Alone(1), 0), 0.25/(5./30))
		}
		m.Divided(p, d, c.now)
		for i := range c.deficits {
			near(t, "a deficit", m.accounts[Alone(int32(i))].deficit[0], c.deficits[i])
			near(t, "a priority", m.priority(Alone(int32(i)), 0), c.priorities[i])
		}
	}
}

// A pair gains if it does more work than its jobs in turns, and both can run.
func TestGains(t *testing.T) {
	for _, c := range []struct {
		a, b, besideA, besideB float64
		want                   bool
	}{{2, 2, 1.6, 1.6, true}, {2, 4, 1, 2, false}, {2, 4, 1, 2.1, true}, {2, 4, 0.5, 2.9, false}, {0, 4, 1, 4, false}, {2, 0, 2, 1, false}} {
		p := &Problem{Jobs: []Job{{Speed: []float64{c.a}}, {Speed: []float64{c.b}}}}
		if got := p.gains(&Pair{First: 0, Second: 1, Speed: [2][]float64{{c.besideA}, {c.besideB}}}, 0); got != c.want {
			t.Errorf("%+v: it gains: %t", c, got)
		}
	}
}

// The first waiting job gets the place of an ended job, if it can run there and has room.
func TestBlindFIFOGivesPlacesOn(t *testing.T) {
	for name, c := range map[string]struct {
		workers, speed float64
		given          bool
	}{"it fits": {1, 1, true}, "it is too large": {2, 1, false}, "it cannot run there": {1, 0, false}} {
		p := &Problem{Types: []Devices{{Name: "a", Count: 1}}, Jobs: []Job{{Number: 1, Workers: []float64{1}, Speed: []float64{1}}}}
		f := Find("fifo").New(Options{Blind: true, Seed: 1})
		if d, err := f.Divide(p); err != nil || d[0][0] != 1 {
			t.Fatalf("%v, %v", d, err)
		}
		p.Jobs[0] = Job{Number: 2, Workers: []float64{c.workers}, Speed: []float64{c.speed}}
		if d, err := f.Divide(p); err != nil || (d[0][0] == 1) != c.given {
			t.Errorf("%s: %v, %v", name, d, err)
		}
	}
}

// TestFifoBlindServesJobsThatRunOnFewTypes checks that a job of eight devices gets the other type if the last type by
// name has only four devices.
func TestFifoBlindServesJobsThatRunOnFewTypes(t *testing.T) {
	p := &Problem{
		Types: []Devices{{Name: "k80", Count: 8}, {Name: "v100", Count: 4}},
		Jobs:  []Job{{Workers: []float64{8, 1}, Speed: []float64{1, 0}, Weight: 1, Left: 1, Due: math.Inf(1)}},
	}
	d, err := Find("fifo").New(Options{Blind: true}).Divide(p)
	if err != nil || d[0][0] != 1 || d[0][1] != 0 {
		t.Errorf("it is given %v, %v; want all of the time of the first type", d, err)
	}
}

// TestOneQueue: type after type, with slow devices first, a job takes a free slow device although all of a fast device
// is its share. In one queue it gets the fast device. The job with the highest priority is first, on any type.
func TestOneQueue(t *testing.T) {
	alone := Division{{0, 1}}
	both := Division{{0.5, 0.25}, {0.25, 0.75}}
	job := func(n int32) Job { return Job{Number: n, Workers: []float64{1, 1}, Speed: []float64{1, 4}} }
	for name, c := range map[string]struct {
		division Division
		global   bool
		want     []Pick
	}{
		"one job by type":       {alone, false, []Pick{{Alone(0), 0}}},
		"one job in one queue":  {alone, true, []Pick{{Alone(0), 1}}},
		"two jobs by type":      {both, false, []Pick{{Alone(0), 0}, {Alone(1), 1}}},
		"two jobs in one queue": {both, true, []Pick{{Alone(1), 1}, {Alone(0), 0}}},
	} {
		p := &Problem{Types: []Devices{{Name: "slow", Count: 1}, {Name: "fast", Count: 1}}}
		for i := range c.division {
			p.Jobs = append(p.Jobs, job(int32(i)))
		}
		m := Mechanism{Round: 10, Global: c.global}
		m.Divided(p, c.division, 0)
		if got := m.Pick(p, []int{0, 1}, nil); !slices.Equal(got, c.want) {
			t.Errorf("%s: picked %v, want %v", name, got, c.want)
		}
	}
}

// TestIsolatedCountsTimeThatIsLost checks that a job has a share of GPUs on which it cannot run, but not of such cores.
func TestIsolatedCountsTimeThatIsLost(t *testing.T) {
	p := two(Job{Speed: []float64{2, 0}, Workers: []float64{2, 2}}, Job{Speed: []float64{1, 1}, Workers: []float64{1, 1}})
	p.Types[0].Count, p.Types[1].Count = 4, 4
	d := p.isolated()
	near(t, "of both types, one lost", d[0][0], 0.5) // 4/2/2 of each type, scaled down to all of its time
	near(t, "of what is lost", d[0][1], 0.5)
	near(t, "of a job that runs anywhere", d[1][0], 0.5)
	p.Types[1].Cores = true
	d = p.isolated()
	near(t, "of GPUs alone", d[0][0], 1)
	near(t, "of cores", d[0][1], 0)
}
