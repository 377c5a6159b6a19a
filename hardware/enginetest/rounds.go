// Package enginetest has tests that several engines which run programs must pass.
package enginetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	_ "github.com/tfexp/tfexp/scheduler/policy/rounds" // max_min
	"github.com/tfexp/tfexp/scheduler/validate"
)

// counting is a shell script that counts to 40. It keeps how far it is when it is asked to end, and says where it
// begins.
const counting = `
f="$TFEXP_CHECKPOINT_DIR/n"
n=0
[ -e "$f" ] && n=$(cat "$f")
trap 'echo $n >"$f"; exit 143' TERM
echo from $n
while [ $n -lt 40 ]; do n=$((n+1)); sleep %g; done
echo done $n`

// MovesByCheckpoints has three jobs share two nodes of an engine by max_min, in rounds of a length: each goes on from
// its checkpoint on the node that it is given. A job takes some three rounds in all. open returns an engine for a shell
// script under each of the names, which suspends jobs, and log what the job of a name has written.
func MovesByCheckpoints(t *testing.T, round time.Duration,
	open func(c scheduler.Cluster, script string, names []string) scheduler.Engine, log func(name string) string,
) {
	t.Helper()
	cluster := scheduler.Cluster{Nodes: []scheduler.Node{{Name: "a", Threads: 1}, {Name: "b", Threads: 1}}}
	var jobs []scheduler.Job
	var names []string
	for i := range 3 {
		names = append(names, fmt.Sprintf("count-%d", i+1))
		jobs = append(jobs, scheduler.Job{Number: i, Name: names[i], Threads: 1, Deadline: scheduler.Never})
	}
	check := validate.New(cluster, jobs, nil)
	run := scheduler.Run{
		Policy:  policy.Policy{Order: "max_min", Settings: policy.Settings{"rounds": round}},
		Cluster: cluster, Jobs: jobs, Recorder: check,
		Engine: open(cluster, fmt.Sprintf(counting, (round/16).Seconds()), names),
	}
	out, err := run.Execute(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range check.Violations() {
		t.Errorf("%s: %s", v.At, v.Text)
	}
	migrations, wentOn := 0, false
	for i, r := range out.Jobs {
		text := log(names[i])
		migrations += r.Migrations
		if r.State != scheduler.Finished || !strings.HasSuffix(text, "done 40\n") ||
			strings.Count(text, "from ") > 1+r.Preemptions { // fewer where it was paused before it could say so
			t.Errorf("%s is %s, was paused %d times, and says %q", names[i], r.State, r.Preemptions, text)
		}
		before := 0
		for line := range strings.Lines(text) {
			var n int
			if _, err := fmt.Sscanf(line, "from %d", &n); err == nil {
				if n < before {
					t.Errorf("%s fell behind its checkpoint: %q", names[i], text)
				}
				before, wentOn = n, wentOn || n > 0
			}
		}
	}
	if migrations == 0 || !wentOn {
		t.Errorf("%d times a job went on on the other node; from a checkpoint: %v", migrations, wentOn)
	}
}
