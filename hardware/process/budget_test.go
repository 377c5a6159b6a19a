//go:build unix

package process

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// told returns the content of the control file at path.
func told(t *testing.T, path string) (m contract.Message) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, path)), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// The time left in the control file of a program is its budget minus its service time so far, also after pauses,
// resizes and new attempts.
func TestTimeLeft(t *testing.T) {
	budget := time.Minute
	j := launch.Job{Name: "net", Argv: []string{"sh", "-c",
		"sleep 0.2; test -e \"$0\" || { touch \"$0\"; exit 1; }; exec sleep 1000"},
		Threads: 1, Budget: &budget, ControlPath: filepath.Join(t.TempDir(), "control")}
	j.Argv = append(j.Argv, filepath.Join(t.TempDir(), "second"))
	cpu := hardware.AllowedCPUs()[0]
	e := open(t, Options{CPUs: []int{cpu, cpu}}, j)
	// At the start, the time left is counted from when the program has begun.
	start(t, e, 0)
	m, used := told(t, j.ControlPath), e.Used(0).Seconds()
	if *m.Budget != 60 || !(*m.TimeLeft < 60 && *m.TimeLeft >= 60-used-1e-6) || m.Allotment != 1 || m.Change != "" {
		t.Errorf("at the start it is told %+v, of which %v s are left, after %v s", m, *m.TimeLeft, used)
	}
	if end := next(t, e); end.State != scheduler.Failed {
		t.Fatal(end)
	}
	first, _ := e.Usage(0)
	start(t, e, 0)
	m, used = told(t, j.ControlPath), e.Used(0).Seconds()
	if left := *m.TimeLeft; !(left < (budget-first.Service).Seconds() && left >= 60-used-1e-6) {
		t.Errorf("the second attempt is told %v s, after %s and then %v s in all", left, first.Service, used)
	}
	// Each message is written between two readings of the service time.
	step := func(what, change string, allotment int, do func() error) {
		t.Helper()
		before := e.Used(0)
		if err := do(); err != nil {
			t.Fatal(err)
		}
		m, after := told(t, j.ControlPath), e.Used(0)
		if left := contract.Seconds(*m.TimeLeft); left > budget-before+time.Microsecond ||
			left < budget-after-time.Microsecond ||
			m.Change != change || m.Allotment != allotment {
			t.Errorf("%s: told %s left of %s, %q, %d; used %s to %s", what, left, budget, m.Change, m.Allotment, before, after)
		}
	}
	step("resize", "up", 2, func() error { return e.Resize(0, cores(0, 1)) })
	if err := e.Pause(0); err != nil {
		t.Fatal(err)
	}
	paused := e.Used(0)
	time.Sleep(100 * time.Millisecond)
	if now := e.Used(0); now != paused {
		t.Errorf("%s are used before a pause, and %s in it", paused, now)
	}
	step("resume", "down", 1, func() error { return e.Resume(0, cores(1)) })
}
