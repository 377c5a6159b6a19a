package scheduler

import (
	"slices"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler/control"
)

// TestWordsOfEvents checks the text of each kind of event.
func TestWordsOfEvents(t *testing.T) {
	block := 2
	stop := &control.Decision{Action: control.Action{Stop: true, Reason: "it is done"}}
	news := &Prediction{Done: 1, Total: 10, Left: 9*time.Second + 400*time.Microsecond, Before: Never}
	for _, c := range []struct {
		event Event
		want  string
	}{
		{Event{Kind: Request, Request: 3, Reason: "none"}, "3 cores"},
		{Event{Kind: Reconfigure, Request: 4}, "4 cores"},
		{Event{Kind: Decided, Control: stop, Reason: "none"}, "stop (it is done)"},
		{Event{Kind: Decided, Reason: "a reason"}, "a reason"},
		{Event{Kind: Level, Levels: Levels{From: 2, To: 1}}, "from level 2 to 1"},
		{Event{Kind: Predict, Prediction: news}, "1 of 10 units are done: 9s left on the full request, before not known"},
		{Event{Kind: Predict, Reason: "a reason"}, "a reason"},
		{Event{Kind: NodeWarning, Until: time.Minute}, "until 1m0s"},
		{Event{Kind: NodeEnd, Revoked: true}, "taken away"},
		{Event{Kind: NodeEnd}, "given back"},
		{Event{Kind: Fail, Reason: "exit status 1"}, "exit status 1"},
	} {
		if got := c.event.Detail(); got != c.want {
			t.Errorf("%s says %q, want %q", c.event.Kind, got, c.want)
		}
	}
	settings := []control.Setting{{Name: "batch", Value: "64"}, {Name: "ps", Value: "1"}}
	for _, c := range []struct {
		decision control.Decision
		want     string
	}{
		{control.Decision{}, "nothing"},
		{control.Decision{Action: control.Action{Reason: "all is well"}}, "nothing (all is well)"},
		{control.Decision{Action: control.Action{Settings: settings}}, "settings: batch=64 ps=1"},
		{control.Decision{Action: control.Action{Settings: settings[:1], Reason: "it pays"}}, "settings: batch=64 (it pays)"},
		{control.Decision{Action: control.Action{Settings: settings[1:], Reason: "it pays"}, Refused: "no room"}, "settings: ps=1: refused: no room"},
		{control.Decision{Action: control.Action{Allotment: &control.Allotment{}, Deepen: &block, Stop: true}}, "allotment and deepen 2 and stop"},
	} {
		if got := c.decision.String(); got != c.want {
			t.Errorf("a decision is %q, want %q", got, c.want)
		}
		if nothing := c.decision.Action.Nothing(); nothing != (c.decision.Action.Name() == "nothing") {
			t.Errorf("%q changes nothing: %v", c.want, nothing)
		}
	}
}

// TestSettingsWithChanges checks that changed settings keep their places and new ones come last. Other holders of the
// original list see no change.
func TestSettingsWithChanges(t *testing.T) {
	before := []control.Setting{{Name: "batch", Value: "32"}, {Name: "ps", Value: "1"}}
	got := control.With(before, []control.Setting{{Name: "ps", Value: "2"}, {Name: "rate", Value: "0.1"}, {Name: "rate", Value: "0.2"}})
	if want := []control.Setting{{Name: "batch", Value: "32"}, {Name: "ps", Value: "2"}, {Name: "rate", Value: "0.2"}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if text := control.SettingsText(before) + "|" + control.SettingsText(nil); text != "batch=32 ps=1|" {
		t.Errorf("the settings before are %q", text)
	}
}

// TestKinds checks which kinds of events are about nodes, which states are final, which events lead to them, and the
// names of notices.
func TestKinds(t *testing.T) {
	for _, k := range []EventKind{NodeRequest, NodeStart, NodeWarning, NodeEnd} {
		if !k.OfNode() {
			t.Errorf("%s is not about a node", k)
		}
	}
	for _, k := range []EventKind{Arrive, Start, Finish, Revoke} {
		if k.OfNode() {
			t.Errorf("%s is about a node", k)
		}
	}
	final := map[State]EventKind{Finished: Finish, Failed: Fail, Stopped: Stop}
	for s := Pending; s <= Stopped; s++ {
		end, ok := s.Final()
		if end != final[s] || ok != (final[s] != 0) || s.Over() != ok {
			t.Errorf("%s is ended by %q, %v, and over: %v", s, end, ok, s.Over())
		}
	}
	if got := JobEnded.String() + ", " + JobProgress.String() + ", " + (JobProgress + 1).String(); got !=
		"end of a job, progress of a job, notice 7" {
		t.Error(got)
	}
}

// TestNoticesInOrder checks that notices are sorted by time, then kind, job and node.
func TestNoticesInOrder(t *testing.T) {
	sorted := []Notice{
		{At: 1, Kind: NodeUp, Job: 9, Node: 9}, {At: 2, Kind: JobEnded, Job: 5, Node: 5},
		{At: 2, Kind: NodeDown, Job: 1, Node: 4}, {At: 2, Kind: NodeDown, Job: 2, Node: 1}, {At: 2, Kind: NodeDown, Job: 2, Node: 2},
	}
	for i := range sorted {
		for k := range sorted {
			if got := CompareNotices(sorted[i], sorted[k]); got < 0 != (i < k) || got > 0 != (i > k) {
				t.Errorf("%+v and %+v compare as %d", sorted[i], sorted[k], got)
			}
		}
	}
}

// TestUndoneAreCounted counts jobs that were stopped before or after their start, and jobs that never arrived.
func TestUndoneAreCounted(t *testing.T) {
	u := Undone{Missing: 4}
	for _, start := range []time.Duration{Never, 0, time.Second} {
		u.count(&Result{FirstStart: start})
	}
	if u != (Undone{Started: 2, Waited: 1, Missing: 4}) || u.Sum() != 7 {
		t.Errorf("%+v, %d in all", u, u.Sum())
	}
}
