package division

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// choices draws jobs with configurations of 1, 2, 4 … GPUs of each type, some of them equal, as the order sia has them.
func choices(random *rand.Rand, jobs int, gpus []int) [][]Configuration {
	all := make([][]Configuration, jobs)
	for j := range all {
		if j > 0 && random.IntN(4) == 0 {
			all[j] = all[j-1] // equal jobs give equal sums
			continue
		}
		serial := random.Float64() * 0.3
		most := 1 << random.IntN(6)
		for t, count := range gpus {
			rate := 1 + float64(t)*random.Float64()
			for n := 1; n <= min(most, count); n *= 2 {
				speed := rate / (serial + (1-serial)/float64(n))
				if random.IntN(3) == 0 {
					speed *= random.Float64()
				}
				all[j] = append(all[j], Configuration{Type: t, GPUs: n, Cost: 1 / math.Sqrt(speed+0.01)})
			}
		}
	}
	return all
}

// bruteForce tries all choices.
func bruteForce(jobs [][]Configuration, free []int, without float64) float64 {
	if len(jobs) == 0 {
		return 0
	}
	best := without + bruteForce(jobs[1:], free, without)
	for _, o := range jobs[0] {
		if o.GPUs <= free[o.Type] {
			left := slices.Clone(free)
			left[o.Type] -= o.GPUs
			best = min(best, o.Cost+bruteForce(jobs[1:], left, without))
		}
	}
	return best
}

func TestChooseIsExact(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		gpus := make([]int, 1+random.IntN(3))
		for i := range gpus {
			gpus[i] = random.IntN(9)
		}
		jobs := choices(random, random.IntN(6), gpus)
		chosen, sum, err := Choose(jobs, gpus, 1.1)
		if err != nil {
			t.Fatal(err)
		}
		left, check := slices.Clone(gpus), 0.0
		for j, i := range chosen {
			if i == Nothing {
				check += 1.1
				continue
			}
			left[jobs[j][i].Type] -= jobs[j][i].GPUs
			check += jobs[j][i].Cost
		}
		if len(left) > 0 && slices.Min(left) < 0 || math.Abs(check-sum) > 1e-9 {
			t.Fatalf("%v of %v on %v: %d GPUs are left, a sum of %v for %v", chosen, jobs, gpus, left, sum, check)
		}
		if best := bruteForce(jobs, gpus, 1.1); sum > best+1e-9 {
			t.Fatalf("%v on %v: a sum of %v, the least is %v", jobs, gpus, sum, best)
		}
	}
}

// TestChooseTakesTheFirstOfEquals: of equally good configurations a job gets the first; of equal jobs the first gets
// GPUs.
func TestChooseTakesTheFirstOfEquals(t *testing.T) {
	of := func(kind int) Configuration { return Configuration{Type: kind, GPUs: 1, Cost: 0.5} }
	for _, c := range []struct {
		jobs [][]Configuration
		want []int
	}{
		{[][]Configuration{{of(0), of(0)}}, []int{0}},
		{[][]Configuration{{of(0), of(1)}}, []int{0}},
		{[][]Configuration{{of(1), of(0)}}, []int{0}},
		{[][]Configuration{{of(0), of(1)}, {of(0), of(1)}, {of(0), of(1)}}, []int{0, 1, Nothing}},
	} {
		got, _, err := Choose(c.jobs, []int{1, 1}, 1.1)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v of %v, %v; want %v", got, c.jobs, err, c.want)
		}
	}
}

// TestChooseOfManyJobs compares with dynamic programming over all numbers of GPUs of one type.
func TestChooseOfManyJobs(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 5 {
		jobs := choices(random, 120, []int{64})
		_, sum, err := Choose(jobs, []int{64}, 1.1)
		if err != nil {
			t.Fatal(err)
		}
		least := make([]float64, 65) // by GPUs that may be taken
		for _, options := range jobs {
			for g := 64; g >= 0; g-- {
				best := least[g] + 1.1
				for _, o := range options {
					if o.GPUs <= g {
						best = min(best, least[g-o.GPUs]+o.Cost)
					}
				}
				least[g] = best
			}
		}
		if math.Abs(sum-least[64]) > 1e-9 {
			t.Errorf("a sum of %v, the least is %v", sum, least[64])
		}
	}
}

// TestChooseOfALongQueue: 3,000 jobs have not run yet and could use one GPU of any type. 40 jobs hold a GPU and gain
// more from it, so 24 GPUs remain for the queue.
func TestChooseOfALongQueue(t *testing.T) {
	jobs, gpus := queue(3000, 40)
	chosen, sum, err := Choose(jobs, gpus, 1.1)
	if err != nil {
		t.Fatal(err)
	}
	served := [2]int{}
	for j, i := range chosen {
		if i != Nothing {
			served[min(j/40, 1)]++
		}
	}
	if want := 40*0.9 + 24*1 + 2976*1.1; served != [2]int{40, 24} || math.Abs(sum-want) > 1e-6 {
		t.Errorf("%d and %d are served at %v, want 40 and 24 at %v", served[0], served[1], sum, want)
	}
}

// queue returns waiting jobs, behind jobs that hold a GPU each.
func queue(waiting, running int) (jobs [][]Configuration, gpus []int) {
	for j := range waiting + running {
		cost := 1.0
		if j < running {
			cost = 0.9
		}
		jobs = append(jobs, []Configuration{{Type: 0, GPUs: 1, Cost: cost}, {Type: 1, GPUs: 1, Cost: cost}})
	}
	return jobs, []int{32, 32}
}

func TestChooseRefuses(t *testing.T) {
	for _, bad := range []Configuration{{Type: 1, GPUs: 1}, {GPUs: 0}, {GPUs: 1, Cost: math.NaN()}} {
		if _, _, err := Choose([][]Configuration{{bad}}, []int{4}, 1.1); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// BenchmarkChoose is a round with 160 jobs on 64 GPUs of three types.
func BenchmarkChoose(b *testing.B) {
	gpus := []int{24, 16, 24}
	jobs := choices(rand.New(rand.NewPCG(1, 2)), 160, gpus)
	for b.Loop() {
		if _, _, err := Choose(jobs, gpus, 1.1); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkChooseLongQueue is a round with 2,000 jobs that wait.
func BenchmarkChooseLongQueue(b *testing.B) {
	jobs, gpus := queue(2000, 40)
	for b.Loop() {
		if _, _, err := Choose(jobs, gpus, 1.1); err != nil {
			b.Fatal(err)
		}
	}
}
