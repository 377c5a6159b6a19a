package execute

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/results/tell"
	"github.com/tfexp/tfexp/stages"
)

// TestBeat checks that a simulated cell reports its state when time has passed, a real one at each event, and that
// the file is gone in the end.
func TestBeat(t *testing.T) {
	for _, c := range []struct {
		real  bool
		lines int // of the folder's file
		told  int
	}{{real: false, lines: 1, told: 1}, {real: true, lines: 4}} {
		setup, events := resultstest.TwoJobs()
		dir, collector := t.TempDir(), measure.NewCollector(setup.Setup)
		var told []record.Standing
		b := newBeat(dir, collector, 2, c.real, func(s record.Standing, _ []stages.Reported) {
			told = append(told, s)
		})
		if b.timer != nil {
			b.timer.Stop() // the test controls the passing of time
		}
		for i, e := range events[:4] {
			if i == 3 && !c.real {
				b.due.Store(true)
			}
			collector.Event(&e)
			b.Event(&e)
			if b.timer != nil {
				b.timer.Stop()
			}
		}
		path := tell.Temporary(filepath.Join(dir, record.StandingFile))
		raw, err := os.ReadFile(path)
		lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
		if err != nil || len(lines) != c.lines || !strings.Contains(lines[len(lines)-1], `"jobs":2,`) {
			t.Errorf("real %v: %d lines, %v: %q", c.real, len(lines), err, raw)
		}
		want := standing(events[3].At, collector.Counts(), 2)
		want.Cores, want.GPUs = collector.Held()
		if len(told) != c.told || c.told > 0 && told[0] != want {
			t.Errorf("real %v: told %+v", c.real, told)
		}
		b.close()
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("real %v: the file stays: %v", c.real, err)
		}
	}
}
