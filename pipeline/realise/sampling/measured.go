package sampling

import (
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// Row is the row of a sample in samples.csv.
func Row(u *stages.Unit, s estimator.Sample) record.SampleRow {
	units := -1.0
	if len(s.Units) > 0 {
		units = 0
		for _, t := range s.Units {
			units += t
		}
	}
	return record.SampleRow{
		Job: u.Job, Threads: s.Threads, GPUs: s.GPUs, Length: s.Length, Unit: u.LengthUnit(),
		Wall: s.Wall, Startup: known(s.Startup), Units: units, Save: known(s.Save), Launch: known(s.Launch),
		Pause: known(s.Pause), Resume: known(s.Resume), Resize: known(s.Resize),
		Busy: known(s.Busy), Tries: s.Tries, Cost: s.Cost, Probe: known(s.Probe), ProbeCores: s.ProbeCores, Others: s.Others,
	}
}

// known is a measured value; 0 stands for none.
func known(v float64) float64 {
	if v == 0 {
		return -1
	}
	return v
}

// Overheads are what an engine took, at the median over samples. What a program does before its first epoch is
// in the intercept of its estimate; Start is only what the engine adds. A real
// pause and the resume that follows it keep the cores idle for their sum,
// whichever of the two jobs is charged.
//
// Where paused jobs write a checkpoint and end (suspends), a pause takes as long as the program took to save at its
// end,
// and to go on is to start again.
func Overheads(samples []estimator.Sample, suspends bool) simulated.Overheads {
	var start, pause, resume, resize, save, startup median
	for _, s := range samples {
		start.add(s.Launch)
		pause.add(s.Pause)
		resume.add(s.Resume)
		resize.add(s.Resize)
		save.add(s.Save)
		startup.add(s.Startup)
	}
	o := simulated.Overheads{Start: start.time(), Pause: pause.time(), Resume: resume.time(), Resize: resize.time()}
	if suspends {
		o.Pause, o.Resume = save.time(), o.Start+startup.time()
	}
	o.Migrate = o.Resume
	return o
}

// median is of the measured ones among times in seconds; 0 stands for none. The
// first launch of a run is often far slower than the others: a mean would charge
// it to all.
type median []float64

func (m *median) add(s float64) {
	if s > 0 {
		*m = append(*m, s)
	}
}

func (m median) time() time.Duration {
	if len(m) == 0 {
		return 0
	}
	slices.Sort(m)
	return time.Duration(math.Round((m[(len(m)-1)/2] + m[len(m)/2]) / 2 * 1e9))
}

// Longer has simulated work take so many times as long.
func Longer(w *simulated.Scaling, times float64) {
	w.Fixed, w.Scaled = time.Duration(times*float64(w.Fixed)), time.Duration(times*float64(w.Scaled))
}

// AtSpeed has simulated work take as long as at the speeds that a machine had at moments, as far as these are known
// of the threads that its job asks for. known are all moments that tell how far the probe can be trusted.
func AtSpeed(w *simulated.Scaling, e estimator.Estimate, threads int, at, known []estimator.Moment) {
	for _, m := range at {
		if m.Cores != threads || e.Probe <= 0 {
			continue
		}
		Longer(w, estimator.DriftOn(known, threads).SlowerThan(e.Probe, m, (w.Fixed+w.Scaled).Seconds()))
	}
}
