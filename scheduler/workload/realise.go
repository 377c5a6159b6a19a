package workload

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// Submit is a number of equal jobs that a submit block adds to a workload.
type Submit struct {
	// Job is the template of the jobs, without Number, Name and Arrival. Deadline is relative to the arrival of each
	// job; Never or 0 means no deadline.
	Job      scheduler.Job
	Count    int
	Arrivals Arrivals
}

// Realise draws the arrivals of a workload and returns its jobs, numbered in the order of batches. The name of a job
// is its class and a number that counts through the whole workload: short-1, short-2, … It skips names in taken.
//
// The random draws depend only on the seed, the name of the workload and the index of the batch.
func Realise(name string, batches []Submit, seed int64, taken map[string]bool) ([]scheduler.Job, error) {
	total := 0
	for _, b := range batches {
		total += max(b.Count, 0)
	}
	jobs := make([]scheduler.Job, 0, total)
	var names strings.Builder // the names of many jobs share one allocation
	var digits [20]byte
	classes := map[string]int{}
	for i, b := range batches {
		if b.Count < 0 {
			return nil, fmt.Errorf("workload %q: submit %d: a count of %d", name, i+1, b.Count)
		}
		times, err := b.Arrivals.draw(b.Count, seed, ArrivalsPath(name, i)...)
		if err != nil {
			return nil, SubmitError(name, i, err)
		}
		count := classes[b.Job.Class]
		for _, at := range times {
			jobs = append(jobs, b.Job)
			j := &jobs[len(jobs)-1]
			j.Number = len(jobs) - 1
			// A builder that grows would leave a copy of its bytes behind.
			if most := len(j.Class) + 1 + len(digits); names.Cap()-names.Len() < most {
				names = strings.Builder{}
				names.Grow(min(most*(total-j.Number), max(namesTogether, most)))
			}
			from := names.Len()
			for {
				count++
				names.WriteString(j.Class)
				names.WriteByte('-')
				names.Write(strconv.AppendInt(digits[:0], int64(count), 10))
				if j.Name = names.String()[from:]; !taken[j.Name] {
					break
				}
				from = names.Len()
			}
			j.Arrival = at
			if j.Deadline <= 0 || j.Deadline >= scheduler.Never-at {
				j.Deadline = scheduler.Never
			} else {
				j.Deadline += at
			}
		}
		classes[b.Job.Class] = count
	}
	return jobs, nil
}

// ArrivalsPath returns the path of the random stream for the arrivals of a batch.
func ArrivalsPath(workload string, batch int) []string {
	return []string{"workload", workload, "submit", strconv.Itoa(batch), "arrivals"}
}

// SubmitError wraps an error with the number of its batch in a workload.
func SubmitError(workload string, batch int, err error) error {
	return fmt.Errorf("workload %q: submit block %d: %w", workload, batch+1, err)
}

// namesTogether is the number of bytes that one allocation has for names; less if there are few jobs.
const namesTogether = 1 << 16

// NextName returns the next name of a class that is not in taken, and updates count.
func NextName(class string, count map[string]int, taken map[string]bool) string {
	for {
		count[class]++
		if name := class + "-" + strconv.Itoa(count[class]); !taken[name] {
			return name
		}
	}
}

// draw returns the arrival times of count jobs.
func (a Arrivals) draw(count int, seed int64, path ...string) ([]time.Duration, error) {
	if a.Start < 0 || a.Mean < 0 || a.SD < 0 {
		return nil, errors.New("a time of the arrivals is negative")
	}
	times := make([]time.Duration, count)
	rng := Stream(seed, path...)
	at, err := a.Start, error(nil)
	for i := range times {
		if at, err = a.Next(at, i, count, rng); err != nil {
			return nil, err
		}
		times[i] = at
	}
	return times, nil
}

// Next returns the arrival of job i of count jobs. at is the arrival of the job before it, and Start for the first
// job.
func (a *Arrivals) Next(at time.Duration, i, count int, rng *rand.Rand) (time.Duration, error) {
	switch a.Kind {
	case At:
		switch len(a.Times) {
		case 1:
			at = a.Times[0]
		case count:
			at = a.Times[i]
		default:
			return 0, fmt.Errorf("there are %d arrival times for %d jobs", len(a.Times), count)
		}
		if at < 0 {
			return 0, fmt.Errorf("an arrival at %s", at)
		}
	case Every:
		if i > 0 {
			at += a.Mean
		}
	case Exponential:
		at += time.Duration(math.Round(rng.ExpFloat64() * float64(a.Mean)))
	case Normal:
		at += time.Duration(math.Round(max(float64(a.Mean)+rng.NormFloat64()*float64(a.SD), 0)))
	case "":
	default:
		return 0, fmt.Errorf("unknown kind of arrivals %q", a.Kind)
	}
	if at < 0 {
		return 0, fmt.Errorf("job %d of %d would arrive later than 292 years after the start: %w", i+1, count, ErrLate)
	}
	return at, nil
}
