//go:build unix

package profile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/process"
	"github.com/tfexp/tfexp/scheduler"
)

// Copies run at the same time, each on its own cores. The sample has the means of their reports. If one copy fails, the
// sample fails.
func TestTakeSideBySide(t *testing.T) {
	dir := t.TempDir()
	// Each copy waits for the other, so they would never end if they ran one after the other.
	script := `touch ` + dir + `/%d; while [ ! -e ` + dir + `/%d ]; do :; done
echo '<TIME_WRITTER_OUTPUT>[0, %d, 3, 0]</TIME_WRITTER_OUTPUT>'; exit %d`
	sample := func(code int) (grants []scheduler.Grant, s any, err error) {
		jobs := make([]launch.Job, 2)
		for i := range jobs {
			jobs[i] = launch.Job{Name: fmt.Sprint("copy-", i), Threads: 1, LogPath: filepath.Join(dir, fmt.Sprint(i, ".log")),
				Argv: []string{"sh", "-c", fmt.Sprintf(script, i, 1-i, 1+2*i, i*code)}}
		}
		run := Run{Job: jobs[0], Beside: jobs[1:], Length: 2, Total: 2, Descendants: true,
			Open: func(context.Context, watchers) (engine.Engine, error) {
				e, err := process.New(jobs, process.Options{})
				return granting{e, &grants}, err
			}}
		got, err := takeBeside(t.Context(), run, nil)
		if err == nil && (got.Others != 1 || got.Total != 2 || len(got.Units) != 2 || got.Units[0] != 2 ||
			got.Units[1] != 3 || got.Wall <= 0) {
			t.Errorf("%+v", got)
		}
		return grants, got, err
	}
	grants, _, err := sample(0)
	if err != nil {
		t.Fatal(err)
	}
	if len(grants) != 2 || grants[0].Cores[0].Lo != 0 || grants[1].Cores[0].Lo != 1 {
		t.Errorf("they ran on %v", grants)
	}
	for i := range 2 {
		if err := os.Remove(filepath.Join(dir, fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := sample(3); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("a copy that fails: %v", err)
	}
}
