package forecast

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages/batch"
)

// Parameters of the random draws.
const (
	// mostRatios is the number of run times that are kept of each kind of jobs: the latest.
	mostRatios = 200
	// half is the number of run times of a kind at which the kind has half of the weight. Wider kinds have the other
	// half.
	half = 4
	// recent is the length of the latest part of the log, from which arrivals are drawn.
	recent = 60 * 24 * time.Hour
	// onward is the probability that the arrivals of an hour are followed by the arrivals of the next hour in the log.
	onward = 0.75
)

// past is the information that the log contains up to an instant.
type past struct {
	at     time.Duration
	ratios map[string][]float64 // by kind of job: the latest ratios of run time to requested time, or seconds of run time
	log    []logged             // jobs that have arrived
	slot   time.Duration        // length of a stretch of the log (a slot) from which arrivals are drawn
	slots  map[int64][]int64    // the numbers of the log's slots, by hour of the week, hour of the day, or all
	first  []int                // index of the first job in the log, by slot
	base   int64                // the number of the first slot
}

// limited reports whether a job has a requested time, by which its run time is divided.
func limited(j *scheduler.Job) bool { return j.Predicted > 0 && j.Predicted < batch.NoLimit }

// kindsOf returns the kinds of a job, the narrowest first: the user's jobs with the same request, all jobs of the user,
// all jobs of the account, and all jobs. Run times in seconds have their own kinds.
func kindsOf(j *scheduler.Job, seconds bool) [4]string {
	account, unit := "", ""
	if seconds {
		unit = "t"
	}
	if s := j.Submission(); s != nil {
		account = s.Account
	}
	user := account + "\x00" + j.User
	shape := user + "\x00" + strconv.Itoa(j.Threads) + "\x00" + strconv.FormatInt(int64(j.Predicted), 36)
	return [4]string{unit + "s" + shape, unit + "u" + user, unit + "a" + account, unit}
}

// unitOf returns the divisor of run times: the requested time, or a second for a job without one.
func unitOf(j *scheduler.Job) time.Duration {
	if limited(j) {
		return j.Predicted
	}
	return time.Second
}

// known returns the information that the log contains up to an instant.
func (t *Twin) known(at time.Duration) *past {
	p := &past{at: at, ratios: map[string][]float64{}}
	n, _ := slices.BinarySearchFunc(t.log, at, func(j logged, at time.Duration) int {
		if j.Arrival <= at {
			return -1
		}
		return 1
	})
	p.log = t.log[:n]
	var ended []int
	for i := range p.log {
		if p.log[i].end <= at {
			ended = append(ended, i)
		}
	}
	slices.SortFunc(ended, func(a, b int) int { return int(max(min(p.log[b].end-p.log[a].end, 1), -1)) })
	for _, i := range ended { // the latest end comes first
		j := &p.log[i]
		add := func(unit time.Duration, seconds bool) {
			for _, k := range kindsOf(&j.Job, seconds) {
				if list := p.ratios[k]; len(list) < mostRatios {
					p.ratios[k] = append(list, float64(j.end-j.start)/float64(unit))
				}
			}
		}
		if add(time.Second, true); limited(&j.Job) {
			add(unitOf(&j.Job), false)
		}
	}
	p.rhythm()
	return p
}

// rhythm divides the recent part of the log into slots of an hour. A log of few days has shorter slots.
func (p *past) rhythm() {
	if len(p.log) == 0 {
		return
	}
	from := max(p.log[0].Arrival, p.at-recent)
	p.slot = min(time.Hour, max((p.at-from)/24, time.Second))
	p.base = int64((from + p.slot - 1) / p.slot)
	end := int64(p.at / p.slot) // the present slot is not complete
	p.slots = map[int64][]int64{}
	job := 0
	for s := p.base; s < end; s++ {
		for job < len(p.log) && p.log[job].Arrival < time.Duration(s)*p.slot {
			job++
		}
		p.first = append(p.first, job)
		for _, k := range p.classes(s) {
			p.slots[k] = append(p.slots[k], s)
		}
	}
}

// classes returns the groups of slots to draw from, the narrowest first: the same hour of the week, the same hour of
// the day, and all. Slots shorter than an hour form one group.
func (p *past) classes(slot int64) [3]int64 {
	if p.slot < time.Hour {
		return [3]int64{-1, -1, -1}
	}
	return [3]int64{slot % 168, 1000 + slot%24, -1}
}

// least is the number of slots that a group must have to be drawn from.
const least = 3

// arrivals draws the jobs that arrive up to an instant, from slots of the log. The run times of these jobs are the
// recorded ones, where they are known.
func (p *past) arrivals(until time.Duration, r *rand.Rand) (jobs []scheduler.Job, runs []time.Duration) {
	if len(p.first) == 0 {
		return nil, nil
	}
	source := int64(-1)
	for s := int64(p.at / p.slot); time.Duration(s)*p.slot < until; s++ {
		if source++; source <= 0 || r.Float64() > onward || int(source-p.base) >= len(p.first) {
			for _, k := range p.classes(s) {
				if list := p.slots[k]; len(list) >= least || k == -1 {
					source = list[r.IntN(len(list))]
					break
				}
			}
		}
		last := len(p.log)
		if n := int(source-p.base) + 1; n < len(p.first) {
			last = p.first[n]
		}
		for i := p.first[source-p.base]; i < last; i++ {
			from := &p.log[i]
			if from.Arrival >= time.Duration(source+1)*p.slot {
				break
			}
			at := from.Arrival + time.Duration(s-source)*p.slot
			run := from.end - from.start
			if from.end > p.at {
				run = p.draw(&from.Job, 0, r)
			}
			if at <= p.at || at >= until {
				continue
			}
			j := from.Job
			j.Arrival = at
			jobs, runs = append(jobs, j), append(runs, run)
		}
	}
	return jobs, runs
}

// draw draws the total run time of a job that has run for some time, from the longer run times of its kinds. A narrow
// kind has more weight the more longer run times it has.
func (p *past) draw(j *scheduler.Job, ran time.Duration, r *rand.Rand) time.Duration {
	unit := unitOf(j)
	bound := float64(ran) / float64(unit)
	var longer [4]int // number of longer run times, by kind
	var weights [4]float64
	kinds, left, sum := kindsOf(j, !limited(j)), 1.0, 0.0
	for k, kind := range kinds {
		list := p.ratios[kind]
		if len(list) == 0 {
			continue
		}
		for _, x := range list {
			if x > bound {
				longer[k]++
			}
		}
		n := float64(len(list))
		own := left * n / (n + half)
		if k == len(kinds)-1 {
			own = left
		}
		left -= own
		weights[k] = own * float64(longer[k]) / n // the remaining weight after the time that the job has run
		sum += weights[k]
	}
	whole := time.Duration(0)
	if limited(j) {
		whole = j.Predicted
	}
	if sum == 0 { // no run time is longer: the job uses its whole request
		return max(whole, ran+ran/10+time.Second)
	}
	at := r.Float64() * sum
	for k, w := range weights {
		if at -= w; at >= 0 || w == 0 {
			continue
		}
		n := r.IntN(longer[k])
		for _, x := range p.ratios[kinds[k]] {
			if x > bound {
				if n--; n < 0 {
					return max(time.Duration(x*float64(unit)), ran+1, 1)
				}
			}
		}
	}
	return max(whole, ran+time.Second)
}
