package validate_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/validate"
	_ "github.com/tfexp/tfexp/stages/planned"   // its policies are tested too
	_ "github.com/tfexp/tfexp/stages/published" // its policies are tested too
)

var update = flag.Bool("update", false, "write the golden file of broken traces")

// TestBrokenTraces validates the traces of many policies. Then it breaks each trace at random in several ways.
// testdata/broken.txt has the number of violated rules and the first violation.
func TestBrokenTraces(t *testing.T) {
	var b strings.Builder
	for i, tr := range schedulertest.Traces(t, 80) {
		for _, v := range validate.Trace(tr.Run.Cluster, tr.Run.Jobs, tr.Run.Resizes, tr.Events, &tr.Outcome) {
			t.Errorf("workload %d under %s: %s", i, tr.Policy, v)
		}
		rng := rand.New(rand.NewPCG(uint64(i), 7))
		for range 10 {
			events, outcome := slices.Clone(tr.Events), tr.Outcome
			outcome.Jobs = slices.Clone(outcome.Jobs)
			how := spoil(rng, events, &outcome)
			if how == "without an event" {
				at := rng.IntN(len(events))
				how += " " + events[at].Kind.String()
				events = slices.Delete(events, at, at+1)
			}
			found := validate.Trace(tr.Run.Cluster, tr.Run.Jobs, tr.Run.Resizes, events, &outcome)
			first := "nothing"
			if len(found) > 0 {
				first = fmt.Sprintf("%d, %s", len(found), found[0])
			}
			fmt.Fprintf(&b, "%d, %s: %s\n", i, how, first)
		}
	}
	schedulertest.Text(t, "testdata/broken.txt", b.String(), *update)
}

// spoil changes an event or a result and describes the change. If an event is to be left out, it only describes that.
func spoil(rng *rand.Rand, events []scheduler.Event, o *scheduler.Outcome) string {
	e := &events[rng.IntN(len(events))]
	r := &o.Jobs[rng.IntN(len(o.Jobs))]
	what := e.Kind.String()
	move := func(set *scheduler.CoreSet, lo, hi int32) {
		*set = slices.Clone(*set)
		if len(*set) == 0 {
			*set = scheduler.CoreSet{{Lo: 0, Hi: 1}}
			return
		}
		k := rng.IntN(len(*set))
		(*set)[k].Lo, (*set)[k].Hi = (*set)[k].Lo+lo, (*set)[k].Hi+hi
	}
	kinds := []scheduler.EventKind{scheduler.Arrive, scheduler.Start, scheduler.Pause, scheduler.Resume, scheduler.ResizeJob,
		scheduler.Finish, scheduler.Fail, scheduler.Stop, scheduler.Retry, scheduler.Request, scheduler.Level}
	switch rng.IntN(12) {
	case 0, 1:
		return "without an event"
	case 2:
		k := rng.IntN(len(events) - 1)
		events[k], events[k+1] = events[k+1], events[k]
		return fmt.Sprintf("%s and %s exchanged", events[k+1].Kind, events[k].Kind)
	case 3:
		move(&e.Cores, 1, 1)
		return what + " one core on"
	case 4:
		move(&e.Cores, 0, 1)
		return what + " with a core more"
	case 5:
		move(&e.Cores, 0, -1)
		return what + " with a core less"
	case 6:
		move(&e.GPUs, 0, 1)
		return what + " with a GPU more"
	case 7:
		by := []time.Duration{-time.Second, -1, 1, time.Second}[rng.IntN(4)]
		e.At += by
		return fmt.Sprintf("%s %s later", what, by)
	case 8:
		e.Kind = kinds[rng.IntN(len(kinds))]
		return fmt.Sprintf("%s for %s", e.Kind, what)
	case 9:
		e.Alternative += 1 - 2*rng.IntN(2)
		return fmt.Sprintf("%s with the alternative %d", what, e.Alternative)
	case 10:
		e.Job = rng.IntN(len(o.Jobs)+2) - 1
		return fmt.Sprintf("%s of job %d", what, e.Job)
	}
	k := rng.IntN(6)
	*[]*int{&r.Preemptions, &r.Resizes, &r.Restarts, &r.Migrations, &r.Revocations, &r.Reconfigurations}[k]++
	if rng.IntN(2) == 0 {
		r.Waiting++
	}
	return fmt.Sprintf("result %d", k)
}
