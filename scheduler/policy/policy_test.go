package policy_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// A policy that is written down and read again has the same key.
func TestPoliciesAreWrittenDown(t *testing.T) {
	for _, p := range []policy.Policy{
		{Order: policy.RoundRobin, Settings: policy.Settings{"quantum": 1500 * time.Millisecond}},
		{Order: policy.AlloX, Settings: policy.Settings{"alpha": 0.3}},
		{Order: policy.SJF, Placement: policy.EarliestFinish},
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
	p := policy.Policy{Order: policy.LAS, Allocation: policy.MaxProp, Settings: policy.Settings{"quantum": time.Second}}
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
		"quantum is a duration, not float64": {Order: policy.LAS, Settings: policy.Settings{"quantum": 1.0}},
		"alpha of 2 is out of range":         {Order: policy.AlloX, Settings: policy.Settings{"alpha": 2.0}},
		"needs a quantum":                    {Order: policy.Fair},
		"implies preemption":                 {Order: policy.SRTF, Preemption: policy.NoPreemption},
	} {
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
}

// A name is registered once.
func TestNamesAreRegisteredOnce(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a second fcfs is registered")
		}
	}()
	policy.RegisterOrder(policy.OrderChoice{
		Choice: policy.Choice{Name: string(policy.FCFS)},
		New:    func(policy.Setup) scheduler.Ranker { return nil },
	})
}
