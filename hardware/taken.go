package hardware

import (
	"math"
	"sort"
	"sync"
	"time"
)

// A TakenWatch looks each second, or less often where a look takes more than a part of 1/lookPart of that. When it has
// looked mostLooks times, every second look is dropped.
const (
	takenEvery = time.Second
	lookPart   = 100
	mostLooks  = 1200
)

// TakenWatch measures how many cores other programs take, second by second, while jobs run that are descendants of this
// process. LoadSampler knows the mean of a stretch only when its jobs have ended.
type TakenWatch struct {
	source func() (used, own float64)
	stop   chan struct{}
	end    sync.Once
	done   sync.WaitGroup
	began  time.Time
	every  time.Duration
	looks  []look
}

// look is the CPU time in seconds that other programs have used since the machine was started, as seen some time after
// the watch began.
type look struct{ at, used float64 }

// WatchTaken starts a measurement.
func WatchTaken() *TakenWatch {
	w := &TakenWatch{source: treeSeconds, stop: make(chan struct{}), began: time.Now(), every: takenEvery}
	w.look(0)
	for time.Since(w.began) > w.every/lookPart { // where the machine has thousands of processes
		w.every *= 2
	}
	w.done.Go(func() {
		for {
			select {
			case <-time.After(w.every):
				w.look(time.Since(w.began))
			case <-w.stop:
				w.look(time.Since(w.began))
				return
			}
		}
	})
	return w
}

func (w *TakenWatch) look(at time.Duration) {
	used, own := w.source()
	if math.IsNaN(used - own) { // the system does not tell, or not now
		return
	}
	w.looks = append(w.looks, look{at.Seconds(), used - own})
	if len(w.looks) < mostLooks {
		return
	}
	for i := range mostLooks / 2 {
		w.looks[i] = w.looks[2*i]
	}
	w.looks, w.every = w.looks[:mostLooks/2], 2*w.every
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
	if len(w.looks) == 0 || w.looks[0].at > 0 {
		return w.every, nil
	}
	last := w.looks[len(w.looks)-1].at
	for n := 0.0; (n+1)*w.every.Seconds() <= last; n++ {
		from, to := n*w.every.Seconds(), (n+1)*w.every.Seconds()
		cores = append(cores, max(0, (w.until(to)-w.until(from))/w.every.Seconds()))
	}
	return w.every, cores
}

// until is the CPU time of other programs at a moment between two looks.
func (w *TakenWatch) until(at float64) float64 {
	i := sort.Search(len(w.looks)-1, func(i int) bool { return w.looks[i].at >= at })
	b := w.looks[i]
	if i == 0 || b.at == at {
		return b.used
	}
	a := w.looks[i-1]
	return a.used + (b.used-a.used)*(at-a.at)/(b.at-a.at)
}
