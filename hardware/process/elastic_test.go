//go:build unix

package process

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
	_ "github.com/tfexp/tfexp/stages/elastic/policies" // registers its policies
)

// following is a program that reads the number of threads in its control file, and creates a file named after this
// number. It ends after two changes.
const following = `
had=
changes=0
while [ $changes -lt 3 ]; do
  read -r inter intra rest <"$TFEXP_CONTROL"
  if [ "$inter $intra" != "$had" ]; then
    had="$inter $intra"
    changes=$((changes+1))
    echo "has $((inter*intra))"
    touch "$TFEXP_CHECKPOINT_DIR/had.$((inter*intra))"
  fi
  sleep 0.005
done`

// A job has two cores until another arrives, then one, and two again when the other has ended. It is resized while it
// runs.
func TestElasticOrdersResizeRunningJobs(t *testing.T) {
	cpu := hardware.AllowedCPUs()[0]
	cluster := scheduler.Cluster{Nodes: []scheduler.Node{{Name: "here", Threads: 2}}}
	for _, order := range []policy.Order{"optimus", "pollux"} {
		dir := t.TempDir()
		jobs := []scheduler.Job{{Name: "long"}, {Name: "short", Number: 1, Arrival: 100 * time.Millisecond}}
		programs := []launch.Job{sh(following), sh(`until [ -e "$TFEXP_CHECKPOINT_DIR/had.1" ]; do sleep 0.005; done`)}
		for i := range jobs {
			j, p := &jobs[i], &programs[i]
			j.Threads, j.Malleable, j.Predicted, j.Deadline = 2, true, time.Minute, scheduler.Never
			p.Name, p.ControlPath, p.LogPath = j.Name, filepath.Join(dir, j.Name), filepath.Join(dir, j.Name+".log")
			p.Threads, p.CheckpointDir = 2, filepath.Join(dir, "checkpoint")
		}
		e := open(t, Options{CPUs: []int{cpu, cpu}, Cluster: cluster}, programs...)
		check := validate.New(cluster, jobs, nil)
		settings := policy.Settings{"rounds": 80 * time.Millisecond}
		if order != "optimus" {
			settings["restart_delay"] = time.Duration(0)
		}
		run := scheduler.Run{
			Policy: policy.Policy{Order: order, Settings: settings}, Cluster: cluster, Jobs: jobs, Recorder: check,
			Engine: &held{Engine: e, made: func(job int) string {
				return []string{filepath.Join(dir, "checkpoint", "had.2"), ""}[job]
			}},
		}
		out, err := run.Execute(patient(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range check.Violations() {
			t.Errorf("%s: %s: %s", order, v.At, v.Text)
		}
		log := read(t, programs[0].LogPath)
		if !strings.HasSuffix(log, "has 2\nhas 1\nhas 2\n") || out.Jobs[0].Resizes != 2 || out.Jobs[0].Preemptions != 0 {
			t.Errorf("%s: the job was resized %d times, paused %d times, and says %q",
				order, out.Jobs[0].Resizes, out.Jobs[0].Preemptions, log)
		}
	}
}
