package profile

import (
	"sync"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/jobs/contract"
)

// arrivals collects when the progress lines of a sample came, on the engine's clock.
type arrivals struct {
	steps bool

	mu sync.Mutex // guards at
	at []time.Duration
}

// add is a progress.Listener. A line that does not follow the last one counts for nothing, and so do all after it.
func (a *arrivals) add(_ int, at time.Duration, p contract.Progress) {
	n := p.Epoch
	if a.steps {
		n = p.Step
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !p.News() && n == len(a.at)+1 {
		a.at = append(a.at, at)
	}
}

// complete adds to a sample that began at an instant what only the arrival of its lines tells: how long the
// start-up took, and how long the units, where the program does not say. Of the first unit and the start-up before
// it no more is known then than how long they took together: the unit is taken to be as long as the median of the
// others.
func (a *arrivals) complete(s *estimator.Sample, began time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := len(a.at)
	if n == 0 {
		return
	}
	first := (a.at[0] - began).Seconds()
	if len(s.Units) == 0 && n == s.Length && n > 2 {
		var units []float64
		for i := range a.at[1:] {
			units = append(units, (a.at[i+1] - a.at[i]).Seconds())
		}
		s.Units = append([]float64{min(first, estimator.Median(units))}, units...)
	}
	if s.Startup == 0 && len(s.Units) > 0 {
		s.Startup = max(0, first-s.Units[0])
	}
}
