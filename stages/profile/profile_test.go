//go:build unix

package profile

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/process"
)

func TestMain(m *testing.M) {
	if handled, code := process.Main(os.Args[1:]); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// The actions on a job take some time, but far less than the minute for which the job sleeps. The probe does not wait
// for the job's end.
func TestProbe(t *testing.T) {
	run := Run{Job: launch.Job{Name: "sleep", Argv: []string{"sleep", "60"}, Threads: 1}, Length: 1}
	c, err := Probe(context.Background(), here(run))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []time.Duration{c.Pause, c.Resume, c.Resize} {
		if d <= 0 || d > 10*time.Second {
			t.Errorf("costs of %+v", c)
		}
	}
}

// A program that ends at once is not an error; its costs are unknown.
func TestProbeOfAShortJob(t *testing.T) {
	run := Run{Job: launch.Job{Name: "true", Argv: []string{"true"}, Threads: 1}, Length: 1}
	if _, err := Probe(context.Background(), here(run)); err != nil {
		t.Fatal(err)
	}
	run.Job.Argv = []string{"no-such-program"}
	if _, err := Probe(context.Background(), here(run)); err == nil {
		t.Error("a program that is not there was probed")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	run.Job.Argv = []string{"sleep", "60"}
	if _, err := Probe(ctx, here(run)); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context Probe = %v", err)
	}
}

// The time that the engine adds to the program's own time is reported separately.
func TestTakeTellsTheLaunch(t *testing.T) {
	s, err := take(context.Background(), here(Run{
		Job:    launch.Job{Name: "sleep", Argv: []string{"sleep", "0.02"}, Threads: 1, LogPath: t.TempDir() + "/log"},
		Length: 1,
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Wall <= 0 || s.Launch <= 0 || s.Wall+s.Launch < 0.02 { // the program may begin before it measures its time
		t.Errorf("%+v", s)
	}
}
