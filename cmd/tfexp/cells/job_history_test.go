package cells

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/results/record"
)

// cellWith writes a cell's trace into an experiment's folder.
func cellWith(t *testing.T, events, decisions string) (*record.Experiment, record.CellRef) {
	t.Helper()
	e, c := &record.Experiment{Dir: t.TempDir()}, record.CellRef{Cell: "w-h-rr-r1"}
	dir := filepath.Join(e.Dir, record.CellsDir, c.Cell)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{record.EventsFile: events, record.DecisionsFile: decisions} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return e, c
}

func TestStoryOfAJob(t *testing.T) {
	e, c := cellWith(t, `{"t_s":0,"event":"arrive","job":"long-1","cores":""}
{"t_s":0,"event":"start","job":"long-1","cores":"0-1"}
{"t_s":0.5,"event":"arrive","job":"short-1","cores":""}
{"t_s":0.5,"event":"arrive","job":"wide-1","cores":""}
{"t_s":1,"event":"start","job":"short-1","cores":"1"}
{"t_s":3,"event":"fail","job":"short-1","cores":"","reason":"exit status 3"}
`, `{"t_s":0,"decision":"start","job":"long-1","cores":"0-1","reason":"first in the queue"}
{"t_s":0.6,"decision":"resume","job":"long-1","cores":"0","reason":"fits","passed":[{"job":"short-1","reason":"needs 2 cores, 1 are free","lacks":[{"what":"cores","needs":2,"free":1}]}]}
{"t_s":0.7,"decision":"resume","job":"long-1","cores":"0","reason":"fits","passed":[{"job":"short-1","reason":"needs 2 cores, 0 are free","lacks":[{"what":"cores","needs":2,"free":0}]}]}
{"t_s":1,"decision":"pause","job":"long-1","cores":"","reason":"its quantum ended"}
{"t_s":1,"decision":"start","job":"short-1","cores":"1","reason":"it fits","passed":[{"job":"wide-1","reason":"needs 2 cores"}],"passed_more":3}
`)
	story, jobs, err := jobHistory(e, c, "short-1")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"long-1", "short-1", "wide-1"}, jobs); d != "" {
		t.Error(d)
	}
	var out bytes.Buffer
	printHistory(&show.Printer{Out: &out}, story, 0)
	want := `     0.500 s  arrived
     0.500 s  waited, until 0.600 s: for 1 core, while others held 2, first long-1; 1 other job waited
     0.600 s  passed over 2 times for long-1, until 1.000 s: needs 2 cores, 0–1 are free
     1.000 s  started on cores 1: it fits
              wide-1 was ahead of it and was passed over: needs 2 cores
              3 more jobs ahead of it were passed over
     3.000 s  failed: exit status 3
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}

// A failed attempt releases its resources. The job long-1 fails and waits for its restart; short-1 arrives then, and
// waits only for wide-1.
func TestARetryHoldsNothing(t *testing.T) {
	e, c := cellWith(t, `{"t_s":0,"event":"arrive","job":"long-1","cores":""}
{"t_s":0,"event":"start","job":"long-1","cores":"0-3"}
{"t_s":1,"event":"retry","job":"long-1","cores":"","reason":"exit status 1"}
{"t_s":1,"event":"arrive","job":"wide-1","cores":""}
{"t_s":1,"event":"start","job":"wide-1","cores":"0-2"}
{"t_s":2,"event":"arrive","job":"short-1","cores":""}
{"t_s":4,"event":"finish","job":"wide-1","cores":""}
{"t_s":4,"event":"start","job":"short-1","cores":"0-1"}
{"t_s":5,"event":"finish","job":"short-1","cores":""}
`, "")
	story, _, err := jobHistory(e, c, "short-1")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	printHistory(&show.Printer{Out: &out}, story, 0)
	want := `     2.000 s  arrived
     2.000 s  waited, until 4.000 s: for 2 cores, while others held 3, first wide-1; 1 other job waited
     5.000 s  finished
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
	story, _, err = jobHistory(e, c, "long-1")
	if err != nil {
		t.Fatal(err)
	}
	out.Reset()
	printHistory(&show.Printer{Out: &out}, story, 0)
	want = `     0.000 s  arrived
     1.000 s  failed, and waits to be started again: exit status 1
     1.000 s  waited, until 5.000 s: while others held 2–3, first wide-1; 0–1 other jobs waited
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}

// A job with GPUs waits for GPUs. Instants are shown as dates if the log has dates, also in the reasons of decisions.
func TestStoryOfALogWithGPUs(t *testing.T) {
	e, c := cellWith(t, `{"t_s":0,"event":"arrive","job":"long-1","cores":""}
{"t_s":0,"event":"start","job":"long-1","cores":"0-1","gpus":"0-7"}
{"t_s":10,"event":"arrive","job":"short-1","cores":""}
{"t_s":90000,"event":"finish","job":"long-1","cores":""}
{"t_s":90000,"event":"start","job":"short-1","cores":"0","gpus":"0-3"}
`, `{"t_s":3600,"decision":"start","job":"other-1","cores":"3","reason":"fits","passed":[{"job":"short-1","reason":"would delay \"wide-1\", which is to start at 292h45m1s"}]}
{"t_s":90000,"decision":"start","job":"short-1","cores":"0","reason":"first"}
`)
	story, _, err := jobHistory(e, c, "short-1")
	if err != nil {
		t.Fatal(err)
	}
	for from, want := range map[clock]string{
		0: `    10.000 s  arrived
    10.000 s  waited, until 3600.000 s: for 4 GPUs, while others held 8, first long-1; no other job waited
  3600.000 s  passed over for other-1, until 90000.000 s: would delay "wide-1", which is to start at 1053901.000 s
 90000.000 s  started on cores 0 and GPUs 0-3: first
`,
		1700000000: `2023-11-14 22:13:30  arrived
2023-11-14 22:13:30  waited, until 2023-11-14 23:13:20: for 4 GPUs, while others held 8, first long-1; no other job waited
2023-11-14 23:13:20  passed over for other-1, until 2023-11-15 23:13:20: would delay "wide-1", which is to start at 2023-11-27 02:58:21
2023-11-15 23:13:20  started on cores 0 and GPUs 0-3: first
`,
	} {
		var out bytes.Buffer
		printHistory(&show.Printer{Out: &out}, story, from)
		if d := cmp.Diff(want, out.String()); d != "" {
			t.Error(d)
		}
	}
}

func TestStoryWithoutRecords(t *testing.T) {
	e, c := cellWith(t, "", "")
	c.Cell = "w-h-rr-r2"
	if _, _, err := jobHistory(e, c, "short-1"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// The reason for a wait names the scarce resource, and how much the cluster has of it. If enough was free, the reason
// is that other jobs came first.
func TestWaitsSayWhatWasShort(t *testing.T) {
	for _, c := range []struct {
		cores, gpus int
		held        string // what the first job holds
		want        string
	}{
		{64, 4, `"cores":"0","gpus":"0"`, "for 2 GPUs, while others held 1 of 4, first one-1; at times enough were free, but other jobs came " +
			"first, or there was no room on one node; no other job waited"},
		{64, 4, `"cores":"0","gpus":"0-2"`, "for 2 GPUs, while others held 3 of 4, first one-1; no other job waited"},
		{4, 8, `"cores":"0-3","gpus":"0"`, "for 1 core, while others held 4 of 4, first one-1; no other job waited"},
	} {
		e, ref := cellWith(t, `{"t_s":0,"event":"arrive","job":"one-1","cores":""}
{"t_s":0,"event":"start","job":"one-1",`+c.held+`}
{"t_s":10,"event":"arrive","job":"two-1","cores":""}
{"t_s":90,"event":"finish","job":"one-1","cores":""}
{"t_s":90,"event":"start","job":"two-1","cores":"0","gpus":"0-1"}
`, "")
		ref.Cores, ref.GPUs = c.cores, c.gpus
		story, _, err := jobHistory(e, ref, "two-1")
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		printHistory(&show.Printer{Out: &out}, story, 0)
		if !strings.Contains(out.String(), "waited, until 90.000 s: "+c.want+"\n") {
			t.Errorf("%s\nwant %s", out.String(), c.want)
		}
	}
}
