package external

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
	"github.com/tfexp/tfexp/stages"
)

// batsim is version 3 of the protocol of the simulator Batsim (batsim.readthedocs.io, protocol), as pybatsim speaks it.
// Each core is a resource. A job has the id "w0!NUMBER".
type batsim struct {
	*desk
	events  []batsimEvent // of the next message
	later   []batsimEvent // decisions of the program for later, by time
	calls   []time.Duration
	arrived int
}

// batsimEvent is an event of a message, in both directions.
type batsimEvent struct {
	Timestamp batsimTime      `json:"timestamp"`
	Type      string          `json:"type"`
	Data      json.RawMessage `json:"data"`
}

// batsimMessage is a message, in both directions.
type batsimMessage struct {
	Now    batsimTime    `json:"now"`
	Events []batsimEvent `json:"events"`
}

// batsimTime is an instant, which messages have in seconds.
type batsimTime time.Duration

// MarshalJSON writes seconds, exactly.
func (t batsimTime) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%d.%09d", int64(t)/1e9, int64(t)%1e9), nil
}

// UnmarshalJSON reads seconds, to the nanosecond.
func (t *batsimTime) UnmarshalJSON(raw []byte) error {
	s, err := strconv.ParseFloat(string(raw), 64)
	if err == nil && !(s >= 0 && s < math.MaxInt64/1e9) {
		err = fmt.Errorf("%s s is not a time of a simulation", raw)
	}
	*t = batsimTime(math.Round(s * 1e9))
	return err
}

const batsimWorkload = "w0"

func (b *batsim) add(at time.Duration, kind string, data any) {
	raw, _ := json.Marshal(data) // of numbers and texts
	b.events = append(b.events, batsimEvent{batsimTime(at), kind, raw})
}

func (b *batsim) hello(*stages.Task) ([]byte, error) {
	resources := formats.BatsimResources(b.run.Cluster)
	type object map[string]any
	b.add(0, "SIMULATION_BEGINS", object{
		"nb_resources": len(resources), "nb_compute_resources": len(resources), "nb_storage_resources": 0,
		"allow_compute_sharing": false, "allow_storage_sharing": false, "allow_time_sharing": false,
		"config": map[string]bool{"profiles-forwarded-on-submission": true, "dynamic-jobs-enabled": false,
			"dynamic-jobs-acknowledged": false, "forward-unknown-events": false, "redis-enabled": false},
		"compute_resources": resources, "storage_resources": []formats.BatsimResource{},
		"workloads": map[string]string{batsimWorkload: b.cell.Workload}, "profiles": object{batsimWorkload: object{}},
	})
	return b.pack(0), nil
}

// pack returns the message with the events so far.
func (b *batsim) pack(now time.Duration) []byte {
	raw, _ := json.Marshal(batsimMessage{batsimTime(now), b.events}) // all parts are valid JSON
	b.events = b.events[:0]
	return raw
}

func (b *batsim) greeted(answer []byte) error {
	b.ready.Ask = askAlways
	return b.take(answer, 0)
}

func (b *batsim) hear(e *scheduler.Event) {
	switch e.Kind {
	case scheduler.Arrive:
		b.submit(&b.run.Jobs[e.Job], e.At)
	case scheduler.Finish, scheduler.Fail, scheduler.Stop:
		state, code := "COMPLETED_SUCCESSFULLY", 0
		if e.Kind != scheduler.Finish {
			state, code = "COMPLETED_FAILED", 1
		}
		b.add(e.At, "JOB_COMPLETED", map[string]any{"job_id": batsimID(e.Job), "job_state": state, "return_code": code,
			"alloc": ""})
	}
}

// submit announces the arrival of a job.
func (b *batsim) submit(j *scheduler.Job, at time.Duration) {
	profile := fmt.Sprintf("%s-%d", j.Class, j.Number)
	type description struct {
		ID       string      `json:"id"`
		Submit   batsimTime  `json:"subtime"`
		Cores    int         `json:"res"`
		Profile  string      `json:"profile"`
		Walltime *batsimTime `json:"walltime,omitempty"`
	}
	job := description{ID: batsimID(j.Number), Submit: batsimTime(at), Cores: j.Threads, Profile: profile}
	if j.Predicted > 0 {
		wall := batsimTime(j.Predicted)
		job.Walltime = &wall
	}
	b.add(at, "JOB_SUBMITTED", map[string]any{"job_id": job.ID, "job": job,
		"profile": map[string]any{"type": "delay", "delay": batsimTime(j.Predicted)}})
	if b.arrived++; b.arrived == len(b.run.Jobs) {
		b.add(at, "NOTIFY", map[string]string{"type": "no_more_static_job_to_submit"})
	}
}

func batsimID(job int) string { return fmt.Sprint(batsimWorkload, "!", job) }

// woke notes a requested call of the program, or leaves due decisions to the next dispatch.
func (b *batsim) woke() {
	now := b.wakes
	b.calls = slices.DeleteFunc(b.calls, func(at time.Duration) bool {
		if at <= now {
			b.add(now, "REQUESTED_CALL", map[string]string{})
		}
		return at <= now
	})
	b.wakes = scheduler.Never
}

func (b *batsim) message(now time.Duration) []byte {
	if len(b.events) > 0 {
		return b.pack(now)
	}
	if err := b.due(); err != nil {
		b.err = fmt.Errorf("policy %q: at %s: %w", b.cell.Policy, now, err)
	}
	return nil
}

func (b *batsim) carryOut(answer []byte) error {
	if err := b.take(answer, b.Now()); err != nil {
		return b.talk.quote(err.Error())
	}
	return b.due()
}

// take takes the decisions of the program, for now or for later.
func (b *batsim) take(answer []byte, now time.Duration) error {
	var m batsimMessage
	if err := json.Unmarshal(answer, &m); err != nil {
		return fmt.Errorf("its answer %s is not of Batsim's protocol: %w", shown(answer), err)
	}
	for _, e := range m.Events {
		if e.Type == "CALL_ME_LATER" {
			var call struct {
				At batsimTime `json:"timestamp"`
			}
			if err := json.Unmarshal(e.Data, &call); err != nil {
				return fmt.Errorf("its %s: %w", e.Type, err)
			}
			if at := time.Duration(call.At); at <= now {
				return fmt.Errorf("it wants to be called at %s, which is not after now, %s", at, now)
			}
			b.calls = append(b.calls, time.Duration(call.At))
			continue
		}
		b.later = append(b.later, e)
	}
	slices.SortStableFunc(b.later, func(x, y batsimEvent) int { return int(min(max(x.Timestamp-y.Timestamp, -1), 1)) })
	return nil
}

// due carries out the decisions due by now, and sets the next call.
func (b *batsim) due() error {
	for len(b.later) > 0 && time.Duration(b.later[0].Timestamp) <= b.Now() {
		e := b.later[0]
		b.later = b.later[1:]
		if err := b.perform(&e); err != nil {
			return err
		}
	}
	b.wakes = scheduler.Never
	for _, at := range b.calls {
		b.wakes = min(b.wakes, at)
	}
	if len(b.later) > 0 {
		b.wakes = min(b.wakes, time.Duration(b.later[0].Timestamp))
	}
	return nil
}

// perform carries out an event of an answer.
func (b *batsim) perform(e *batsimEvent) error {
	switch e.Type {
	case "EXECUTE_JOB":
	case "SET_JOB_METADATA", "PUBLISH", "NOTIFY":
		return nil // of no consequence
	default:
		return fmt.Errorf("it answers %s, which tfexp does not carry out: only EXECUTE_JOB and CALL_ME_LATER are", e.Type)
	}
	var run struct {
		Job   string `json:"job_id"`
		Alloc string `json:"alloc"`
	}
	if err := json.Unmarshal(e.Data, &run); err != nil {
		return fmt.Errorf("its EXECUTE_JOB: %w", err)
	}
	number, err := strconv.Atoi(strings.TrimPrefix(run.Job, batsimWorkload+"!"))
	if err != nil || number < 0 || number >= len(b.run.Jobs) {
		return fmt.Errorf("EXECUTE_JOB of job %q: there is no such job", run.Job)
	}
	name := b.run.Jobs[number].Name
	err = b.do("start", name, &decision{On: strings.ReplaceAll(strings.TrimSpace(run.Alloc), " ", ",")})
	if err != nil {
		return fmt.Errorf("EXECUTE_JOB of job %q (%s): %w", run.Job, name, err)
	}
	return nil
}

func (b *batsim) bye() []byte {
	now := time.Duration(0)
	if b.View != nil {
		now = b.Now()
	}
	b.events = b.events[:0]
	b.add(now, "SIMULATION_ENDS", map[string]string{})
	return b.pack(now)
}

func (b *batsim) left([]byte) error { return nil }
