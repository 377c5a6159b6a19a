//go:build unix

package process

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
	_ "github.com/tfexp/tfexp/stages/gavel" // registers its policies
)

// counting is a program that counts to 40, and further until all three jobs together have resumed six times. It saves
// its count when it is asked to end. It prints the count at its start, and when it handles the signal.
const counting = `
cd "$TFEXP_CHECKPOINT_DIR"
n=0
[ -e n ] && n=$(cat n)
trap 'echo $n >n; exit 143' TERM
echo from $n
[ $n -gt 0 ] && mktemp ../again.XXXXXX >/dev/null
n=$((n+1))
touch listens
while [ $n -lt 40 ] || [ $(ls .. | grep -c again) -lt 6 ]; do n=$((n+1)); sleep 0.005; done
echo done $n`

// Three jobs share two nodes under max_min, in rounds. Each resumes from its checkpoint on its new node.
func TestRoundsMoveJobsByCheckpoints(t *testing.T) {
	cpu := hardware.AllowedCPUs()[0]
	cluster := scheduler.Cluster{Nodes: []scheduler.Node{{Name: "a", Threads: 1}, {Name: "b", Threads: 1}}}
	dir := t.TempDir()
	var jobs []scheduler.Job
	var programs []launch.Job
	for i := range 3 {
		name := fmt.Sprintf("count-%d", i+1)
		jobs = append(jobs, scheduler.Job{Number: i, Name: name, Threads: 1, Deadline: scheduler.Never})
		j := sh(counting)
		j.Name, j.CheckpointDir, j.LogPath = name, filepath.Join(dir, name), filepath.Join(dir, name+".log")
		programs = append(programs, j)
	}
	e := open(t, Options{Suspends: true, CPUs: []int{cpu, cpu}, Cluster: cluster}, programs...)
	check := validate.New(cluster, jobs, nil)
	run := scheduler.Run{
		Policy:  policy.Policy{Order: "max_min", Settings: policy.Settings{"rounds": 80 * time.Millisecond}},
		Cluster: cluster, Jobs: jobs, Recorder: check,
		Engine: &held{Engine: e, made: func(job int) string { return filepath.Join(programs[job].CheckpointDir, "listens") }},
	}
	out, err := run.Execute(patient(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range check.Violations() {
		t.Errorf("%s: %s", v.At, v.Text)
	}
	migrations := 0
	for i, r := range out.Jobs {
		migrations += r.Migrations
		log := read(t, programs[i].LogPath)
		var froms []int
		done := 0
		for line := range strings.Lines(log) {
			var n int
			if _, err := fmt.Sscanf(line, "from %d", &n); err == nil {
				froms = append(froms, n)
			}
			fmt.Sscanf(line, "done %d", &done)
		}
		if r.State != scheduler.Finished || done < 40 || froms[0] != 0 || !slices.IsSorted(froms) ||
			strings.Count(log, "from 0\n") != 1 {
			t.Errorf("%s is %s, and says %q", jobs[i].Name, r.State, log)
		}
		if n := 1 + r.Preemptions; len(froms) > n || len(froms) < min(n, 2) { // paused at its start: prints nothing
			t.Errorf("%s was paused %d times, and started %d times", jobs[i].Name, r.Preemptions, len(froms))
		}
	}
	if migrations == 0 {
		t.Error("nobody went on on the other node")
	}
}
