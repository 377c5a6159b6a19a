//go:build unix

package process

import (
	"testing"

	"github.com/tfexp/tfexp/scheduler"
)

// A job that failed can start again. It finds its checkpoint, and its log continues.
func TestStartAgain(t *testing.T) {
	dir := t.TempDir()
	j := sh(`echo attempt; [ -e "$TFEXP_CHECKPOINT_DIR/x" ] || { touch "$TFEXP_CHECKPOINT_DIR/x"; exit 1; }`)
	j.LogPath, j.CheckpointDir = dir+"/log", dir+"/checkpoint"
	e := open(t, Options{}, j)
	for _, want := range []scheduler.State{scheduler.Failed, scheduler.Finished} {
		start(t, e, 0)
		if end := next(t, e); end.State != want {
			t.Fatalf("%+v, want %s", end, want)
		}
	}
	if got, want := read(t, j.LogPath), "attempt\ntfexp: exit status 1\nattempt\n"; got != want {
		t.Errorf("the log is %q, want %q", got, want)
	}
}
