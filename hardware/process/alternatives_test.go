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
	_ "github.com/tfexp/tfexp/stages/published" // registers its policies
)

// A job gets the threads of the alternative with which it was started.
func TestAlternativeOfAJob(t *testing.T) {
	j := sh(`echo "$TFEXP_INTER_THREADS|$TFEXP_INTRA_THREADS|$TFEXP_NUM_GPUS"`)
	j.Alternatives = []launch.Request{{Threads: 4, Inter: 2, Intra: 2}, {Threads: 1, Inter: 1, Intra: 1}}
	e := open(t, Options{}, j)
	g := cores(0)
	g.Alternative = 2
	if err := e.Start(0, g); err == nil {
		t.Fatal("an alternative that does not exist was started")
	}
	g.Alternative = 1
	g.GPUs = scheduler.CoreSet{{Lo: 0, Hi: 1}}
	if err := e.Start(0, g); err != nil {
		t.Fatal(err)
	}
	if end := next(t, e); end.State != scheduler.Finished {
		t.Fatal(end)
	}
	if log := read(t, e.Job(0).LogPath); log != "1|1|1\n" {
		t.Errorf("log %q", log)
	}
}

// A job on two cores is paused for a shorter job on one of them. If paused programs end with a checkpoint, it resumes
// at once with its alternative of one core. If paused programs are only stopped, it waits for both cores.
func TestAlternativeOfAResumedJob(t *testing.T) {
	cpu := hardware.AllowedCPUs()[0]
	cluster := scheduler.Cluster{Nodes: []scheduler.Node{{Name: "here", Threads: 2}}}
	const paused = "tfexp: paused: it goes on when it is started again\n"
	for suspends, want := range map[bool]string{true: "on 2\n" + paused + "on 1\n", false: "on 2\n"} {
		dir := t.TempDir()
		either := []scheduler.Alternative{
			{Name: "two", Threads: 2, Predicted: time.Minute}, {Name: "one", Threads: 1, Predicted: 2 * time.Minute},
		}
		jobs := []scheduler.Job{
			{Name: "either", Threads: 2, Predicted: time.Minute, Special: &scheduler.Special{Alternatives: either}, Deadline: scheduler.Never},
			{
				Number: 1, Name: "short", Threads: 1, Predicted: time.Second, Arrival: 100 * time.Millisecond,
				Deadline: scheduler.Never,
			},
		}
		programs := []launch.Job{
			sh(`cd "$TFEXP_CHECKPOINT_DIR/.."; echo "on $TFEXP_INTRA_THREADS"; touch begun; until [ -e over ]; do sleep 0.005; done`),
			sh(`sleep 0.1; touch "$TFEXP_CHECKPOINT_DIR/../over"`),
		}
		programs[0].Alternatives = []launch.Request{{Threads: 2, Inter: 1, Intra: 2}, {Threads: 1, Inter: 1, Intra: 1}}
		for i := range programs {
			p := &programs[i]
			p.Name, p.CheckpointDir = jobs[i].Name, filepath.Join(dir, jobs[i].Name)
			p.LogPath = filepath.Join(dir, jobs[i].Name+".log")
		}
		e := open(t, Options{Suspends: suspends, CPUs: []int{cpu, cpu}, Cluster: cluster}, programs...)
		check := validate.New(cluster, jobs, nil)
		run := scheduler.Run{
			Policy:  policy.Policy{Order: "srtf", Preemption: policy.PausePreemption, Placement: policy.Pairs},
			Cluster: cluster, Jobs: jobs, Engine: &held{Engine: e, made: func(job int) string {
				return []string{filepath.Join(dir, "begun"), ""}[job]
			}}, Recorder: check,
		}
		out, err := run.Execute(patient(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range check.Violations() {
			t.Errorf("suspends %t: %s: %s", suspends, v.At, v.Text)
		}
		// Shells print which children the signal ended.
		log := strings.ReplaceAll(read(t, programs[0].LogPath), "Terminated\n", "")
		if log != want || out.Jobs[0].Preemptions != 1 {
			t.Errorf("suspends %t: paused %d times, says %q, want %q", suspends, out.Jobs[0].Preemptions, log, want)
		}
	}
}
