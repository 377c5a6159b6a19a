package policy_test

import (
	"strings"
	"testing"

	"github.com/tfexp/tfexp/scheduler/policy"
)

// TestWordsOfArguments checks the reference text of each argument, which is derived from the choices that have the
// argument.
func TestWordsOfArguments(t *testing.T) {
	args := map[string][4]string{} // by argument: required, default, its words, doc
	var names []string
	for _, a := range policy.Arguments() {
		required := ""
		if a.Required {
			required = "required"
		}
		names = append(names, a.Name)
		args[a.Name] = [4]string{required, a.Default, a.DefaultDoc, a.Doc}
	}
	order := strings.Join(names, " ")
	for _, want := range []string{"order quantum ", "preemption replan ", "backfill allocation ", "victims "} {
		if !strings.Contains(order+" ", want) {
			t.Errorf("the arguments are %s", order)
		}
	}
	for name, want := range map[string][4]string{
		"order":      {"required", "", "", "Which job is next. "},
		"preemption": {"", `"none"`, "`\"none\"`; `\"pause\"` under ", "Whether running jobs are paused for a waiting job "},
		"victims":    {"", `"longest_run"`, "", "Which running jobs are paused first:\n- `longest_run`: the jobs "},
		"quantum": {"", "", "required by `round_robin`, `las`, `fair`, `gittins` and `priority_round_robin`, an error on others",
			"How long a job runs before tfexp checks the order again; at least 1ms."},
		"feedback": {"", "", "off", "The time after which the level of a waiting job improves by one, again and again. Only under the orders " +
			"`priority` and `priority_round_robin`."},
		"quanta": {"", "", "required by `mlfq`, an error on others", "The quantum of each queue "},
		"alpha":  {"", "", "", ""},
		"replan": {"", "", "off", "Whether all jobs are placed again, in the order, when a job arrives or ends. "},
	} {
		got, ok := args[name]
		if name == "alpha" {
			if !strings.HasSuffix(got[3], " Only under the order `allox`.") {
				t.Errorf("alpha: %q", got[3])
			}
			continue
		}
		if !ok || got[0] != want[0] || got[1] != want[1] || !strings.HasPrefix(got[2], want[2]) || !strings.HasPrefix(got[3], want[3]) {
			t.Errorf("%s:\n%q, want\n%q", name, got, want)
		}
	}
	if !strings.HasSuffix(args["victims"][3], "\n\nOnly with preemption.") || !strings.Contains(args["order"][3], "docs/policies.md") {
		t.Errorf("%q, %q", args["victims"][3], args["order"][3])
	}
	if by := args["preemption"][2]; !strings.Contains(by, "`srtf`") || strings.Contains(by, "`fcfs`") {
		t.Errorf("preemption is implied by %s", by)
	}
	for what, got := range map[string][2]string{
		"backfills":   {policy.EstimatingBackfills(), `"easy" or "conservative"`},
		"allocations": {policy.WholeAllocations(), `"strict"`},
		"orders":      {policy.EstimatingOrders(), `"sjf"`},
		"readers":     {policy.EstimateReaders(), `the orders "sjf"`},
	} {
		if !strings.HasPrefix(got[0], got[1]) {
			t.Errorf("%s: %s, want %s …", what, got[0], got[1])
		}
	}
	if strings.Contains(policy.EstimatingOrders(), "allox") || !strings.Contains(policy.EstimateReaders(), `"allox"`) ||
		!strings.Contains(policy.EstimateReaders(), ` the backfills "easy" or "conservative"`) {
		t.Errorf("%s; %s", policy.EstimatingOrders(), policy.EstimateReaders())
	}
	for _, s := range policy.OwnSettings() {
		want := "the order"
		if len(s.By) > 1 {
			want += "s"
		}
		if s.Of == policy.OrderOf && !strings.HasPrefix(s.Readers(), want+` "`) {
			t.Errorf("%s is read by %s", s.Name, s.Readers())
		}
	}
}

// TestBadSettings checks that settings are refused if they are out of range, of a wrong type, or unknown.
func TestBadSettings(t *testing.T) {
	for text, want := range map[string]string{
		`{"quantum": "fast"}`: "setting quantum", `{"speed": "1"}`: "no policy reads it", `[]`: "cannot unmarshal",
		`{"alpha": "much"}`: "setting alpha", `{"replan": "perhaps"}`: "setting replan",
	} {
		var s policy.Settings
		if err := s.UnmarshalJSON([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for _, c := range []struct {
		p    policy.Policy
		want string
	}{
		{policy.Policy{Order: "mlfq", Settings: policy.Settings{"quanta": []string{"1s", "0s"}}}, `"0s" is not a quantum`},
		{policy.Policy{Order: "mlfq", Settings: policy.Settings{"quanta": []string{"x"}}}, `"x" is not a quantum`},
		{policy.Policy{Order: "mlfq", Settings: policy.Settings{"quanta": "1s"}}, "quanta is a"},
		{policy.Policy{Order: "allox", Settings: policy.Settings{"alpha": -0.1}}, "alpha of -0.1 is out of range"},
		{policy.Policy{Order: "allox", Settings: policy.Settings{"alpha": 1}}, "alpha is a"},
		{policy.Policy{Preemption: "pause", Settings: policy.Settings{"replan": "yes"}}, "replan is a"},
		{policy.Policy{Order: "allox", Settings: policy.Settings{"alpha": 0.0}}, "alpha of 0 is out of range"},
		{policy.Policy{Order: "allox", Settings: policy.Settings{"alpha": 1.0}}, ""},
		{policy.Policy{Order: "mlfq", Settings: policy.Settings{"quanta": []string{"1ns"}}}, ""},
	} {
		if err := c.p.Validate(); (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.p, err, c.want)
		}
	}
}
