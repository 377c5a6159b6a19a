//go:build unix

package process

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// The progress lines of a job wake up the engine when the number of units has doubled. The program
// waits at its fifo until the test has read its last report.
func TestProgress(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skip("no named pipes:", err)
	}
	line := func(unit string) string { return `echo '{"tfexp":{"epoch":9,"step":` + unit + `}}'; ` }
	j := sh(`echo loading; ` + line("1") + `cat "$FIFO"; ` + line("1") + line("2") + `cat "$FIFO"; ` +
		line("3") + line("5") + line("99") + `cat "$FIFO"`)
	j.Env = []string{"FIFO=" + fifo}
	j.Steps = true
	e := open(t, Options{}, j, sh("true"))
	e.Watch([]int{10, 0})
	start(t, e, 0)
	before := time.Duration(0)
	for _, want := range []int{1, 2, 10} { // no more units than the job has, and each number wakes up the engine
		for got := 0; got < want; {
			now, news, err := e.Next(patient(t), scheduler.Never)
			if err != nil || len(news) == 0 {
				t.Fatal(news, err)
			}
			for _, p := range news {
				if p.Kind != scheduler.JobProgress || p.Job != 0 || p.Units <= got || p.Units > want || p.At < before ||
					p.At > now {
					t.Fatalf("%+v at %s, after %d units", p, now, got)
				}
				got, before = p.Units, p.At
			}
		}
		if err := os.WriteFile(fifo, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	for { // a last report may come before the end
		_, news, err := e.Next(t.Context(), scheduler.Never)
		if err != nil {
			t.Fatal(err)
		}
		if len(news) > 0 && news[0].Kind == scheduler.JobEnded {
			if news[0].State != scheduler.Finished {
				t.Error(news[0])
			}
			break
		}
	}
	start(t, e, 1) // a job without units
	if end := next(t, e); end.State != scheduler.Finished {
		t.Error(end)
	}
}
