//go:build unix

package process

import (
	"testing"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
)

// A job is told the threads of the alternative that it is started with.
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
