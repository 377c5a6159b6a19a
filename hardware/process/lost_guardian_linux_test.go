package process

import (
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/scheduler"
)

// A job that ended because its guardian ended has a warning that says so. A job that failed by itself has none.
func TestJobsThatTheGuardianLost(t *testing.T) {
	var mu sync.Mutex
	var codes []string
	warn := func(_ int, code, _ string) {
		mu.Lock()
		defer mu.Unlock()
		codes = append(codes, code)
	}
	path := filepath.Join(t.TempDir(), "began")
	e := open(t, Options{Warn: warn}, sh("kill -9 $$"), sh("echo $$ >"+path+"; sleep 1000; :"))
	for i, want := range [][]string{nil, {engine.Lost}} {
		start(t, e, i)
		if i == 1 {
			pidIn(t, path)
			if err := syscall.Kill(guardianPID(), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		if end := next(t, e); end.State != scheduler.Failed {
			t.Error(end)
		}
		mu.Lock()
		if !slices.Equal(codes, want) {
			t.Errorf("job %d: warnings %q, want %q", i, codes, want)
		}
		mu.Unlock()
	}
}
