package live

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// story has the progress of a run with one sample and three cells. One cell is reused, and one fails.
var story = []pipeline.Progress{
	{Kind: stages.StageStart, Stage: "profile", Total: 1},
	{Kind: stages.UnitStart, Stage: "profile", Unit: "mlp"},
	{Kind: stages.UnitEnd, Stage: "profile", Unit: "mlp", Done: 1, Total: 1, Elapsed: 1500 * time.Millisecond},
	{Kind: stages.StageEnd, Stage: "profile", Done: 1, Total: 1, Elapsed: 1500 * time.Millisecond},
	{Kind: stages.StageStart, Stage: "execute", Done: 1, Total: 3, Reused: 1, Left: 20 * time.Second},
	{Kind: stages.UnitStart, Stage: "execute", Unit: "a-r1"},
	{Kind: stages.UnitUpdate, Stage: "execute", Unit: "a-r1", Standing: record.CellProgress{Jobs: 8, Done: 2,
		Running: 1, Waiting: 5}},
	{Kind: stages.WarningSeen, Stage: "execute", Unit: "a-r1", Text: "the machine was busy"},
	{Kind: stages.UnitEnd, Stage: "execute", Unit: "a-r1", Done: 2, Total: 3, Elapsed: 9 * time.Second,
		Left: 10 * time.Second},
	{Kind: stages.UnitStart, Stage: "execute", Unit: "a-r2"},
	{Kind: stages.UnitEnd, Stage: "execute", Unit: "a-r2", Done: 3, Total: 3, Elapsed: 11 * time.Second,
		Err: errors.New("1 of 8 jobs failed")},
	{Kind: stages.StageEnd, Stage: "execute", Done: 3, Total: 3, Reused: 1, Elapsed: 20 * time.Second},
}

func TestPlainTellsTheStory(t *testing.T) {
	var out bytes.Buffer
	v := NewRunProgress(&out, true)
	for _, p := range story {
		v.Observe(p)
	}
	v.Close()
	v.Observe(story[0])
	v.Say("the end")
	want := `profile: 1 to do
profile: 1/1 mlp in 1.5 s
profile: done in 1.5 s
execute: 2 to do, 1 reused, about 20 s left
warning: a-r1: the machine was busy
execute: 2/3 a-r1 in 9 s, about 10 s left
execute: a-r2 failed: 1 of 8 jobs failed
execute: done in 20 s
the end
`
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}

func TestPlainIsSilentWithoutWork(t *testing.T) {
	var out bytes.Buffer
	v := newPlain(&out)
	for _, p := range []pipeline.Progress{
		{Kind: stages.StageStart, Stage: "execute", Total: 4, Done: 4, Reused: 4},
		{Kind: stages.StageEnd, Stage: "execute", Total: 4, Done: 4, Reused: 4},
		{Kind: stages.StageStart, Stage: "report"},
		{Kind: stages.StageEnd, Stage: "report", Total: 1, Done: 1, Elapsed: time.Second},
		{Kind: stages.StageStart, Stage: "execute", Total: 4},
		{Kind: stages.StageEnd, Stage: "execute", Total: 4, Elapsed: time.Second, Err: errors.New("interrupted")},
	} {
		v.Observe(p)
	}
	want := "report: done in 1 s\nexecute: 4 to do\nexecute: stopped after 1 s\n"
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}

// TestPlainIsBriefOnManyCells: a large stage writes at most a hundred lines, and at most one line per second.
func TestPlainIsBriefOnManyCells(t *testing.T) {
	for _, c := range []struct {
		each  time.Duration // duration of a cell
		lines int
	}{{time.Second, 100}, {time.Millisecond, 11}, {0, 2}} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			v := newPlain(&out)
			const cells = 10_000
			for i := 1; i <= cells; i++ {
				time.Sleep(c.each)
				v.Observe(pipeline.Progress{Kind: stages.UnitEnd, Stage: "execute", Unit: fmt.Sprint("c", i), Done: i,
					Total: cells})
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if len(lines) != c.lines || !strings.HasPrefix(lines[c.lines-1], "execute: 10000/10000 c10000") {
				t.Errorf("%s a cell: %d lines, the last %q", c.each, len(lines), lines[len(lines)-1])
			}
		})
	}
}

func TestDurations(t *testing.T) {
	for _, c := range []struct {
		d            time.Duration
		exact, rough string
	}{
		{0, "0 s", "0 s"},
		{1500 * time.Microsecond, "2 ms", "1 s"},
		{400 * time.Millisecond, "0.4 s", "1 s"},
		{9 * time.Second, "9 s", "9 s"},
		{42 * time.Second, "42 s", "40 s"},
		{185 * time.Second, "3 min 05 s", "3 min 10 s"},
		{5 * time.Minute, "5 min 00 s", "5 min"},
		{44*time.Minute + 40*time.Second, "44 min 40 s", "45 min"},
		{130 * time.Minute, "2 h 10 min", "2 h 10 min"},
	} {
		if got := Duration(c.d); got != c.exact {
			t.Errorf("Duration(%v) = %q, want %q", c.d, got, c.exact)
		}
		if got := Rough(c.d); got != c.rough {
			t.Errorf("Rough(%v) = %q, want %q", c.d, got, c.rough)
		}
	}
}
