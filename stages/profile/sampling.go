package profile

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments/secret"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
)

// run takes the missing samples. A job that cannot be sampled has no prediction, which causes a warning: its cells run
// nevertheless.
func run(ctx context.Context, r *stages.Run) error {
	s := newSampling(r)
	if s.total == 0 {
		return nil
	}
	start, reused := time.Now(), s.done
	s.Observe(stages.Progress{Kind: stages.StageStart, Stage: stage, Total: s.total, Reused: reused})
	load := hardware.NewLoadSampler()
	if err := s.all(ctx); err != nil {
		return err
	}
	if err := s.hopeless(); err != nil {
		return err
	}
	// Over a short time the load is too imprecise. Jobs of other engines would count as other programs.
	if s.ownsLoad() && s.done > reused && time.Since(start) > leastJudged && load.Others() > hardware.BusyCores {
		s.Warn("busy_profile", "", "other programs used the CPU during profiling: estimates are for such a machine "+
			"(tfexp run --fresh samples again)")
	}
	s.Observe(stages.Progress{Kind: stages.StageEnd, Stage: stage, Done: s.done, Total: s.total, Reused: reused,
		Elapsed: time.Since(start)})
	return nil
}

// hopeless returns an error if no cell can run, because each has a job whose samples all failed. If any cell can run, all
// cells run: when a job of a cell fails, its other jobs continue.
func (s *sampling) hopeless() error {
	sampled := map[string]bool{} // whether a sample of the job for its cells succeeded
	for i, u := range s.units {
		if u.Asked {
			sampled[u.Job] = sampled[u.Job] || !s.failed[i] || s.logs[i] == ""
		}
	}
	fails := func(sub experiment.Submit) bool { ok, known := sampled[sub.Job.Name]; return known && !ok }
	if slices.ContainsFunc(s.File().Cells, func(c experiment.Cell) bool {
		return len(c.Workload.Submits) > 0 && !slices.ContainsFunc(c.Workload.Submits, fails)
	}) {
		return nil
	}
	for i, u := range s.units {
		if !u.Asked || sampled[u.Job] {
			continue
		}
		tail, err := folder.Tail(s.Dir, tailLines, samplesDir, s.logs[i]+".log")
		return errors.Join(&stages.SamplesFailed{Job: u.Job, Sample: s.logs[i], Cause: s.causes[i], Log: secret.Redact(tail)}, err)
	}
	return nil
}

// tailLines is the number of log lines that are shown of a failed sample.
const tailLines = 8

// sampling is the state of the profile stage. Its slices are by unit.
type sampling struct {
	*stages.Run
	units       []*stages.Unit
	pieces      []stages.PlannedPiece // of each unit
	budget      float64
	total, done int
	// takes one sample
	one    func(context.Context, *stages.Unit, task) (estimator.Sample, error)
	taken  [][]estimator.Sample
	failed []bool
	over   []bool // whether no more samples of the unit are taken
	busy   bool   // whether a warning about other programs was given
	// The name of the failed sample and the error, for units that failed.
	logs   []string
	causes []error
	// noEstimate has the jobs without an estimate, grouped by reason.
	noEstimate []unestimated
}

func newSampling(r *stages.Run) *sampling {
	units, pieces := r.SampledUnits(), r.PlannedPieces(stage)
	n := len(units)
	s := &sampling{Run: r, units: units, pieces: pieces, budget: r.Budget(), total: n,
		taken: make([][]estimator.Sample, n), failed: make([]bool, n), over: make([]bool, n),
		logs: make([]string, n), causes: make([]error, n)}
	s.one = s.sample
	for _, p := range pieces {
		if !p.Make {
			s.done++
		}
	}
	return s
}

// task is a sample to take.
type task struct {
	unit, length, repeat int
	// extra is set for a number of threads that no job requests. rank is the index of its length among the unit's
	// lengths.
	extra bool
	rank  int
	// needed is set for a sample that every estimate needs: it is taken even if it exceeds the budget.
	needed bool
}

// tasks returns the missing samples: the shortest of every unit, then the next longer ones, and all repeats last. A
// slow moment of the machine then cannot affect all samples of a unit. With a budget, needed has the samples that every
// prediction needs, and others the rest, most useful first.
func (s *sampling) tasks() (needed, others []task) {
	for i, u := range s.units {
		if !s.pieces[i].Make {
			continue
		}
		for repeat := range u.Repeats {
			for rank, n := range u.Lengths {
				t := task{unit: i, length: n, repeat: repeat, extra: !u.Asked, rank: rank}
				if s.budget == 0 || u.Asked && rank < 2 && repeat == 0 {
					needed = append(needed, t)
				} else {
					others = append(others, t)
				}
			}
		}
	}
	slices.SortStableFunc(needed, func(a, b task) int { return cmp.Or(a.repeat-b.repeat, a.rank-b.rank) })
	class := func(t task) int {
		switch {
		case t.repeat > 0:
			return 2
		case t.extra && t.rank < 2:
			return 0
		}
		return 1
	}
	slices.SortStableFunc(others, func(a, b task) int {
		if c := class(a) - class(b); c != 0 {
			return c
		}
		return a.repeat - b.repeat
	})
	return needed, others
}

// all takes and stores the missing samples: first the planned ones, then further ones in rounds.
func (s *sampling) all(ctx context.Context) error {
	defer s.warnNoEstimate()
	needed, others := s.tasks()
	left := make([]int, len(s.taken)) // missing samples of each unit
	for _, t := range needed {
		left[t.unit]++
	}
	for _, t := range needed {
		if err := s.take(ctx, t); err != nil {
			return err
		}
		if left[t.unit]--; left[t.unit] == 0 && s.budget == 0 {
			if err := s.keep(t.unit); err != nil {
				return err
			}
		}
	}
	room, err := s.room(ctx)
	if err != nil {
		return err
	}
	if room, err = s.within(ctx, others, room); err != nil {
		return err
	}
	if err := s.rounds(ctx, room); err != nil {
		return err
	}
	for i := range s.taken {
		if s.pieces[i].Make && s.budget > 0 {
			if err := s.keep(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// usualShare is the default budget: the fraction of the real cells' predicted time that all samples may take.
const usualShare = 0.1

// room returns how many more seconds samples may take.
func (s *sampling) room(ctx context.Context) (seconds float64, err error) {
	if !slices.ContainsFunc(s.taken, func(t []estimator.Sample) bool { return len(t) > 0 }) {
		return 0, nil
	}
	for i, samples := range s.taken {
		if len(samples) > 0 {
			s.SetSamples(s.units[i].Hash, samples)
		}
	}
	cells, err := s.PredictReal(ctx)
	if err != nil {
		return 0, err
	}
	room := cmp.Or(s.budget, usualShare)*cells.Seconds() - s.cost()
	if room < 0 && s.budget > 0 {
		s.Warn("budget", "",
			fmt.Sprintf("the two shortest samples of each job took %.3g s more than the budget of %.3g s for sampling "+
				"(%.3g%% of %s): no others are taken",
				-room, s.budget*cells.Seconds(), 100*s.budget, cells.Round(time.Millisecond)))
	}
	return room, nil
}

// within takes the planned samples in others for which there is room, and returns the remaining room in seconds.
func (s *sampling) within(ctx context.Context, others []task, room float64) (float64, error) {
	skipped := 0
	for _, t := range others {
		if s.guess(t) > room {
			skipped++
			continue
		}
		before := s.cost()
		if err := s.take(ctx, t); err != nil {
			return room, err
		}
		room -= s.cost() - before
	}
	if skipped > 0 {
		return room, s.Note(stages.Note{Event: "budget", Text: fmt.Sprintf("%d of %d further samples are left out",
			skipped, len(others))})
	}
	return room, nil
}

// cost returns the time of all samples in seconds, including earlier runs.
func (s *sampling) cost() float64 {
	sum := 0.0
	for i, u := range s.units {
		samples := s.taken[i]
		if !s.pieces[i].Make {
			samples, _ = s.Samples(u.Hash)
		}
		for _, sample := range samples {
			sum += sample.Cost
		}
	}
	return sum
}

// guess predicts how long a sample takes, in seconds. It scales the longest sample of the same program by length, and
// by threads if the sample has fewer.
func (s *sampling) guess(t task) float64 {
	unit := s.units[t.unit]
	longest := 0.0
	for _, i := range unit.Relatives {
		for _, known := range s.taken[i] {
			guess := known.Wall * max(1, float64(t.length)/float64(known.Length)) *
				max(1, float64(known.Threads)/float64(unit.Threads))
			longest = max(longest, guess)
		}
	}
	return longest
}

// take takes one sample. A failure causes a warning, and no more samples of the unit are taken. If the unit then has
// none, its jobs have no estimate.
func (s *sampling) take(ctx context.Context, t task) error {
	unit := s.units[t.unit]
	if s.failed[t.unit] {
		return nil
	}
	s.Observe(stages.Progress{Kind: stages.UnitStart, Stage: stage, Unit: unit.Name, Done: s.done, Total: s.total})
	sample, err := s.one(ctx, unit, t)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, new(*engine.Unavailable)):
		return err
	case errors.Is(err, ErrTooLong) && unit.Asked:
		// The program itself may be correct, so its cells run.
		s.failed[t.unit], s.taken[t.unit] = true, nil
		s.without(unit, t, err, "; limit in the block profile gives samples more time")
	case err != nil && unit.Asked:
		s.failed[t.unit], s.taken[t.unit] = true, nil
		s.logs[t.unit], s.causes[t.unit] = sampleName(unit, t), err
		s.without(unit, t, err, "")
	case err != nil && unit.Copies > 0:
		s.failed[t.unit], s.taken[t.unit] = true, nil
		s.Warn("sample", "", fmt.Sprintf("%v: it is not known how jobs %s slow each other down", err, unit.Job))
	case err != nil:
		s.failed[t.unit], s.taken[t.unit] = true, nil
		s.Warn("sample", "", fmt.Sprintf("%v: the speed-up of job %s is estimated without %s", err, unit.Job,
			threads(unit.Threads)))
	default:
		s.taken[t.unit] = append(s.taken[t.unit], sample)
	}
	if s.failed[t.unit] || t.repeat == unit.Repeats-1 && t.rank == len(unit.Lengths)-1 {
		s.end(t.unit)
	}
	return nil
}

// end reports that no more samples of a unit will be taken.
func (s *sampling) end(i int) {
	if s.over[i] {
		return
	}
	s.over[i] = true
	s.done++
	took := 0.0
	for _, sample := range s.taken[i] {
		took += sample.Cost
	}
	s.Observe(stages.Progress{Kind: stages.UnitEnd, Stage: stage, Unit: s.units[i].Name, Done: s.done, Total: s.total,
		Elapsed: time.Duration(took * float64(time.Second))})
}

// sampleName returns the name of a sample and of its log.
func sampleName(unit *stages.Unit, t task) string {
	return fmt.Sprintf("%s-sample-%d", unit.Name, t.repeat*len(unit.Lengths)+t.rank+1)
}

// sample takes a sample, and repeats it if other programs disturbed it. The first sample of a requested unit also
// measures how long the engine takes to pause, resume and resize the job.
func (s *sampling) sample(ctx context.Context, unit *stages.Unit, t task) (estimator.Sample, error) {
	logs := filepath.Join(s.Dir, samplesDir)
	scratch, err := folder.MkdirTemp(s.Dir, ".scratch-")
	if err != nil {
		return estimator.Sample{}, fmt.Errorf("make a folder for samples: %w", err)
	}
	defer folder.RemoveAll(scratch)
	if err := folder.MkdirAll(logs, 0o755); err != nil {
		return estimator.Sample{}, fmt.Errorf("make a folder for samples: %w", err)
	}
	began := time.Now()
	name := sampleName(unit, t)
	var beside []launch.Job
	for n := 2; n <= unit.Copies; n++ {
		beside = append(beside, unit.Launch(fmt.Sprintf("%s-copy-%d", name, n), t.length, logs, scratch))
	}
	sample, err := Take(ctx, s.toSample(unit, unit.Launch(name, t.length, logs, scratch), t.length, beside...))
	if err != nil {
		return sample, err
	}
	sample.Host = s.HostPrint()
	sample.Inter, sample.Intra = unit.Inter, unit.Intra
	sample.GPUType = unit.GPUType
	for _, w := range sample.Warnings {
		s.Warn("sample", name, w)
	}
	if sample.Lost > 0 {
		s.Warn("disturbed_sample", name, fmt.Sprintf("tfexp was stopped or the machine slept for %.1f s during profiling, "+
			"both times: its estimate may be too long", sample.Lost))
	}
	// If samples run below this process, the function run warns about the load of all of them.
	if !s.busy && !s.ownsLoad() && sample.Busy > hardware.BusyCores && sample.Wall >= leastJudged.Seconds() {
		s.busy = true
		s.Warn("busy_sample", name, fmt.Sprintf("other programs used %.2g CPU cores during profiling: "+
			"estimates are for such a machine", sample.Busy))
	}
	if t.repeat == 0 && t.rank == 0 && unit.Asked {
		// The probe ends the job, which must not end before. A job whose command has no length argument is not run to
		// its end.
		length := probeLength * slices.Max(unit.Lengths)
		if unit.Total > 0 {
			length = min(length, unit.Total)
		}
		costs, err := Probe(ctx, s.toSample(unit, unit.Launch(unit.Name+"-probe", length, logs, scratch), length))
		if err != nil {
			return sample, err
		}
		sample.Pause, sample.Resume, sample.Resize = costs.Pause.Seconds(), costs.Resume.Seconds(), costs.Resize.Seconds()
	}
	sample.Cost = time.Since(began).Seconds()
	return sample, nil
}

// toSample returns the description of a sample for the engine of its unit.
func (s *sampling) toSample(unit *stages.Unit, job launch.Job, length int, beside ...launch.Job) Run {
	kind := unit.Engine
	var nodes scheduler.Cluster
	if unit.Hardware != nil {
		nodes = unit.Hardware.Cluster
	}
	jobs := append([]launch.Job{job}, beside...)
	return Run{
		Beside: beside, Total: unit.Cores,
		Cluster: nodes, Job: job, Length: length, Steps: unit.Steps, GPUs: unit.GPUs, Pick: unit.Pick,
		Descendants: kind.Here,
		Limit:       unit.Limit, Observed: kind.Contained && unit.Hardware != nil && s.Site(kind.Name).Local(unit.Hardware),
		Open: func(ctx context.Context, w watchers) (engine.Engine, error) {
			return s.Site(kind.Name).Engine(ctx, engine.Task{Hardware: unit.Hardware, Cell: "samples", Jobs: jobs,
				Report: w.report, Observe: w.observe})
		},
	}
}

// ownsLoad reports whether the samples run below this process. Only then can the load of other programs be separated
// from their own.
func (s *sampling) ownsLoad() bool {
	return !slices.ContainsFunc(s.units, func(u *stages.Unit) bool { return !u.Engine.Here })
}

// keep stores the samples of a unit. A unit that no job requests is also stored without samples, if the budget had no
// room for it.
func (s *sampling) keep(i int) error {
	unit, samples := s.units[i], s.taken[i]
	s.end(i)
	if s.failed[i] || len(samples) == 0 && unit.Asked {
		return nil
	}
	took, err := s.put(i)
	if err != nil {
		return err
	}
	return s.Note(stages.Note{Event: "sample", Unit: unit.Name, Seconds: took, Key: unit.Hash})
}

// put stores the samples of a unit for this run and later ones. It returns their total time in seconds.
func (s *sampling) put(i int) (took float64, err error) {
	unit, samples := s.units[i], s.taken[i]
	slices.SortStableFunc(samples, func(a, b estimator.Sample) int { return a.Length - b.Length })
	if err := writeSamples(s.Dir, unit, samples); err != nil {
		return 0, err
	}
	raw, err := json.Marshal(samples)
	if err != nil {
		return 0, fmt.Errorf("record samples: %w", err)
	}
	for _, sample := range samples {
		took += sample.Cost
	}
	if err := s.KeepPiece(stage, s.pieces[i].Piece, raw, took); err != nil {
		return 0, err
	}
	s.SetSamples(unit.Hash, samples)
	return took, nil
}

// mostRounds is the largest number of rounds of further samples.
const mostRounds = 8

// rounds takes further samples of jobs whose predictions are less precise than the experiment requires. Each round
// takes one sample of each such job, so that a job's samples come from different moments. The least precise job is
// first; a job without room in the budget is skipped. Jobs with copies are also sampled with their copies in each
// round.
func (s *sampling) rounds(ctx context.Context, room float64) error {
	more, settled := make([]bool, len(s.units)), make([]bool, len(s.units))
	for round := range mostRounds {
		taken := false
		for _, t := range s.unsure(round) {
			if settled[t.unit] || !t.needed && s.guess(t) > room {
				continue
			}
			sample, err := s.one(ctx, s.units[t.unit], t)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil { // the existing samples suffice
				settled[t.unit] = true
				continue
			}
			s.taken[t.unit], more[t.unit], taken = append(s.taken[t.unit], sample), true, true
			room -= sample.Cost
		}
		if !taken {
			break
		}
	}
	return s.record(more)
}

// unsure returns the samples of a round.
func (s *sampling) unsure(round int) []task {
	var all, beside []task
	widths := map[int]float64{} // widths of the predictions' intervals, by unit
	spread := estimator.SpreadOf(s.taken)
	for i, u := range s.units {
		if !s.pieces[i].Make || len(s.taken[i]) == 0 || s.failed[i] {
			continue
		}
		// Later than the planned ones.
		t := task{unit: i, length: slices.Max(u.Lengths), rank: len(u.Lengths)*u.Repeats + round}
		switch longer := estimator.Longer(s.taken[i], u.Total); {
		case u.Copies > 0 && u.Repeats == 1:
			beside = append(beside, t)
			continue
		case longer > 0 && u.Asked && round < mostLonger:
			t.length, t.needed, widths[i] = longer, true, math.Inf(1)
		case u.Total > 0 && u.Repeats == 1:
			e, err := estimator.Linear{}.Fit(estimator.Problem{Samples: s.taken[i], Spread: spread})
			if err != nil {
				continue
			}
			width, ofSamples := e.Width(u.Total)
			if width <= s.Within() || ofSamples < leastGain {
				continue
			}
			widths[i] = width
			if len(s.taken[i][0].Units) == 0 { // samples of other lengths separate start-up from work
				t.length = min(u.Total, t.length+(round+1)*u.Lengths[0])
			}
		default:
			continue
		}
		all = append(all, t)
	}
	slices.SortStableFunc(all, func(a, b task) int { return cmp.Compare(widths[b.unit], widths[a.unit]) })
	if len(all) > 0 {
		all = append(all, beside...)
	}
	return all
}

// mostLonger is the largest number of longer samples of a unit, which are taken if the planned samples are too short to
// show its work.
const mostLonger = 3

// leastGain is the least fraction of a prediction's variance that more samples must be able to reduce.
const leastGain = 0.12

// record stores the samples of the units i for which units[i] is true; they replace the stored samples.
func (s *sampling) record(units []bool) error {
	for i := range units {
		if units[i] {
			if _, err := s.put(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// unestimated has the jobs that lack an estimate for the same reason.
type unestimated struct {
	reason string // without the name of a sample
	first  string // the reason of the first job, with the name of its sample
	jobs   []string
}

// without records that a job has no estimate because its sample failed with err. hint is advice for the user.
func (s *sampling) without(unit *stages.Unit, t task, err error, hint string) {
	reason := strings.TrimPrefix(err.Error(), "sample "+sampleName(unit, t)+": ") + hint
	i := slices.IndexFunc(s.noEstimate, func(u unestimated) bool { return u.reason == reason })
	if i < 0 {
		i = len(s.noEstimate)
		s.noEstimate = append(s.noEstimate, unestimated{reason: reason, first: err.Error() + hint})
	}
	s.noEstimate[i].jobs = append(s.noEstimate[i].jobs, unit.Name)
}

// namedJobs is the largest number of jobs that a warning names.
const namedJobs = 3

// warnNoEstimate warns about the jobs without an estimate, once for each reason.
func (s *sampling) warnNoEstimate() {
	for _, u := range s.noEstimate {
		text := fmt.Sprintf("no estimate for job %s: %s", u.jobs[0], u.first)
		if n := len(u.jobs); n > 1 {
			names := strings.Join(u.jobs[:min(n, namedJobs)], ", ")
			if n > namedJobs {
				names += fmt.Sprintf(" and %d more", n-namedJobs)
			}
			text = fmt.Sprintf("no estimate for %d jobs (%s), for the same reason: %s", n, names, u.reason)
		}
		s.Warn("no_estimate", "", text)
	}
}
