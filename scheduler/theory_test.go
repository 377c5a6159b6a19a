package scheduler_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// replicated runs a cell with several seeds. It returns the mean of measure and half the width of its 99% confidence
// interval.
func replicated(t *testing.T, replicates int, r Run, jobs func(seed int64) []Job,
	measure func([]Job, Outcome) float64) (mean, half float64) {
	t.Helper()
	xs := make([]float64, replicates)
	for i := range xs {
		r.Jobs = jobs(int64(i))
		xs[i] = measure(r.Jobs, runValidated(t, r, works(r.Jobs), simulated.Options{}))
	}
	mean, sd := stat.MeanStdDev(xs, nil)
	n := float64(replicates)
	return mean, distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.995) * sd / math.Sqrt(n)
}

// steady makes a measure ignore the first jobs, while the queue still fills.
func steady(f func(Job, Result) float64) func([]Job, Outcome) float64 {
	return func(jobs []Job, o Outcome) float64 {
		skip := len(jobs) / 5
		sum := 0.0
		for i := skip; i < len(jobs); i++ {
			sum += f(jobs[i], o.Jobs[i])
		}
		return sum / float64(len(jobs)-skip)
	}
}

func waiting(_ Job, r Result) float64 { return r.Waiting.Seconds() }
func jct(j Job, r Result) float64     { return (r.Finish - j.Arrival).Seconds() }

// erlangC returns the mean wait in M/M/c with a mean service time of 1 s: the probability to wait (A. K. Erlang, 1917)
// divided by c - λ.
func erlangC(c int, load float64) float64 {
	a := load * float64(c)
	term, sum := 1.0, 1.0
	for k := 1; k < c; k++ {
		term *= a / float64(k)
		sum += term
	}
	last := term * a / float64(c) / (1 - load)
	return last / (sum + last) / (float64(c) - a)
}

func TestFCFSWaitsAsErlangSays(t *testing.T) {
	for _, c := range []struct {
		cores int
		load  float64
	}{{1, 0.5}, {1, 0.7}, {4, 0.8}, {16, 0.9}} {
		want := erlangC(c.cores, c.load)
		got, half := replicated(t, 10, Run{Policy: Policy{}, Cluster: one(c.cores)}, func(seed int64) []Job {
			return poisson(5000, c.cores, c.load, seed)
		}, steady(waiting))
		t.Logf("%d cores, load %.1f: %.4f ± %.4f s, theory %.4f", c.cores, c.load, got, half, want)
		if math.Abs(got-want) > half || half > 0.4*want {
			t.Errorf("%d cores, load %.1f: mean wait %.4f ± %.4f s, theory says %.4f", c.cores, c.load, got, half, want)
		}
	}
}

// Round robin with a small quantum approximates processor sharing. There the mean JCT is E[S]/(1-ρ) for any
// distribution of S (L. Kleinrock, 1967).
func TestRoundRobinTendsToProcessorSharing(t *testing.T) {
	const load = 0.6
	const quantum = 50 * time.Millisecond
	for name, service := range map[string]func(u float64) float64{
		"constant":         func(float64) float64 { return 1 },
		"exponential":      func(u float64) float64 { return -math.Log(1 - u) },
		"hyperexponential": func(u float64) float64 { return hyper(u) },
	} {
		got, half := replicated(t, 8, Run{Policy: Policy{Order: RoundRobin, Settings: Settings{"quantum": quantum}},
			Cluster: one(1)}, func(seed int64) []Job {
			rng := workload.Stream(seed, "ps", name)
			jobs := make([]Job, 2000)
			now := 0.0
			for i := range jobs {
				now += rng.ExpFloat64() / load
				jobs[i] = at(0, 1, service(rng.Float64()))
				jobs[i].Arrival = time.Duration(now * 1e9)
				jobs[i].Name = "job"
			}
			return number(jobs)
		}, steady(jct))
		want := 1 / (1 - load)
		t.Logf("%s: %.4f ± %.4f s, theory %.4f", name, got, half, want)
		if math.Abs(got-want) > half+quantum.Seconds() || half > 0.4*want {
			t.Errorf("%s: mean JCT %.4f ± %.4f s, theory says %.4f", name, got, half, want)
		}
	}
}

// hyper turns a uniform random number into one with mean 1. It is exponential with mean 0.5 at probability 0.9,
// otherwise with mean 5.5.
func hyper(u float64) float64 {
	if u < 0.9 {
		return -0.5 * math.Log(1-u/0.9)
	}
	return -5.5 * math.Log(1-(u-0.9)/0.1)
}

// On one core SRTF has the least mean JCT of all orders (L. Schrage, 1968).
func TestSRTFIsTheBestOrderOnOneCore(t *testing.T) {
	jobs := poisson(3000, 1, 0.9, 3)
	mean := func(p Policy) float64 {
		return steady(jct)(jobs, runValidated(t, Run{Policy: p, Cluster: one(1), Jobs: jobs}, works(jobs),
			simulated.Options{}))
	}
	best := mean(Policy{Order: "srtf"})
	for _, p := range []Policy{{}, {Order: SJF}, {Order: SJF, Preemption: PausePreemption},
		{Order: "las", Settings: Settings{"quantum": time.Second}},
		{Order: RoundRobin, Settings: Settings{"quantum": time.Second}},
		{Order: "fair", Settings: Settings{"quantum": time.Second}}} {
		if other := mean(p); other <= best {
			t.Errorf("%s: mean JCT %.3f s, SRTF %.3f s", p, other, best)
		}
	}
}

// max_prop gives each running job its exact proportion to within one core, and no more cores in total than there are.
func TestMaxPropIsProportional(t *testing.T) {
	requests := []int{1, 2, 3, 5, 8, 13, 21, 34}
	for cores := len(requests); cores < 100; cores++ {
		var jobs []Job
		for _, n := range requests {
			jobs = append(jobs, malleable(at(0, n, 10)))
		}
		r := Run{Policy: Policy{Allocation: MaxProp}, Cluster: one(cores), Jobs: number(jobs)}
		o, _ := simulate(t, r, nil)
		// find the exact shares clamp(rate × request, 1, request) by bisection
		lo, hi := 0.0, 1.0
		for range 100 {
			mid, sum := (lo+hi)/2, 0.0
			for _, n := range requests {
				sum += max(mid*float64(n), 1)
			}
			if sum > float64(cores) {
				hi = mid
			} else {
				lo = mid
			}
		}
		sum := 0
		var got []int
		for i, n := range requests {
			got = append(got, o.Jobs[i].Cores)
			sum += o.Jobs[i].Cores
			if exact := max(lo*float64(n), 1); math.Abs(float64(o.Jobs[i].Cores)-exact) >= 1 {
				t.Errorf("%d cores: %d of %d, exactly %.2f", cores, o.Jobs[i].Cores, n, exact)
			}
		}
		if want := min(cores, 87); sum != want || !slices.IsSorted(got) {
			t.Errorf("%d cores: %v are given, %d in all", cores, got, sum)
		}
	}
}
