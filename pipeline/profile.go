package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/stages/profile"
)

// profile takes the samples that are missing. A job that cannot be sampled
// has no prediction, which is a warning: its cells run all the same.
func (r *run) profile(ctx context.Context) error {
	total, reused := len(r.Profiles), 0
	for _, w := range r.Profiles {
		if w.Reuse {
			reused++
		}
	}
	if total == 0 {
		return nil
	}
	start := time.Now()
	s := &sampling{run: r, total: total, done: reused, taken: make([][]estimator.Sample, total), failed: make([]bool, total), over: make([]bool, total)}
	r.observe(Progress{Kind: StageStart, Stage: "profile", Total: total, Reused: reused})
	load := hardware.NewLoadSampler()
	err := s.all(ctx)
	if err != nil {
		return err
	}
	// Over a shorter time the load cannot be told; containers are not ours to
	// the system, and would count as others.
	if len(r.state.containers) == 0 && s.done > reused && time.Since(start) > profile.LeastJudged && load.Others() > hardware.BusyCores {
		r.warn("busy_profile", "", fmt.Sprintf(
			"other processes used more than %.2g cores, on the mean, while jobs were sampled: estimates may be too long (tfexp run --fresh samples again)", hardware.BusyCores))
	}
	r.observe(Progress{Kind: StageEnd, Stage: "profile", Done: s.done, Total: total, Reused: reused, Elapsed: time.Since(start)})
	return nil
}

// sampling is the profile stage under way. What it took is by unit.
type sampling struct {
	*run
	total, done int
	taken       [][]estimator.Sample
	failed      []bool
	over        []bool // no more of its samples are taken
}

// task is one sample to take.
type task struct {
	unit, length, repeat int
	// extra is a sample on a number of threads that no job asks for, rank the
	// place of its length among those of the unit.
	extra bool
	rank  int
}

// tasks lists the samples that are missing, unit by unit, and repeats when all units
// have had their turn: a machine that is slow for a moment shall not be so for all
// samples of one. Under a budget they are the ones that every prediction needs, and
// then the others by what they are good for.
func (s *sampling) tasks() (needed, others []task) {
	for i, u := range s.state.profiles {
		if s.Profiles[i].Reuse {
			continue
		}
		for repeat := range u.repeats {
			for rank, n := range u.lengths {
				t := task{unit: i, length: n, repeat: repeat, extra: !u.asked, rank: rank}
				if s.spec.Profile.Budget == 0 || u.asked && rank < 2 && repeat == 0 {
					needed = append(needed, t)
				} else {
					others = append(others, t)
				}
			}
		}
	}
	slices.SortStableFunc(needed, func(a, b task) int { return a.repeat - b.repeat })
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

// all takes what is missing, and keeps it.
func (s *sampling) all(ctx context.Context) error {
	needed, others := s.tasks()
	left := make([]int, len(s.taken)) // samples of each unit
	for _, t := range needed {
		left[t.unit]++
	}
	for _, t := range needed {
		if err := s.take(ctx, t); err != nil {
			return err
		}
		left[t.unit]--
		if left[t.unit] == 0 && s.spec.Profile.Budget == 0 {
			if err := s.keep(t.unit); err != nil {
				return err
			}
		}
	}
	if s.spec.Profile.Budget == 0 {
		return nil
	}
	if err := s.within(ctx, others); err != nil {
		return err
	}
	for i := range s.taken {
		if !s.Profiles[i].Reuse {
			if err := s.keep(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// within takes the samples for which the budget has room: a part of what the
// real cells are predicted to take by the samples so far.
func (s *sampling) within(ctx context.Context, others []task) error {
	for i, samples := range s.taken {
		if len(samples) > 0 {
			s.setSamples(s.state.profiles[i].key.Hash(), samples)
		}
	}
	if err := s.predict(); err != nil {
		return err
	}
	var cells time.Duration
	for i, w := range s.Work {
		if s.Cells[i].Real() {
			cells += w.Predicted
		}
	}
	room := s.spec.Profile.Budget*cells.Seconds() - s.cost()
	if room < 0 {
		s.warn("budget", "", fmt.Sprintf("the two shortest samples of each job took %.3g s more than the budget of %.3g s for sampling (%.3g%% of %s): no others are taken",
			-room, s.spec.Profile.Budget*cells.Seconds(), 100*s.spec.Profile.Budget, cells.Round(time.Millisecond)))
	}
	skipped := 0
	for _, t := range others {
		if s.guess(t) > room {
			skipped++
			continue
		}
		before := s.cost()
		if err := s.take(ctx, t); err != nil {
			return err
		}
		room -= s.cost() - before
	}
	if skipped > 0 {
		return s.journal.Add(store.JournalEntry{Event: "budget", Text: fmt.Sprintf("%d of %d further samples are left out", skipped, len(others))})
	}
	return nil
}

// cost is what sampling has taken in seconds, in earlier runs as well.
func (s *sampling) cost() float64 {
	sum := 0.0
	for i, u := range s.state.profiles {
		samples := s.taken[i]
		if s.Profiles[i].Reuse {
			samples = s.state.samples[u.key.Hash()]
		}
		for _, sample := range samples {
			sum += sample.Cost
		}
	}
	return sum
}

// guess is how long a sample will take in seconds, by the longest that its
// program has been sampled for: in proportion to its length, and to its threads
// where it has fewer.
func (s *sampling) guess(t task) float64 {
	unit := &s.state.profiles[t.unit]
	longest := 0.0
	for _, i := range s.state.families[s.family(unit.job)] {
		for _, known := range s.taken[i] {
			guess := known.Wall * max(1, float64(t.length)/float64(known.Length)) *
				max(1, float64(known.Threads)/float64(unit.job.Threads.Request))
			longest = max(longest, guess)
		}
	}
	return longest
}

// take takes one sample. A failure is a warning: the unit has no more samples
// then, and if it has none at all the job has no estimate.
func (s *sampling) take(ctx context.Context, t task) error {
	unit := &s.state.profiles[t.unit]
	if s.failed[t.unit] {
		return nil
	}
	s.observe(Progress{Kind: UnitStart, Stage: "profile", Unit: unit.name, Done: s.done, Total: s.total})
	sample, err := s.sample(ctx, unit, t)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, new(*EngineError)):
		return err
	case err != nil && unit.asked:
		s.failed[t.unit], s.taken[t.unit] = true, nil
		s.warn("no_estimate", "", fmt.Sprintf("no estimate for job %s: %v", unit.name, err))
	case err != nil:
		s.failed[t.unit], s.taken[t.unit] = true, nil
		s.warn("sample", "", fmt.Sprintf("%v: the speed-up of job %s is estimated without %s", err, unit.job.Name, plural(unit.job.Threads.Request, "thread")))
	default:
		s.taken[t.unit] = append(s.taken[t.unit], sample)
	}
	if s.failed[t.unit] || t.repeat == unit.repeats-1 && t.rank == len(unit.lengths)-1 {
		s.end(t.unit)
	}
	return nil
}

// end tells that no more samples of a unit are taken.
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
	s.observe(Progress{Kind: UnitEnd, Stage: "profile", Unit: s.state.profiles[i].name, Done: s.done, Total: s.total, Elapsed: seconds(took)})
}

// sample runs one sample, again where other processes disturbed it. The first of
// a unit that a job asks for also measures what it costs the engine to pause,
// resume and resize such a job.
func (s *sampling) sample(ctx context.Context, unit *profileUnit, t task) (estimator.Sample, error) {
	logs := filepath.Join(s.Dir, profileDir)
	scratch, err := os.MkdirTemp(s.Dir, ".scratch-")
	if err != nil {
		return estimator.Sample{}, fmt.Errorf("make a folder for samples: %w", err)
	}
	defer os.RemoveAll(scratch)
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return estimator.Sample{}, fmt.Errorf("make a folder for samples: %w", err)
	}
	job, began := unit.job, time.Now()
	opts := s.engineOptions()
	name := fmt.Sprintf("%s-sample-%d", unit.name, t.repeat*len(unit.lengths)+t.rank+1)
	launch := s.state.programs.launch(job, name, t.length, launchDirs{logs, scratch})
	sample, err := profile.TakeQuiet(ctx, profile.Run{
		Job: launch, Open: s.sampleEngine(ctx, job, launch),
		Length: t.length, Steps: job.Steps > 0, GPUs: job.GPUs, Pick: pick(job.TimeWriter),
	}, opts)
	if err != nil {
		return sample, err
	}
	sample.Host = s.hostPrint()
	sample.Inter, sample.Intra = job.Threads.Inter, job.Threads.Intra
	sample.GPUType = s.gpuType(job)
	for _, w := range sample.Warnings {
		s.warn("sample", "", fmt.Sprintf("%s: %s", name, w))
	}
	if sample.Busy > hardware.BusyCores {
		s.warn("busy_sample", "", fmt.Sprintf("%s: other processes used %.2g cores while it ran, each time that it was tried: its estimate may be too long", name, sample.Busy))
	}
	if t.repeat == 0 && t.rank == 0 && unit.asked {
		launch := s.state.programs.launch(job, unit.name+"-probe", t.length, launchDirs{logs, scratch})
		costs, err := profile.Probe(ctx, profile.Run{Job: launch, Open: s.sampleEngine(ctx, job, launch)}, opts)
		if err != nil {
			return sample, err
		}
		sample.Pause, sample.Resume, sample.Resize = costs.Pause.Seconds(), costs.Resume.Seconds(), costs.Resize.Seconds()
	}
	sample.Cost = time.Since(began).Seconds()
	return sample, nil
}

// pick is the time-writer line that the language's word stands for.
func pick(word string) contract.Pick {
	switch word {
	case "first":
		return contract.First
	case "longest":
		return contract.Longest
	}
	return contract.Last
}

// gpuType is the model of the GPUs that a job runs on; empty without any.
func (p *Plan) gpuType(j *experiments.Job) string {
	if j.GPUs == 0 {
		return ""
	}
	return p.state.host.GPUType
}

// hostPrint is the fingerprint of this machine in a word, as samples and past
// runs carry it.
func (p *Plan) hostPrint() string {
	var k store.Key
	for _, s := range p.state.host.Fingerprint() {
		k.Add("host."+s.Name, s.Value)
	}
	return k.Hash()[:12]
}

// savedSamples is a file of the profile folder: samples with the description
// of their key, so that they are found while a running tfexp holds the cache,
// and without one.
type savedSamples struct {
	Description string             `json:"description"`
	Samples     []estimator.Sample `json:"samples"`
}

// profileDir holds the logs of the samples, and what they measured.
const profileDir = "profile"

// kindName names a job kind: the job block, and its variant if it has one.
func kindName(j *experiments.Job) string {
	if j.Variant == "" {
		return j.Name
	}
	return j.Name + "-" + j.Variant
}

func samplesPath(dir string, unit profileUnit) string {
	return filepath.Join(dir, profileDir, unit.name+".json")
}

// readSamples returns the samples of a unit from its plain file, if they were
// taken under the key.
func readSamples(dir string, unit profileUnit) ([]estimator.Sample, bool) {
	raw, err := os.ReadFile(samplesPath(dir, unit))
	var s savedSamples
	if err != nil || json.Unmarshal(raw, &s) != nil || s.Description != unit.key.Description() {
		return nil, false
	}
	return s.Samples, true
}

// keep records what was taken of a unit. A unit that no job asks for is also
// recorded without samples, when the budget had no room for any.
func (s *sampling) keep(i int) error {
	unit, samples := &s.state.profiles[i], s.taken[i]
	s.end(i)
	if s.failed[i] || len(samples) == 0 && unit.asked {
		return nil
	}
	slices.SortStableFunc(samples, func(a, b estimator.Sample) int { return a.Length - b.Length })
	return s.keepSamples(unit, samples)
}

func (r *run) keepSamples(unit *profileUnit, samples []estimator.Sample) error {
	raw, err := json.Marshal(samples)
	if err != nil {
		return fmt.Errorf("record samples: %w", err)
	}
	if err := writeJSON(samplesPath(r.Dir, *unit), savedSamples{unit.key.Description(), samples}); err != nil {
		return err
	}
	took := 0.0
	for _, s := range samples {
		took += s.Cost
	}
	name := profileUnitName(unit.job)
	err = r.cache.Put(unit.key, store.Entry{
		Stage: "profile", Unit: name, Description: unit.key.Description(),
		Created: time.Now(), Seconds: took,
	}, raw)
	if err != nil {
		return err
	}
	r.setSamples(unit.key.Hash(), samples)
	return r.journal.Add(store.JournalEntry{Event: "sample", Unit: unit.name, Seconds: took, Key: unit.key.Hash()})
}
