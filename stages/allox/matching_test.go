package allox

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// leastSum tries every assignment of jobs to machines. On each machine the shortest job is first, which is optimal.
func leastSum(p Assignment) int64 {
	type machine struct{ Kind, index int }
	var machines []machine
	for c, free := range p.Free {
		for k := range free {
			machines = append(machines, machine{c, k})
		}
	}
	on := make([][]int64, len(machines))
	best := int64(math.MaxInt64)
	var place func(job int)
	place = func(job int) {
		if job < len(p.Times) {
			for m, at := range machines {
				if t := p.Times[job][at.Kind]; t >= 0 {
					on[m] = append(on[m], t)
					place(job + 1)
					on[m] = on[m][:len(on[m])-1]
				}
			}
			return
		}
		sum := int64(0)
		for m, at := range machines {
			end := p.Free[at.Kind][at.index]
			for _, t := range slices.Sorted(slices.Values(on[m])) {
				end += t
				sum += end
			}
		}
		best = min(best, sum)
	}
	place(0)
	return best
}

func TestMatchingEqualsBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p Assignment
		for range rapid.IntRange(1, 3).Draw(t, "kinds") {
			free := make([]int64, rapid.IntRange(1, 3).Draw(t, "machines"))
			for k := range free {
				free[k] = int64(rapid.SampledFrom([]int{0, 0, 1, 4, 9, 30}).Draw(t, "free"))
			}
			slices.Sort(free)
			p.Free = append(p.Free, free)
		}
		for range rapid.IntRange(0, 5).Draw(t, "jobs") {
			times := make([]int64, len(p.Free))
			for c := range times {
				times[c] = int64(rapid.IntRange(-3, 12).Draw(t, "time"))
			}
			if able := rapid.IntRange(0, len(times)-1).Draw(t, "able"); times[able] < 0 {
				times[able] = int64(rapid.IntRange(0, 12).Draw(t, "time"))
			}
			p.Times = append(p.Times, times)
		}
		at := SolveAssignment(p)
		inside := map[AssignmentPosition]int{}
		for i, a := range at {
			if p.Times[i][a.Kind] < 0 {
				t.Fatalf("job %d is matched to a kind on which it cannot run", i)
			}
			if inside[a]++; inside[a] > len(p.Free[a.Kind]) {
				t.Fatalf("there are more jobs at %+v than machines", a)
			}
		}
		if got, want := sumOf(p, at), leastSum(p); got != want {
			t.Errorf("%+v: the finishes add up to %d, the least is %d (%v)", p, got, want, at)
		}
	})
}

// manyJobs is a queue in which CPUs take 0.5 to 20 times as long as GPUs, and nearly all machines are busy.
func manyJobs(jobs, cpus, gpus int) Assignment {
	rng := rand.New(rand.NewPCG(1, 2))
	p := Assignment{Free: [][]int64{make([]int64, gpus), make([]int64, cpus)}}
	for c := range p.Free {
		for k := range p.Free[c] {
			if k > 0 {
				p.Free[c][k] = int64(rng.ExpFloat64() * 300e6)
			}
		}
		slices.Sort(p.Free[c])
	}
	for range jobs {
		onGPU := rng.ExpFloat64() * 600e6
		onCPU := onGPU * math.Pow(40, rng.Float64()) / 2
		p.Times = append(p.Times, []int64{int64(onGPU) + 1, int64(onCPU) + 1})
	}
	return p
}

func BenchmarkMatching(b *testing.B) {
	for _, c := range []struct{ jobs, cpus, gpus int }{{100, 16, 4}, {1000, 16, 4}, {1000, 64, 16}, {1000, 4, 1},
		{1000, 1, 1}, {3000, 64, 16}} {
		b.Run(fmt.Sprintf("jobs=%d/cpus=%d/gpus=%d", c.jobs, c.cpus, c.gpus), func(b *testing.B) {
			p := manyJobs(c.jobs, c.cpus, c.gpus)
			for b.Loop() {
				SolveAssignment(p)
			}
		})
	}
}

// The shortest time of a job is over the kinds on which it can run.
func TestShortest(t *testing.T) {
	p := Assignment{Times: [][]int64{{-1, 5, 3}, {7, -1, 0}, {-1, -1, -1}}}
	for job, want := range []int64{3, 0, math.MaxInt64} {
		if got := p.shortest(int32(job)); got != want {
			t.Errorf("job %d: %d, want %d", job, got, want)
		}
	}
}

// sumOf returns the sum of the jobs' finish times in a matching.
func sumOf(p Assignment, at []AssignmentPosition) int64 {
	sum := int64(0)
	inside := map[AssignmentPosition]int{}
	for i, a := range at {
		sum += p.Times[i][a.Kind] * int64(a.Level)
		sum += p.Free[a.Kind][inside[a]]
		inside[a]++
	}
	return sum
}
