package pipeline

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/results/record"
)

// elsewhere begins to run a cell of a plan in another process.
func elsewhere(t *testing.T, p *Plan, i int) *exec.Cmd {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cell")
	if err := p.WriteCell(i, path); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "cell", path)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// Another process that runs a cell from a file leaves the same bytes, for
// speed-ups, alternatives, contention and predictions that follow the jobs.
func TestCellsOfAnotherProcess(t *testing.T) {
	for name, source := range map[string]string{
		"small":        simulatedFile,
		"alternatives": alternativesFile,
		"online":       fmt.Sprintf(strings.Replace(onlineFile, "replicates = 10", "replicates = 1", 1), true, "max_prop"),
		"crowd": strings.Replace(simulatedFile, "threads = 2\n}\n\npolicy \"fcfs\"",
			"threads = 3\n  contention { capacity = 0.7 }\n}\n\npolicy \"fcfs\"", 1),
	} {
		if testing.Short() && name == "online" {
			continue // forecasts of losses take most of the time
		}
		out, other := t.TempDir(), t.TempDir()
		here := plan(t, source, out)
		if _, err := here.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		there := plan(t, source, other)
		for i := range there.Cells {
			if err := elsewhere(t, there, i).Wait(); err != nil {
				t.Fatal(name, err)
			}
		}
		want, got := tree(t, filepath.Join(here.Dir, record.CellsDir)), tree(t, filepath.Join(there.Dir, record.CellsDir))
		if len(want) != len(got) {
			t.Errorf("%s: %d files, want %d", name, len(got), len(want))
		}
		for path, content := range want {
			if filepath.Base(path) == record.CellFile { // it has machine times
				continue
			}
			if got[strings.Replace(path, out, other, 1)] != content {
				t.Errorf("%s: %s differs", name, filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path))
			}
		}
		if left := reasons(plan(t, source, other)); len(left) > 0 {
			t.Errorf("%s: the next run does not find them: %v", name, left)
		}
	}
}

// A real cell of another process is complete; one whose process was killed is
// not, and runs again.
func TestRealCellOfAnotherProcess(t *testing.T) {
	out := t.TempDir()
	dir := t.TempDir()
	hold, hangs := filepath.Join(dir, "hold"), filepath.Join(dir, "hangs")
	source := strings.Replace(realFile, `["true"]`,
		fmt.Sprintf(`["sh", "-c", "if test -e %s; then touch %s; sleep 600; fi"]`, hold, hangs), 1)
	p := plan(t, source, out)
	if err := os.MkdirAll(p.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	// Who has cells run by others has begun the folder.
	if err := os.WriteFile(filepath.Join(p.Dir, record.JournalFile), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := elsewhere(t, p, 0).Wait(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hold, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := elsewhere(t, p, 1)
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(hangs); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("its job does not start")
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if err := os.Remove(hold); err != nil {
		t.Fatal(err)
	}
	again := plan(t, source, out)
	if !again.Work[0].Reuse || again.Work[1].Reuse {
		t.Errorf("the finished cell is %+v, that of the killed process %+v", again.Work[0], again.Work[1])
	}
	o, err := again.Run(context.Background())
	if err != nil || o.Reused != 1 || o.Ran != 1 || o.Failed != 0 {
		t.Errorf("the run after them: %+v, %v", o, err)
	}
}
