package hardware

import (
	"math"
	"slices"
	"sync"
	"time"
)

// Speed is how fast the machine was over some time: a fixed piece of work took Seconds on average, with the standard
// error Error. The zero value is an unknown speed.
type Speed struct {
	Seconds float64 `json:"probe_s"`
	Error   float64 `json:"error_s"`
}

// The piece of work reads a line of each 64 bytes of 2 MiB, of 8 in turn: more than the caches of a core hold, so it
// waits for what the cores of a processor share, as programs that train do. It takes about 0.1 ms. Between two pieces
// a probe sleeps, at first for a short time, then for longer ones.
const (
	probeNumbers  = 1 << 20 // of 8 bytes
	probeParts    = 4
	probeLine     = 8 // numbers
	probeBurst    = 4 // pieces at the start, and at the end
	probeEvery    = 5 * time.Millisecond
	probeSeldom   = 50 * time.Millisecond
	probeSlackens = 1.05
)

// A SpeedProbe measures the speed of the machine until it ends. Jobs that compute meanwhile lose about a five-hundredth
// of a core.
type SpeedProbe struct {
	numbers []float64
	part    int
	sum     float64
	times   []float64 // logarithms

	stop  chan struct{}
	ended bool
	done  sync.WaitGroup
}

// NewSpeedProbe begins a measurement, which ends with End.
func NewSpeedProbe() *SpeedProbe {
	p := &SpeedProbe{numbers: make([]float64, probeNumbers), stop: make(chan struct{})}
	for i := range p.numbers {
		p.numbers[i] = float64(i%7) + 0.5
	}
	for range probeBurst {
		p.piece()
	}
	p.done.Go(func() {
		for every := float64(probeEvery); ; every = min(every*probeSlackens, float64(probeSeldom)) {
			select {
			case <-p.stop:
				return
			case <-time.After(time.Duration(every)):
				p.piece()
			}
		}
	})
	return p
}

// piece does the piece of work once.
func (p *SpeedProbe) piece() {
	numbers := p.numbers[p.part*len(p.numbers)/probeParts : (p.part+1)*len(p.numbers)/probeParts]
	p.part = (p.part + 1) % probeParts
	began, a, b := time.Now(), p.sum*1e-9, 0.0
	for k := 0; k+probeLine < len(numbers); k += 2 * probeLine {
		a += numbers[k]
		b += numbers[k+probeLine]
	}
	took := time.Since(began)
	p.sum = a + b // so it is computed
	p.times = append(p.times, math.Log(max(took.Seconds(), 1e-9)))
}

// Abort ends the measurement, unless it has ended; p may be nil.
func (p *SpeedProbe) Abort() {
	if p != nil && !p.ended {
		p.ended = true
		close(p.stop)
		p.done.Wait()
	}
}

// End ends the measurement and returns the speed over its time.
func (p *SpeedProbe) End() Speed {
	p.Abort()
	for range probeBurst {
		p.piece()
	}
	return speedOf(p.times)
}

// longest is the part of the pieces that count as interrupted: a thread of another program ran in between.
const longest = 0.1

// speedOf is the geometric mean of times, given as logarithms in their order, without the longest ones. Its error is
// what neighbors in time differ by: slower changes are the machine's.
func speedOf(logs []float64) Speed {
	sorted := slices.Sorted(slices.Values(logs))
	most := sorted[int(math.Ceil((1-longest)*float64(len(sorted))))-1]
	sum, n, squares, last := 0.0, 0.0, 0.0, math.NaN()
	for _, x := range logs {
		if x > most {
			continue
		}
		sum, n = sum+x, n+1
		if !math.IsNaN(last) {
			squares += (x - last) * (x - last) / 2
		}
		last = x
	}
	mean := math.Exp(sum / n)
	return Speed{Seconds: mean, Error: mean * math.Sqrt(squares/max(n-1, 1)/n)}
}
