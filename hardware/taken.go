package hardware

import (
	"math"
	"sync"
	"time"
)

// TakenEvery is how often a TakenWatch looks, until it has looked mostTaken times; then it joins its looks in pairs.
const (
	TakenEvery = time.Second
	mostTaken  = 600
)

// TakenWatch measures how many cores other programs take, second by second, while jobs run that are descendants of this
// process. LoadSampler knows the mean of a stretch only when its jobs have ended.
type TakenWatch struct {
	source func() (used, own float64)
	stop   chan struct{}
	end    sync.Once
	done   sync.WaitGroup
	// before is what source returned last; cores the results so far, one for each stretch of every.
	before [2]float64
	began  time.Time
	every  time.Duration
	cores  []float64
}

// WatchTaken starts a measurement.
func WatchTaken() *TakenWatch {
	w := &TakenWatch{source: treeSeconds, stop: make(chan struct{}), every: TakenEvery}
	w.look(time.Now())
	w.done.Go(func() {
		tick := time.NewTicker(TakenEvery)
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				if now.Sub(w.began) >= w.every {
					w.look(now)
				}
			case <-w.stop:
				return
			}
		}
	})
	return w
}

// look adds the cores that were taken since the last look, and joins pairs where there are many.
func (w *TakenWatch) look(now time.Time) {
	used, own := w.source()
	if !w.began.IsZero() {
		taken := (used - w.before[0] - (own - w.before[1])) / now.Sub(w.began).Seconds()
		w.cores = append(w.cores, max(0, taken))
	}
	if w.before, w.began = [2]float64{used, own}, now; len(w.cores) < mostTaken {
		return
	}
	for i := range mostTaken / 2 {
		w.cores[i] = (w.cores[2*i] + w.cores[2*i+1]) / 2
	}
	w.cores, w.every = w.cores[:mostTaken/2], 2*w.every
}

// End ends the measurement, and returns the mean number of cores that other programs took in each stretch of every;
// none where that is not known, and for no watch. The last stretch, which is not over, is left out.
func (w *TakenWatch) End() (every time.Duration, cores []float64) {
	if w == nil {
		return 0, nil
	}
	w.end.Do(func() {
		close(w.stop)
		w.done.Wait()
	})
	for _, c := range w.cores {
		if math.IsNaN(c) {
			return w.every, nil
		}
	}
	return w.every, w.cores
}
