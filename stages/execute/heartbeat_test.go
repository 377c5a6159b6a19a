package execute

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages"
)

// TestBeat checks that a simulated cell reports its progress at intervals, and that the file is deleted at the end.
func TestBeat(t *testing.T) {
	setup, events := resultstest.TwoJobs()
	dir, collector := t.TempDir(), measure.NewCollector(setup.Setup)
	var told []record.CellProgress
	b := newBeat(dir, collector, 2, func(s record.CellProgress, _ []stages.LatestReport) { told = append(told, s) })
	b.timer.Stop() // the test controls the time
	for i, e := range events[:4] {
		b.due.Store(i == 3)
		collector.Event(&e)
		b.Event(&e)
		b.timer.Stop()
	}
	want := standing(events[3].At, collector.Counts(), 2)
	want.Cores, want.GPUs = collector.Held()
	if lines := written(t, dir); len(lines) != 1 || len(told) != 1 || told[0] != want {
		t.Errorf("%q, told %+v", lines, told)
	}
	if b.close(); written(t, dir) != nil {
		t.Error("the file stays")
	}
}

// written returns the lines of a cell's progress file; nil if it does not exist.
func written(t *testing.T, dir string) []string {
	t.Helper()
	raw, err := os.ReadFile(table.Temporary(filepath.Join(dir, record.CellProgressFile)))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

// A real cell reports its progress at each event, including the finished fraction by predicted times and reported
// epochs.
func TestPulse(t *testing.T) {
	setup, events := resultstest.TwoJobs()
	setup.Predicted = []time.Duration{30 * time.Second, 10 * time.Second}
	task := stages.Task{Setup: setup, Launches: []launch.Job{{Env: []string{"TFEXP_EPOCHS=10"}}, {Env: []string{"TFEXP_EPOCHS=4"}}}}
	var told []record.CellProgress
	p := newPulse(func(s record.CellProgress, _ []stages.LatestReport) { told = append(told, s) }, task)
	p.cell = measure.NewCollector(setup.Setup)
	p.to.Dir = t.TempDir()
	for _, e := range events[:4] {
		p.cell.Event(&e)
		p.Event(&e)
	}
	if lines := written(t, p.to.Dir); len(lines) != 4 || strings.Contains(lines[3], "share") {
		t.Errorf("%q", lines)
	}
	p.written = time.Time{}
	p.report(0, time.Minute, contract.Progress{Epoch: 5})
	if last := told[len(told)-1]; last.Share != 15.0/40 || last.At != 60 {
		t.Errorf("%+v", last)
	}
	if lines := written(t, p.to.Dir); len(lines) != 5 || !strings.Contains(lines[4], `"share":0.375`) {
		t.Errorf("%q", lines)
	}
	if p.close(); written(t, p.to.Dir) != nil {
		t.Error("the file stays")
	}
}
