package main

import (
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware"
)

// Speed is how fast the machine was at a moment: a fixed piece of work took Seconds on each core while all were busy.
// Error is the standard deviation of Seconds, estimated from repetitions.
type Speed struct {
	Cores   int     `json:"cores"`
	Seconds float64 `json:"seconds"`
	Error   float64 `json:"error_s"`
}

// A probe repeats a piece of work that takes about half a millisecond: sums of products of numbers that fit into the
// caches of a core.
const (
	probeRepeats = 9
	probePasses  = 96
	probeNumbers = 1 << 13
)

// ProbeSpeed measures how fast the machine is now, on the given number of cores. All cores do a piece of work at the
// same time, like the threads of a job. It takes some milliseconds.
func ProbeSpeed(cores int) Speed {
	cpus := hardware.AllowedCPUs()
	cores = max(1, min(cores, len(cpus), runtime.GOMAXPROCS(0)))
	times := make([][]float64, cores)
	var ready, work sync.WaitGroup
	ready.Add(cores)
	for i := range times {
		work.Go(func() {
			defer bindThread(cpus[i])()
			numbers := make([]float64, probeNumbers)
			for k := range numbers {
				numbers[k] = float64(k%7) + 0.5
			}
			ready.Done()
			ready.Wait()
			for range probeRepeats {
				began := time.Now()
				sum := 0.0
				for range probePasses {
					sum = product(numbers, sum)
				}
				if took := time.Since(began).Seconds(); sum != 0 { // without a use of sum, the compiler would remove the work
					times[i] = append(times[i], took)
				}
			}
		})
	}
	work.Wait()
	return speedOf(times)
}

// Until returns the speed between two probes with the same number of cores: the mean of both. Its error includes
// their difference, but not changes between the probes, which are unknown.
func (s Speed) Until(end Speed) Speed {
	s.Error = math.Hypot(math.Hypot(s.Error, end.Error)/2, (s.Seconds-end.Seconds)/2)
	s.Seconds = (s.Seconds + end.Seconds) / 2
	return s
}

// product computes the sum of products once over all numbers.
func product(numbers []float64, sum float64) float64 {
	a, b, c, d := sum*1e-9, 0.0, 0.0, 0.0
	for k := 0; k+3 < len(numbers); k += 4 {
		a += numbers[k] * 1.0000001
		b += numbers[k+1] * 0.9999999
		c += numbers[k+2] * numbers[k]
		d += numbers[k+3] * numbers[k+1]
	}
	return a + b + c + d
}

// speedOf returns the mean over cores of the median time, which is not sensitive to interrupts. The error of the
// median of n normal values is about 1.25 standard deviations over √n. The median absolute deviation is 0.6745
// standard deviations.
func speedOf(times [][]float64) Speed {
	s := Speed{Cores: len(times)}
	variance := 0.0
	for _, t := range times {
		m := estimator.Median(t)
		off := schema.Each(t, func(x float64) float64 { return math.Abs(x - m) })
		s.Seconds += m / float64(len(times))
		e := 1.2533 * estimator.Median(off) / 0.6745 / math.Sqrt(float64(len(t))) / float64(len(times))
		variance += e * e
	}
	s.Error = math.Sqrt(variance)
	return s
}
