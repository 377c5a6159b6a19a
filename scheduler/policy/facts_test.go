package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler/policy"
)

// What a policy does and needs follows from its choices.
func TestFactsOfPolicies(t *testing.T) {
	turn := policy.Settings{"quantum": time.Second}
	for _, c := range []struct {
		policy policy.Policy
		want   string // what holds, of: pauses, orderPauses, estimates, follows, partial
		title  string
		text   string
	}{
		{policy.Policy{Order: policy.FCFS}, "", "FCFS", "fcfs, strict"},
		{policy.Policy{Order: policy.FCFS, Backfill: policy.FirstFit}, "", "FCFS", "fcfs, first_fit backfill, strict"},
		{policy.Policy{Order: policy.FCFS, Backfill: policy.EASY}, "estimates follows", "FCFS", "fcfs, easy backfill, strict"},
		{policy.Policy{Order: policy.SJF}, "estimates", "SJF", "sjf, strict"},
		{policy.Policy{Order: policy.SRTF}, "pauses orderPauses estimates follows", "SRTF", "srtf, strict, pause longest_run first"},
		{policy.Policy{Order: policy.SJF, Preemption: policy.PausePreemption, Victims: policy.SmallestRequest},
			"pauses estimates follows", "SJF", "sjf, strict, pause smallest_request first"},
		{policy.Policy{Order: policy.EDF, Preemption: policy.PausePreemption}, "pauses", "EDF", "edf, strict, pause longest_run first"},
		{policy.Policy{Order: policy.RoundRobin, Settings: turn}, "orderPauses", "Round robin", "round_robin, quantum 1s, strict"},
		{policy.Policy{Order: policy.MLFQ}, "pauses orderPauses", "Multi-level feedback queues",
			"mlfq, strict, pause longest_run first"},
		{policy.Policy{Order: policy.LAS, Settings: turn}, "pauses orderPauses", "LAS", "las, quantum 1s, strict, pause longest_run first"},
		{policy.Policy{Order: policy.FCFS, Allocation: policy.MaxProp}, "partial", "FCFS", "fcfs, max_prop"},
		{policy.Policy{Order: policy.FCFS, Placement: policy.EarliestFinish}, "estimates follows", "FCFS",
			"fcfs, conservative backfill, earliest finish, strict"},
		{policy.Policy{Order: "of nobody"}, "", "", "of nobody, strict"},
	} {
		p := c.policy
		var got []string
		for _, f := range []struct {
			name  string
			holds bool
		}{{"pauses", p.Pauses()}, {"orderPauses", p.OrderPauses()}, {"estimates", p.Estimates()},
			{"follows", p.FollowsProgress()}, {"partial", p.Partial()}, {"divides", p.Divides()}, {"packs", p.Packs()},
			{"trains", p.Trains()}, {"dividesGPUs", p.DividesGPUs()}, {"batches", p.Batches()}} {
			if f.holds {
				got = append(got, f.name)
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %q, want %q", p, text, c.want)
		}
		if p.Title() != c.title || p.String() != c.text {
			t.Errorf("%q, %q; want %q, %q", p.Title(), p.String(), c.title, c.text)
		}
	}
	if p := (policy.Policy{Order: policy.FCFS, Settings: policy.Settings{policy.Packing: true}}); !p.Packs() {
		t.Error("packing is not seen")
	}
}
