package policy_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	_ "github.com/tfexp/tfexp/stages/allox" // its orders are tested too
	_ "github.com/tfexp/tfexp/stages/gavel"
	_ "github.com/tfexp/tfexp/stages/planned"
	_ "github.com/tfexp/tfexp/stages/published"
	"github.com/tfexp/tfexp/stages/servers/strategies"
)

// A policy has the same key after it was written and read again.
func TestPoliciesAreWrittenDown(t *testing.T) {
	for _, p := range []policy.Policy{
		{Order: policy.RoundRobin, Settings: policy.Settings{"quantum": 1500 * time.Millisecond}},
		{Order: "allox", Settings: policy.Settings{"alpha": 0.3}},
		{Order: policy.SJF, Placement: "earliest_finish"},
	} {
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var again policy.Policy
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got, want := again.KeyLines(), p.KeyLines(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: key %v, want %v", text, got, want)
		}
	}
}

func TestKeyLines(t *testing.T) {
	p := policy.Policy{Order: "las", Allocation: policy.MaxProp, Settings: policy.Settings{"quantum": time.Second}}
	var got []string
	for _, l := range p.KeyLines() {
		got = append(got, l.Label+" "+l.Value)
	}
	want := []string{
		"policy.order las", "policy.backfill none", "policy.allocation max_prop", "policy.allocation.version 2",
		"policy.preemption pause", "policy.victims longest_run", "policy.quantum 1s",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("key\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for want, p := range map[string]policy.Policy{
		"quantum is a duration, not float64": {Order: "las", Settings: policy.Settings{"quantum": 1.0}},
		"alpha of 2 is out of range":         {Order: "allox", Settings: policy.Settings{"alpha": 2.0}},
		"needs a quantum":                    {Order: "fair"},
		"implies preemption":                 {Order: "srtf", Preemption: policy.NoPreemption},
	} {
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
}

// A name can be registered only once.
func TestNamesAreRegisteredOnce(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a second fcfs is registered")
		}
	}()
	policy.RegisterOrder(policy.OrderChoice{
		Choice: policy.Choice{Name: policy.FCFS},
		New:    func(policy.Setup) scheduler.Ranker { return nil },
	})
}

// The actions that a policy takes and the facts that it needs follow from its choices.
func TestFactsOfPolicies(t *testing.T) {
	turn := policy.Settings{"quantum": time.Second}
	for _, c := range []struct {
		policy policy.Policy
		want   string // which of these apply: pauses, orderPauses, estimates, follows, partial
		title  string
		text   string
	}{
		{policy.Policy{Order: policy.FCFS}, "", "FCFS", "fcfs, strict"},
		{policy.Policy{Order: policy.FCFS, Backfill: policy.FirstFit}, "", "FCFS", "fcfs, first_fit backfill, strict"},
		{policy.Policy{Order: policy.FCFS, Backfill: policy.EASY}, "estimates follows", "FCFS", "fcfs, easy backfill, strict"},
		{policy.Policy{Order: policy.SJF}, "estimates", "SJF", "sjf, strict"},
		{policy.Policy{Order: "srtf"}, "pauses orderPauses estimates follows", "SRTF", "srtf, strict, pause longest_run first"},
		{policy.Policy{Order: policy.SJF, Preemption: policy.PausePreemption, Victims: policy.SmallestRequest},
			"pauses estimates follows", "SJF", "sjf, strict, pause smallest_request first"},
		{policy.Policy{Order: "edf", Preemption: policy.PausePreemption}, "pauses", "EDF", "edf, strict, pause longest_run first"},
		{policy.Policy{Order: policy.RoundRobin, Settings: turn}, "orderPauses", "Round robin", "round_robin, quantum 1s, strict"},
		{policy.Policy{Order: "mlfq"}, "pauses orderPauses", "Multi-level feedback queues",
			"mlfq, strict, pause longest_run first"},
		{policy.Policy{Order: "las", Settings: turn}, "pauses orderPauses", "LAS", "las, quantum 1s, strict, pause longest_run first"},
		{policy.Policy{Order: policy.FCFS, Allocation: policy.MaxProp}, "partial", "FCFS", "fcfs, max_prop"},
		{policy.Policy{Order: policy.FCFS, Placement: "earliest_finish"}, "estimates follows", "FCFS",
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
			{"sets cores", p.SetsCores()}} {
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

// TestMeaning compares each order, with each choice of the other arguments, with testdata/meaning.txt. The file lists
// the implied choices, actions, key and mistakes.
func TestMeaning(t *testing.T) {
	var b strings.Builder
	write := func(p policy.Policy, set string) {
		does := ""
		for i, yes := range []bool{p.Pauses(), p.OrderPauses(), p.Partial(), p.Promises(), p.Divides(), p.Packs(), p.Estimates(),
			p.SetsCores(), p.FollowsProgress(), len(strategies.Markets(&p)) > 0} {
			if yes {
				does += " " + []string{"pauses", "implies it", "partial", "promises", "divides", "packs", "estimates", "sets cores",
					"follows", "rents"}[i]
			}
		}
		var key []string
		for _, l := range p.KeyLines() {
			key = append(key, strings.TrimPrefix(l.Label, "policy.")+" "+l.Value)
		}
		var problems []string
		for _, x := range p.Complete().Problems(func(arg string) bool { return arg == set }) {
			problems = append(problems, fmt.Sprintf("%s %v %v %.40s", x.Arg, x.Missing, x.Unread, x.Detail))
		}
		valid := "valid"
		if err := p.Validate(); err != nil {
			valid = fmt.Sprintf("%.60s", err)
		}
		fmt.Fprintf(&b, "%s | %s |%s | %s | %s | %s\n", p, p.Title(), does, strings.Join(key, ", "), strings.Join(problems, "; "), valid)
	}
	for _, order := range policy.OrderOf.Choices() {
		p := policy.Policy{Order: order.Name}
		write(p, "")
		p.Settings = policy.Settings{"quantum": time.Second, "feedback": 2 * time.Second, "quanta": []string{"1s", "3s"}, "alpha": 0.5}
		write(p, "quantum")
		for _, q := range policy.Questions[1:] {
			for _, c := range q.Choices() {
				other := p
				other.Set(q, c.Name)
				write(other, string(q))
			}
		}
		p.Settings["replan"] = true
		write(p, "replan")
	}
	schedulertest.Text(t, "testdata/meaning.txt", b.String(), *update)
}
