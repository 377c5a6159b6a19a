package docker

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
	_ "github.com/tfexp/tfexp/stages/gavel" // registers its policies
)

// counting is a program that counts to 100 and prints its first number. It saves its count when it is asked to end.
const counting = `
f="$TFEXP_CHECKPOINT_DIR/n"
n=0
[ -e "$f" ] && n=$(cat "$f")
trap 'echo $n >"$f"; exit 143' TERM
echo from $n
while [ $n -lt 100 ]; do n=$((n+1)); sleep 0.01; done
echo done $n`

// Three jobs share two nodes of one daemon under max_min, in rounds. Each job resumes from its checkpoint, in a new
// container on its new node.
func TestRoundsMoveContainersByCheckpoints(t *testing.T) {
	h := local(t)
	cluster := scheduler.Cluster{Nodes: []scheduler.Node{{Name: "a", Threads: 1}, {Name: "b", Threads: 1}}}
	var jobs []scheduler.Job
	var programs []launch.Job
	for i := range 3 {
		name := fmt.Sprintf("count-%d", i+1)
		jobs = append(jobs, scheduler.Job{Number: i, Name: name, Threads: 1, Deadline: scheduler.Never})
		programs = append(programs, shell(t, name, counting))
	}
	e, err := New(programs, []Node{{Host: h, CPUs: []int{0}}, {Host: h, CPUs: []int{0}}},
		Options{Folder: t.TempDir(), Suspends: true, Cluster: cluster})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	check := validate.New(cluster, jobs, nil)
	run := scheduler.Run{
		Policy:  policy.Policy{Order: "max_min", Settings: policy.Settings{"rounds": 300 * time.Millisecond}},
		Cluster: cluster, Jobs: jobs, Engine: e, Recorder: check,
	}
	out, err := run.Execute(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range check.Violations() {
		t.Errorf("%s: %s", v.At, v.Text)
	}
	migrations := 0
	for i, r := range out.Jobs {
		log := logOf(t, programs[i])
		migrations += r.Migrations
		// A program that is asked to end right after its start may print nothing, or not yet handle the signal.
		if r.State != scheduler.Finished || !strings.HasSuffix(log, "done 100\n") ||
			strings.Count(log, "from ") > 1+r.Preemptions {
			t.Errorf("%s is %s, was paused %d times, and says %q", jobs[i].Name, r.State, r.Preemptions, log)
		}
	}
	if migrations == 0 {
		t.Error("nobody went on on the other node")
	}
}
