package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// reasons records why jobs start, and why other jobs do not.
type reasons struct {
	jobs []scheduler.Job
	text strings.Builder
}

func (r *reasons) Event(*scheduler.Event) {}

func (r *reasons) Decision(d *scheduler.Decision) {
	fmt.Fprintf(&r.text, "%v %s: %s", d.At, r.jobs[d.Job].Name, d.Reason)
	for _, p := range d.Passed {
		fmt.Fprintf(&r.text, "; %s %s", r.jobs[p.Job].Name, p.Reason)
	}
	r.text.WriteByte('\n')
}

// TestDrawn compares schedules with ones worked by hand, and checks the given reasons.
func TestDrawn(t *testing.T) {
	at, onGPU := schedulertest.At, schedulertest.OnGPU
	malleable := func(least int, j scheduler.Job) scheduler.Job { j.Malleable, j.MinThreads = true, least; return j }
	whole := func(j scheduler.Job) scheduler.Job { j.MinThreads = j.Threads; return j }
	cores := func(n int) scheduler.Cluster { return scheduler.Cluster{Nodes: []scheduler.Node{{Threads: n}}} }
	for _, c := range []struct {
		name          string
		policy        policy.Policy
		cluster       scheduler.Cluster
		jobs          []scheduler.Job
		want, reasons string
	}{
		{"nobody passes", policy.Policy{Order: policy.FCFS}, cores(2), []scheduler.Job{at(0, 1, 3), at(1, 2, 1), at(2, 1, 1)}, `
			A |111|
			B | ..2|
			C |  ..1|
			`, `
			0s A: first in the order
			3s B: first in the order
			4s C: first in the order
			`},
		// C would end at 4, but B starts at 3, so C may not pass B. D ends at 3, so it may.
		{"easy", policy.Policy{Order: policy.FCFS, Backfill: policy.EASY}, cores(2),
			[]scheduler.Job{at(0, 1, 3), at(1, 2, 1), at(2, 1, 2), at(2, 1, 1)}, `
			A |111|
			B | ..2|
			C |  ..11|
			D |  1|
			`, `
			0s A: first in the order
			2s D: fits while jobs before it wait; B needs 2 cores, 1 are free; C would delay "B", which is to start at 3s
			3s B: first in the order
			4s C: first in the order
			`},
		// B needs 5 cores, but at most 4 become free when A shrinks. A shrinks for C, which passes B. From 1 on A has
		// 3 cores for 2 s.
		{"who does not fit is passed when cores are divided", policy.Policy{Order: policy.FCFS, Allocation: policy.MaxProp,
			Backfill: policy.FirstFit}, cores(6),
			[]scheduler.Job{malleable(2, at(0, 4, 8.5)), whole(at(1, 5, 2)), whole(at(1, 3, 2))}, `
			A |433444444|
			B | ........55|
			C | 33|
			`, ""},
		// A and B are matched first. At 1 both have waited longer than half a second. A is faster on the GPU, which is
		// free; B takes the cores. D and E are shorter, but wait for jobs that have waited too long: C until 4, D until
		// 5.
		{"allox starves nobody", policy.Policy{Order: "allox", Settings: policy.Settings{"starvation": time.Second / 2}},
			schedulertest.TwoKinds, []scheduler.Job{onGPU(4, at(0, 2, 9)), onGPU(4, at(0, 2, 9)), onGPU(1, at(0, 2, 9)),
				onGPU(2, at(1, 2, 9)), onGPU(1, at(2, 2, 9))}, `
			A |.1111|
			B |.222222222|
			C |1|
			D | ....11|
			E |  .....1|
			`, `
			0s C: first on gpu, position 3 from the end among 3 jobs; A is matched to gpu, position 2 from the end among 3 jobs; B is matched to gpu, position 1 from the end among 3 jobs
			1s A: has waited longer than 500ms
			1s B: has waited longer than 500ms
			5s D: has waited longer than 500ms
			7s E: has waited longer than 500ms
			`},
	} {
		t.Run(c.name, func(t *testing.T) {
			jobs := schedulertest.Number(c.jobs)
			schedulertest.Simulate(t, c.cluster, c.policy, jobs, simulated.Options{}).Want(t, c.want)
			if c.reasons == "" {
				return
			}
			engine, err := simulated.New(jobs, schedulertest.Work(jobs), simulated.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := &reasons{jobs: jobs}
			r := scheduler.Run{Policy: c.policy, Cluster: c.cluster, Jobs: jobs, Engine: engine, Recorder: got}
			if _, err := r.Execute(t.Context()); err != nil {
				t.Fatal(err)
			}
			want := strings.ReplaceAll(strings.TrimLeft(c.reasons, "\n"), "\t", "")
			if diff := cmp.Diff(want, got.text.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
