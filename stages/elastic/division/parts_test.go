package division

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// few returns a problem in the middle of a run: two to five jobs on two to four nodes, whose sizes may differ.
// Speed-ups are random, and may fall with more GPUs.
func few(random *rand.Rand) *Problem {
	p := &Problem{Seed: random.Uint64()}
	for range 2 + random.IntN(3) {
		p.Capacity = append(p.Capacity, random.IntN(5))
	}
	p.Capacity[0] = 1 + random.IntN(4)
	free, taken := slices.Clone(p.Capacity), make([]bool, len(p.Capacity))
	for range 2 + random.IntN(4) {
		speeds := make([][]float64, len(p.Capacity)+1)
		for nodes := range speeds {
			speeds[nodes] = make([]float64, Total(p.Capacity)+1)
			for gpus := range speeds[nodes] {
				speeds[nodes][gpus] = math.Sqrt(float64(gpus)) * (0.5 + random.Float64())
			}
		}
		e := Elastic{
			Most: 1 + random.IntN(6), Kept: random.Float64(),
			SpeedUp: func(nodes, gpus int) float64 { return speeds[nodes][gpus] },
		}
		base := make([]int, len(free))
		for v := range base {
			base[v] = random.IntN(free[v]+1) * random.IntN(2)
		}
		nodes, gpus := extent(base)
		crossed := false
		for v, n := range base {
			crossed = crossed || n > 0 && taken[v]
		}
		if gpus > 0 && gpus <= e.Most && (nodes == 1 || !crossed) {
			e.Base = base
			for v, n := range base {
				free[v] -= n
				taken[v] = taken[v] || nodes > 1 && n > 0
			}
		}
		p.Jobs = append(p.Jobs, e)
	}
	return p
}

// term returns a job's term of the sum, computed as the problem defines it.
func term(p *Problem, j int, placement []int) float64 {
	nodes, gpus := extent(placement)
	if gpus == 0 {
		return 1000
	}
	s := p.Jobs[j].SpeedUp(nodes, gpus) / (float64(Total(p.Capacity)) / float64(len(p.Capacity)))
	if !same(placement, p.Jobs[j].Base) {
		s *= p.Jobs[j].Kept
	}
	return 1 / (s + 0.001)
}

// check compares the search's own counts with the GPUs of its jobs.
func check(t *testing.T, s *search) {
	t.Helper()
	d := s.division()
	if left := Free(s.Capacity, d); !slices.Equal(left, s.free) || slices.Min(left) < 0 {
		t.Fatalf("%v GPUs are free by the account, %v by what jobs hold: %v", s.free, left, d)
	}
	for v, owner := range s.owner {
		want := -1
		for j := range d {
			if nodes, _ := extent(d[j]); nodes > 1 && d[j][v] > 0 {
				want = j
			}
		}
		if owner != want {
			t.Fatalf("node %d has a part of job %d by the account, of %d by what jobs hold: %v", v, owner, want, d)
		}
	}
	for j := range d {
		nodes, gpus := extent(d[j])
		if nodes > 1 { // as many as there are at least
			nodes = max(2, (gpus+s.widest-1)/s.widest)
		}
		want := s.costOf(j, nodes, gpus, true)
		if same(d[j], s.Jobs[j].Base) {
			want = term(s.Problem, j, d[j])
		}
		if math.Abs(s.cost[j]-want) > 1e-9 {
			t.Fatalf("job %d has %v, and the term %v, want %v", j, d[j], s.cost[j], want)
		}
	}
}

// TestValueByItsFormula: jobs of 2 GPUs on one node and of 1 + 1, each on its fair share of 8/3 GPUs twice and once
// as fast as there; the second was moved. A division has no value if it exceeds a node or a job, or if two jobs of
// several nodes share a node.
func TestValueByItsFormula(t *testing.T) {
	speed := func(s float64) func(int, int) float64 { return func(int, int) float64 { return s } }
	p := Problem{Capacity: []int{4, 2, 2}, Jobs: []Elastic{
		{Base: []int{2}, Most: 2, Kept: 0.5, SpeedUp: speed(2)}, {Base: []int{0, 0, 2}, Most: 4, Kept: 0.25, SpeedUp: speed(1)},
	}}
	s := []float64{2 * 3. / 8, 1 * 3. / 8 * 0.25}
	want := 2 / (1/(s[0]+0.001) + 1/(s[1]+0.001))
	if got := p.Value(Division{{2, 0, 0}, {1, 1, 0}}); math.Abs(got-want) > 1e-12 {
		t.Errorf("a value of %v, want %v", got, want)
	}
	for _, c := range []struct {
		d    Division
		fits bool
	}{
		{Division{{2, 0, 0}, {2, 2, 0}}, true},
		{Division{{2, 0, 0}, {3, 0, 0}}, false},
		{Division{{3, 0, 0}, nil}, false},
		{Division{{1, 1, 0}, {1, 0, 1}}, false},
		{Division{{1, 1, 0}, {0, 0, 2}}, true},
		{Division{{1, 1, 0}, {2, 0, 0}}, true},
		{Division{nil, nil}, true},
	} {
		if v := p.Value(c.d); math.IsInf(v, -1) == c.fits || v > 1 {
			t.Errorf("%v has the value %v", c.d, v)
		}
	}
}

// TestWaysOfAJob compares the options of a job, given the other jobs, with all placements on one node. For several
// nodes it compares them with the free GPUs of nodes without a part of another such job.
func TestWaysOfAJob(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 1))
	for range 1000 {
		p := few(random)
		s := newSearch(p, newTerms(p))
		s.fromBase()
		check(t, s)
		for j := range p.Jobs {
			if e := p.Jobs[j]; e.Base != nil && !same(s.at[j], e.Base) {
				t.Fatalf("job %d does not begin with %v", j, e.Base)
			}
		}
		j := random.IntN(len(p.Jobs))
		s.take(j)
		check(t, s)
		one, clean, nodes := 0, 0, 0
		for v, n := range s.free {
			one = max(one, n)
			if n > 0 && s.owner[v] == -1 {
				clean, nodes = clean+n, nodes+1
			}
		}
		if nodes == 1 {
			clean = 0
		}
		one, clean = min(one, p.Jobs[j].Most), min(clean, p.Jobs[j].Most)
		want := map[option]bool{{cost: 1000}: true}
		if p.Jobs[j].Base != nil {
			nodes, gpus := extent(p.Jobs[j].Base)
			want[option{base: true, cost: p.costOf(j, nodes, gpus, false)}] = true
		}
		cost := func(nodes, gpus int) float64 { return p.costOf(j, nodes, gpus, true) }
		for n := 1; n <= one; n++ {
			want[option{gpus: n, cost: cost(1, n)}] = true
		}
		for n := max(2, one+1); n <= clean; n++ {
			k := max(2, (n+slices.Max(p.Capacity)-1)/slices.Max(p.Capacity))
			want[option{gpus: n, several: true, cost: cost(k, n)}] = true
		}
		ways := s.options(j, nil)
		least := math.Inf(1)
		for _, way := range ways {
			if !want[way] {
				t.Fatalf("job %d of %v has the way %+v, of %v", j, s.free, way, want)
			}
			least = min(least, way.cost)
		}
		if best := s.best(j); len(ways) != len(want) || !want[best] || best.cost > least+1e-9 {
			t.Fatalf("job %d of %v has the ways %v, best %+v; want %v", j, s.free, ways, best, want)
		}
		b := s.boundOf(j)
		for most := range Total(s.free) + 1 {
			least := 1000.
			for n := 1; n <= min(most, p.Jobs[j].Most); n++ {
				if n <= one {
					least = min(least, cost(1, n))
				}
				if n > 1 && n <= clean {
					least = min(least, cost(max(2, (n+s.widest-1)/s.widest), n))
				}
			}
			if p.Jobs[j].Base != nil && Total(p.Jobs[j].Base) <= most {
				least = min(least, term(p, j, p.Jobs[j].Base))
			}
			if got := b.with(most); math.Abs(got-least) > 1e-9 {
				t.Fatalf("with %d GPUs of %v job %d costs at least %v, want %v", most, s.free, j, got, least)
			}
		}
	}
}

// TestPlacesOfAJob: GPUs on one node are on the node with the fewest free GPUs that suffice; nodes with a part of a job
// of several nodes are preferred. GPUs on several nodes use the fewest nodes.
func TestPlacesOfAJob(t *testing.T) {
	random := rand.New(rand.NewPCG(22, 1))
	for range 2000 {
		p := few(random)
		s := newSearch(p, newTerms(p))
		s.fromBase()
		j := random.IntN(len(p.Jobs))
		s.take(j)
		one, several := s.room(j)
		for n := 1; n <= one; n++ {
			placement := s.place(n, false)
			nodes, gpus := extent(placement)
			at := slices.Index(placement, n)
			if nodes != 1 || gpus != n {
				t.Fatalf("%d GPUs are at %v", n, placement)
			}
			for v, free := range s.free {
				better := free < s.free[at] || free == s.free[at] && (s.owner[v] >= 0 && s.owner[at] < 0 ||
					v < at && (s.owner[v] >= 0) == (s.owner[at] >= 0))
				if free >= n && better {
					t.Fatalf("%d GPUs of %v with parts of %v are at %v", n, s.free, s.owner, placement)
				}
			}
		}
		var clean []int // free GPUs of nodes without a part, descending
		for v, n := range s.free {
			if s.owner[v] < 0 {
				clean = append(clean, n)
			}
		}
		slices.SortFunc(clean, func(a, b int) int { return b - a })
		for n := 2; n <= several; n++ {
			placement := slices.Clone(s.place(n, true))
			least := 0
			for left := n; left > 0; least++ {
				left -= clean[least]
			}
			nodes, gpus := extent(placement)
			if gpus != n || nodes != max(least, 2) {
				t.Fatalf("%d GPUs of %v with parts of %v are at %v", n, s.free, s.owner, placement)
			}
			for v, k := range placement {
				if k > s.free[v] || k > 0 && s.owner[v] >= 0 {
					t.Fatalf("%d GPUs of %v with parts of %v are at %v", n, s.free, s.owner, placement)
				}
			}
		}
	}
}

// TestPlacesByHand: four nodes have 4, 3, 2 and 1 free GPUs. A job of 5 GPUs on several nodes gets 4 on the first node
// and 1 on the last, which has no more. A job of 4 GPUs on several nodes gets 3 on the first node and 1 on the last.
func TestPlacesByHand(t *testing.T) {
	p := &Problem{Capacity: []int{4, 3, 2, 1}, Jobs: []Elastic{{Most: 10, SpeedUp: func(int, int) float64 { return 1 }}}}
	s := newSearch(p, newTerms(p))
	for _, c := range []struct {
		gpus int
		want []int
	}{
		{5, []int{4, 0, 0, 1}}, {6, []int{4, 0, 2, 0}}, {7, []int{4, 3, 0, 0}}, {8, []int{4, 3, 0, 1}},
		{9, []int{4, 3, 2, 0}}, {10, []int{4, 3, 2, 1}}, {4, []int{3, 0, 0, 1}}, {2, []int{1, 0, 0, 1}},
	} {
		if got := s.place(c.gpus, true); !slices.Equal(got, c.want) {
			t.Errorf("%d GPUs are at %v, want %v", c.gpus, got, c.want)
		}
	}
}

// TestTheRestOfAJobByHand: 5 GPUs come from the node with the most free GPUs, and one GPU from the node with the fewest
// that suffice. Of equal nodes, the first is taken.
func TestTheRestOfAJobByHand(t *testing.T) {
	for _, want := range []struct{ capacity, at []int }{
		{[]int{4, 3, 1, 1}, []int{4, 0, 1, 0}}, {[]int{1, 2, 4}, []int{1, 0, 4}}, {[]int{2, 4, 1, 4}, []int{0, 4, 1, 0}},
	} {
		p := &Problem{Capacity: want.capacity, Jobs: []Elastic{{Most: 5, SpeedUp: func(int, int) float64 { return 1 }}}}
		if got := newSearch(p, newTerms(p)).place(5, true); !slices.Equal(got, want.at) {
			t.Errorf("5 GPUs of %v are at %v, want %v", want.capacity, got, want.at)
		}
	}
}

// TestWhatAJobHeldFits: a job of several nodes can return to its base while no other job of several nodes has a part
// of these nodes, and all of its GPUs are free; a job of one node can share a node with a part.
func TestWhatAJobHeldFits(t *testing.T) {
	one := func(int, int) float64 { return 1 }
	for _, c := range []struct {
		base []int
		most int
		fits bool
	}{
		{[]int{1, 1, 0}, 2, false}, {[]int{0, 1, 1}, 2, false}, {[]int{0, 0, 2}, 2, true}, {[]int{0, 0, 2}, 1, false},
		{[]int{1, 0, 0}, 1, true}, {[]int{2, 0, 0}, 2, false}, {nil, 2, false},
	} {
		p := &Problem{Capacity: []int{2, 2, 2}, Jobs: []Elastic{
			{Most: 2, SpeedUp: one}, {Base: c.base, Most: c.most, SpeedUp: one},
		}}
		s := newSearch(p, newTerms(p))
		s.put(0, []int{1, 1, 0}, 1)
		if got := s.baseFits(1); got != c.fits {
			t.Errorf("%v of %d GPUs fits beside the first job: %v", c.base, c.most, got)
		}
		s.take(0)
		if got := s.baseFits(1); got != (c.base != nil && Total(c.base) <= c.most) {
			t.Errorf("%v of %d GPUs fits alone: %v", c.base, c.most, got)
		}
	}
}

// TestWaysCostAtLeast: the least cost of a way with as many GPUs as the job holds is at most the cost of staying, since
// the job could keep its allocation.
func TestWaysCostAtLeast(t *testing.T) {
	k := &terms{stay: []float64{1, 1}, held: []int{2, 0}}
	for _, c := range []struct {
		job  int
		way  option
		want float64
	}{
		{0, option{gpus: 2, cost: 3}, 1}, {0, option{gpus: 2, cost: 0.5}, 0.5}, {0, option{gpus: 1, cost: 3}, 3},
		{0, option{gpus: 3, cost: 3}, 3}, {0, option{cost: 1000}, 1000}, {1, option{cost: 1000}, 1000},
	} {
		if got := k.atLeast(c.job, c.way); got != c.want {
			t.Errorf("%+v of job %d costs at least %v, want %v", c.way, c.job, got, c.want)
		}
	}
}

// TestCountsAreTheBest compares the knapsack with all numbers of GPUs.
func TestCountsAreTheBest(t *testing.T) {
	random := rand.New(rand.NewPCG(23, 1))
	for range 200 {
		p := few(random)
		p.Jobs = p.Jobs[:min(len(p.Jobs), 3)]
		s := newSearch(p, newTerms(p))
		cost := func(j, n int) float64 {
			if n > 0 && n == Total(p.Jobs[j].Base) {
				return term(p, j, p.Jobs[j].Base)
			}
			nodes := 1
			if n > s.widest {
				nodes = max(2, (n+s.widest-1)/s.widest)
			}
			return p.costOf(j, nodes, n, true)
		}
		var best func(j, left int) float64
		best = func(j, left int) float64 {
			if j == len(p.Jobs) {
				return 0
			}
			least := math.Inf(1)
			for n := 0; n <= min(left, p.Jobs[j].Most); n++ {
				least = min(least, cost(j, n)+best(j+1, left-n))
			}
			return least
		}
		sum, all := 0.0, 0
		for j, n := range s.counts() {
			sum, all = sum+cost(j, n), all+n
		}
		if want := best(0, Total(p.Capacity)); math.Abs(sum-want) > 1e-9 || all > Total(p.Capacity) {
			t.Fatalf("%v cost %v, the least is %v", s.counts(), sum, want)
		}
		s.fromCounts()
		check(t, s)
	}
}

// TestExchange: an exchange of two jobs finds the least sum over all ways of the first job, each with the best
// way of the second. It changes nothing when that sum is not less. Jobs that have settled have no better way
// alone.
func TestExchange(t *testing.T) {
	random := rand.New(rand.NewPCG(24, 1))
	exchanged := 0
	for range 1000 {
		p := few(random)
		s := newSearch(p, newTerms(p))
		s.fromBase()
		s.settle()
		check(t, s)
		for j := range p.Jobs {
			before, at := s.cost[j], slices.Clone(s.at[j])
			s.take(j)
			if s.serve(j, s.best(j)); s.cost[j] < before-1e-9 {
				t.Fatalf("settled job %d has %v, and could have %v", j, at, s.at[j])
			}
			s.take(j)
			s.put(j, at, before)
		}
		a, b := random.IntN(len(p.Jobs)), 0
		for b = a; b == a; {
			b = random.IntN(len(p.Jobs))
		}
		was, before := copied(s.at), s.cost[a]+s.cost[b]
		least, other := before, newSearch(p, s.terms)
		for j := range p.Jobs {
			if j != a && j != b {
				other.put(j, was[j], s.cost[j])
			}
		}
		for _, way := range other.options(a, nil) {
			other.serve(a, way)
			least = min(least, other.cost[a]+other.best(b).cost)
			other.take(a)
		}
		done := s.exchange(a, b)
		check(t, s)
		switch after := s.cost[a] + s.cost[b]; {
		case done != (least < before-1e-9), after > least+1e-9:
			t.Fatalf("%v is exchanged for %v: %v, the least is %v", before, after, done, least)
		case !done && (!slices.EqualFunc(was, s.at, slices.Equal) || after != before):
			t.Fatalf("%v become %v without an exchange", was, s.at)
		case done:
			exchanged++
		}
	}
	if exchanged < 50 {
		t.Errorf("only %d exchanges", exchanged)
	}
}

// TestSearchFindsAsMuch has the best values that the search has found so far, on 16 nodes. A better search updates
// them; a worse one fails the test.
func TestSearchFindsAsMuch(t *testing.T) {
	for i, want := range []float64{
		0.1189677513, 0.0801217955, 0.0756296525, 0.0808462485, 0.0331121449, 0.0107375361, 0.0048654149, 0.0034121140,
	} {
		p := drawn(20+10*i, uint64(100+i))
		if got := p.Value(p.Search()); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d jobs: found %.10f, so far %.10f", len(p.Jobs), got, want)
		}
	}
}

// TestPackByHand: a job stays where it is unless others would not fit, and then jobs of several nodes stay before all
// jobs are placed again.
func TestPackByHand(t *testing.T) {
	for _, c := range []struct {
		about    string
		capacity []int
		wants    []Want
		want     Division
	}{
		{"two whole nodes beside one that stays in the middle", []int{4, 4, 4},
			[]Want{{GPUs: 2, Held: []int{0, 2, 0}}, {GPUs: 8}}, Division{{0, 2, 0}, {4, 0, 4}}},
		{"whole nodes of different sizes", []int{4, 2, 4, 2},
			[]Want{{GPUs: 6}, {GPUs: 1}}, Division{{4, 2, 0, 0}, {0, 0, 0, 1}}},
		{"the tightest node, and the first of those as tight", []int{4, 2, 2},
			[]Want{{GPUs: 2}, {GPUs: 1}}, Division{{0, 2, 0}, {0, 0, 1}}},
		{"the tightest node is the first", []int{2, 4}, []Want{{GPUs: 1}}, Division{{1, 0}}},
		{"a job within a node gives way to whole nodes, one of two nodes does not", []int{2, 2, 2, 2},
			[]Want{{GPUs: 1, Held: []int{1}}, {GPUs: 1, Held: []int{0, 1}}, {GPUs: 2}, {GPUs: 4, Held: []int{0, 0, 2, 2}}},
			Division{{0, 1, 0, 0}, {0, 1, 0, 0}, {2, 0, 0, 0}, {0, 0, 2, 2}}},
		{"of two nodes, and in the way", []int{2, 2, 2},
			[]Want{{GPUs: 2, Held: []int{1, 1}}, {GPUs: 4}}, Division{{0, 0, 2}, {2, 2, 0}}},
		{"those that fit no node are divided, from the node with most", []int{1, 3},
			[]Want{{GPUs: 2}, {GPUs: 2}, {}}, Division{{0, 2}, {1, 1}, nil}},
	} {
		var nodes []int
		for v := range c.capacity {
			nodes = append(nodes, v)
		}
		if got := Pack(c.capacity, nodes, c.wants); !slices.EqualFunc(got, c.want, same) {
			t.Errorf("%s: %v, want %v", c.about, got, c.want)
		}
	}
}

// TestFreeAndMostFree takes GPUs from the node with most, ties to the first, and only if there are enough.
func TestFreeAndMostFree(t *testing.T) {
	if got := Free([]int{4, 4, 1}, Division{{1, 2}, nil, {2, 0, 1}}); !slices.Equal(got, []int{1, 2, 0}) {
		t.Errorf("%v are left", got)
	}
	free := []int{2, 3, 3}
	for _, c := range []struct {
		gpus       int
		want, left []int
	}{
		{9, nil, []int{2, 3, 3}}, {0, nil, []int{2, 3, 3}}, {2, []int{0, 2, 0}, []int{2, 1, 3}},
		{4, []int{1, 0, 3}, []int{1, 1, 0}}, {2, []int{1, 1, 0}, []int{0, 0, 0}},
	} {
		if got := PlaceMostFree(free, c.gpus); !slices.Equal(got, c.want) || !slices.Equal(free, c.left) {
			t.Errorf("%d GPUs are at %v, want %v, and leave %v", c.gpus, got, c.want, free)
		}
	}
}

// TestPricesBoundTheChoice: the cost of a choice is the bound by the prices, plus the excesses of its configurations.
// Excesses are few, since the prices solve the linear program.
func TestPricesBoundTheChoice(t *testing.T) {
	random := rand.New(rand.NewPCG(25, 1))
	for range 20 {
		gpus := []int{8 + random.IntN(17), random.IntN(25), 1000}
		jobs := choices(random, 30, gpus)
		c, err := newChooser(jobs, gpus, 1.1)
		if err != nil {
			t.Fatal(err)
		}
		bound := 0.0
		for _, options := range jobs {
			least := 1.1
			for _, o := range options {
				least = min(least, o.Cost+c.price[o.Type]*float64(o.GPUs))
			}
			bound += least
		}
		for t, n := range gpus {
			bound -= c.price[t] * float64(n)
		}
		_, sum, err := Choose(jobs, gpus, 1.1)
		if err != nil || sum < bound-1e-9 || sum > bound*1.01 || slices.Min(c.price) < 0 || c.price[2] > 1e-6 {
			t.Errorf("a sum of %v over the bound %v of the prices %v, %v", sum, bound, c.price, err)
		}
	}
}
