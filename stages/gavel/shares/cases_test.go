package shares

import (
	"slices"
	"testing"
)

// For a blind policy, a job is as fast on all its types as on the given type, or as on its fastest type if it cannot
// run on the given one.
func TestBlind(t *testing.T) {
	p := &Problem{Jobs: []Job{{Speed: []float64{4, 2, 0}}, {Speed: []float64{0, 2, 3}}}}
	for of, want := range [][2][]float64{{{4, 4, 0}, {0, 3, 3}}, {{2, 2, 0}, {0, 2, 2}}, {{4, 4, 0}, {0, 3, 3}}} {
		b := p.Blind(of)
		for i := range want {
			if !slices.Equal(b.Jobs[i].Speed, want[i]) {
				t.Errorf("blind to all but type %d, job %d has the speeds %g, want %g", of, i, b.Jobs[i].Speed, want[i])
			}
		}
	}
	if p.Jobs[0].Speed[1] != 2 {
		t.Errorf("the problem itself has become %+v", p)
	}
}

// Progress in an even share is kept between divisions. A job with 2 units/s has used the device alone for 4 s when
// another job arrives; 12 of its 20 units remain. With half of the device it would end after 4 + 12 s, and the other
// job after 12 s. So half of the device gives the ratios (4+12)/16 and 12/12.
func TestFinishTimeFairnessRemembers(t *testing.T) {
	p := &Problem{Types: []Devices{{Name: "gpu", Count: 1}}}
	job := func(n int32, speed, left, age float64) Job {
		return Job{Number: n, Workers: []float64{1}, Speed: []float64{speed}, Left: left, Age: age}
	}
	f := Find("finish_time_fairness").New(Options{})
	p.Jobs = []Job{job(7, 2, 20, 0)}
	if d, err := f.Divide(p); err != nil || d[0][0] < 0.999 {
		t.Fatalf("alone it has %v, %v", d, err)
	}
	p.Jobs = []Job{job(7, 2, 12, 4), job(9, 1, 6, 0)}
	d, err := f.Divide(p)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the part of the first", d[0][0], 0.5)
	near(t, "the part of the second", d[1][0], 0.5)
}

// Pairs run on types where both jobs make progress and there are enough devices.
func TestWherePairsRun(t *testing.T) {
	if !slices.Equal((Team{3, 5}).Jobs(), []int32{3, 5}) || !slices.Equal(Alone(3).Jobs(), []int32{3}) ||
		!(Team{3, 5}).Has(5) || !(Team{3, 5}).Has(3) || Alone(3).Has(5) {
		t.Error("the jobs of a team are others")
	}
	for _, c := range []struct {
		a, b float64
		runs bool
	}{{1, 1, true}, {0, 1, false}, {1, 0, false}, {0, 0, false}} {
		l := lineup{jobs: []int{0, 1}, pair: &Pair{Second: 1, Speed: [2][]float64{{c.a}, {c.b}}}}
		if got := l.runs(&Problem{}, 0); got != c.runs {
			t.Errorf("speeds of %g and %g: it runs: %t", c.a, c.b, got)
		}
	}
	p := two(Job{Speed: []float64{2, 2}, Workers: []float64{1, 2}}, Job{Speed: []float64{2, 0}}, Job{Speed: []float64{2, 2}})
	p.Pairs = []Pair{{First: 1, Second: 2, Speed: [2][]float64{{1.5, 1.5}, {1.5, 1.5}}}}
	d := divided(t, "max_min", p)
	for team, want := range map[int]float64{0: 0, 1: 0, 3: 0} {
		near(t, "the time of a team on the slow device, where it cannot run", d[team][1], want)
	}
	if d[2][1] < 0.5 {
		t.Errorf("the job that can run on the slow device has %g of its time", d[2][1])
	}
}

// A team that has received no time comes before teams that have. A team without time in the division comes last, and a
// job that arrived after the division has no priority. Equal priorities are ordered by deficit, then by time.
func TestPriorities(t *testing.T) {
	m := Mechanism{spent: []float64{10, 0}, division: map[Team][]float64{
		Alone(0): {0.5, 0.5}, Alone(1): {0.25, 0.25}, Alone(2): {0, 0}, Alone(3): {0.5, 0.5}},
		accounts: map[Team]*account{
			Alone(0): {[]float64{5, 0}, []float64{0, 0}}, Alone(1): {[]float64{2.5, 0}, []float64{0, 0}},
			Alone(2): {[]float64{1, 1}, []float64{0, 0}}, Alone(3): {[]float64{0, 3}, []float64{0, 0}},
			Alone(4): {[]float64{1, 1}, []float64{9, 9}}}}
	for n, want := range [][2]float64{{1, 0.5e9}, {1, 0.25e9}, {0, 0}, {0.5e9, 0.5e9}, {0, 0}} {
		for ty := range want {
			if got := m.priority(Alone(int32(n)), ty); got != want[ty] {
				t.Errorf("job %d has the priority %g on type %d, want %g", n, got, ty, want[ty])
			}
		}
	}
	p := &Problem{Types: []Devices{{Count: 5}, {Count: 0}}}
	for n := range int32(5) {
		p.Jobs = append(p.Jobs, Job{Number: n, Workers: []float64{1, 1}, Speed: []float64{1, 1}})
	}
	picked := func() (jobs []int32) {
		for _, pick := range m.Pick(p, []int{0, 1}, nil) {
			jobs = append(jobs, pick.First)
		}
		return jobs
	}
	for _, c := range []struct {
		name    string
		change  func()
		devices float64
		want    []int32
	}{
		{"by priority, then by time", func() {}, 5, []int32{3, 0, 1, 2}},
		{"as many as there are devices", func() {}, 2, []int32{3, 0}},
		{"one that came after the division has a device that stands idle", func() {}, 4, []int32{3, 0, 1}},
		{"by deficit before time", func() { m.accounts[Alone(1)].deficit[0] = 1 }, 2, []int32{3, 1}},
		{"where nobody stands in for those who were given nothing", func() { m.Idle = true }, 5, []int32{3, 1, 0}},
		{"those that came later as well", func() { m.Idle, m.Eager = false, true }, 5, []int32{3, 1, 0, 4, 2}},
	} {
		c.change()
		p.Types[0].Count = c.devices
		if got := picked(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	p.Types[0].Count = 1
	if got := m.Pick(p, []int{0}, func(job int32, ty int) bool { return job == 2 }); len(got) != 1 || got[0].First != 2 {
		t.Errorf("of those that could start, %v is picked", got)
	}
}

// A job keeps its device until it ends. Types that are full at the start are not listed.
func TestBlindFIFOKeepsPlaces(t *testing.T) {
	p := &Problem{Types: []Devices{{Name: "a", Count: 1}, {Name: "b", Count: 1}}}
	add := func(n int32) {
		p.Jobs = append(p.Jobs, Job{Number: n, Workers: []float64{1, 1}, Speed: []float64{1, 1}})
	}
	f := Find("fifo").New(Options{Blind: true, Seed: 1})
	for n, want := range []int{1, 0, -1} { // b, the last by name; then a; then no device is left
		add(int32(n))
		d, err := f.Divide(p)
		if err != nil || slices.Index(d[n], 1) != want || d[0][1] != 1 {
			t.Errorf("with %d jobs the division is %v, %v", n+1, d, err)
		}
	}
}

// A kind must have a name and can be registered once. Kinds without a place in the order come last.
func TestKindsAreRegisteredOnce(t *testing.T) {
	for _, name := range []string{"", "max_min"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q is registered", name)
				}
			}()
			Register(Kind{Name: name})
		}()
	}
	before := *kinds
	defer func() { *kinds = before }()
	for _, k := range []Kind{{Name: "y"}, {Name: "x"}, {Name: "z", Place: 1}} {
		Register(k)
	}
	var names []string
	for _, k := range All() {
		names = append(names, k.Name)
	}
	if n := len(names); names[0] != "max_min" || names[1] != "z" || names[2] != "water_filling" || !slices.Equal(names[n-2:], []string{"x", "y"}) {
		t.Errorf("the kinds are in the order %v", names)
	}
}
