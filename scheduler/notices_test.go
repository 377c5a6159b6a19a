package scheduler_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
)

// Notices of one instant are taken in one order, whoever gives them.
func TestNoticesOfAnInstant(t *testing.T) {
	want := []Notice{
		{At: 1, Kind: JobProgress, Job: 9},
		{At: 2, Kind: JobEnded, Job: 1}, {At: 2, Kind: JobEnded, Job: 3},
		{At: 2, Kind: NodeDown, Node: 5}, {At: 2, Kind: NodeWarned, Node: 0}, {At: 2, Kind: NodeWarned, Node: 4},
		{At: 2, Kind: NodeUp}, {At: 2, Kind: JobProgress},
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	if slices.SortFunc(got, CompareNotices); !reflect.DeepEqual(got, want) {
		t.Errorf("%v instead of %v", got, want)
	}
}

// An engine whose nodes come and go is refused, by name: no policy can handle that.
func TestNodesThatComeAndGoAreRefused(t *testing.T) {
	for kind, want := range map[NoticeKind]string{NodeUp: "node up: node 2", NodeWarned: "node warned",
		NodeDown: "node down", 77: "notice 77"} {
		jobs := number([]Job{at(0, 1, 1)})
		engine := newFlaky(t, jobs)
		engine.ends = func([]Notice) []Notice { return []Notice{{Kind: kind, At: time.Millisecond, Node: 2}} }
		_, err := Run{Policy: Policy{}, Cluster: one(1), Jobs: jobs, Engine: engine}.Execute(context.Background())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
