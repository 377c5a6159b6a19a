package screen

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

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

// TestBoardOfASimulatedCell checks that the progress of a long simulated cell is shown.
func TestBoardOfASimulatedCell(t *testing.T) {
	now := time.Unix(0, 0)
	var b board
	b.take(pipeline.Progress{Kind: stages.UnitStart, Stage: "execute", Unit: "w-h-easy-r1"}, now)
	b.take(pipeline.Progress{Kind: stages.UnitUpdate, Stage: "execute", Unit: "w-h-easy-r1",
		Standing: record.CellProgress{Done: 5000, Running: 3, Jobs: 9000, At: 52 * 3600}}, now)
	now = now.Add(2 * time.Second)
	for width, want := range map[int]string{
		100: "  w-h-easy-r1  5000/9000 jobs done, 3 running, at 2 d 04 h of its time  2 s",
		60:  "  w-h-easy-r1  5000/9000 jobs done, 3 running  2 s",
	} {
		if got := b.lines(now, width, false)[1].text; got != want {
			t.Errorf("at %d columns: %q, want %q", width, got, want)
		}
	}
}

// TestBoardOfPlanning: planning, which reports no end, is over when the first stage starts.
func TestBoardOfPlanning(t *testing.T) {
	now := time.Unix(0, 0)
	var b board
	b.take(pipeline.Progress{Kind: stages.UnitEnd, Stage: "plan", Unit: "a-r1-trial2", Done: 2, Total: 8}, now)
	now = now.Add(3 * time.Second)
	b.take(pipeline.Progress{Kind: stages.StageStart, Stage: "execute", Total: 8}, now)
	now = now.Add(5 * time.Second)
	if l := b.lines(now, 80, false)[0]; l.mark != "✓" || !strings.HasSuffix(l.text, "2/8  3 s") {
		t.Errorf("planning is shown as %q %q", l.mark, l.text)
	}
}

func TestBoard(t *testing.T) {
	now := time.Unix(0, 0)
	var b board
	show := func(width int) string {
		var s strings.Builder
		for _, l := range b.lines(now, width, false) {
			s.WriteString(l.mark + " " + l.text + "\n")
		}
		return s.String()
	}
	for _, p := range story[:7] {
		b.take(p, now)
	}
	now = now.Add(5 * time.Second)
	want := `✓ profile   1/1  1.5 s
▸ execute   ━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌ 1/3 (1 reused)  5 s  about 15 s left
    a-r1  2/8 jobs done, 1 running, 5 waiting  5 s
`
	if got := show(80); got != want {
		t.Errorf("while it runs:\n%s\nwant:\n%s", got, want)
	}
	if got := show(40); strings.Contains(got, "━") {
		t.Errorf("a bar on a narrow terminal:\n%s", got)
	}
	now = now.Add(time.Minute)
	if got := show(80); strings.Contains(got, "left") {
		t.Errorf("time left after it has run out:\n%s", got)
	}
	for _, p := range story[7:] {
		b.take(p, now)
	}
	want = `✓ profile   1/1  1.5 s
✗ execute   3/3 (1 reused), 1 failed  20 s
`
	if got := show(80); got != want {
		t.Errorf("at the end:\n%s\nwant:\n%s", got, want)
	}
}

func TestBoardBoundsTheUnits(t *testing.T) {
	var b board
	now := time.Unix(0, 0)
	b.take(pipeline.Progress{Kind: stages.StageStart, Stage: "execute", Total: 50}, now)
	for i := range 20 {
		b.take(pipeline.Progress{Kind: stages.UnitStart, Stage: "execute", Unit: fmt.Sprint("c", i)}, now)
	}
	lines := b.lines(now.Add(brief), 80, true)
	if len(lines) != 1+maxUnits+1 || !strings.Contains(lines[len(lines)-1].text, "12 more") {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1].text)
	}
}

func TestNarrowRowsKeepTheNumbers(t *testing.T) {
	now := time.Unix(0, 0)
	u := unit{name: "mixed-this_machine-rr-quantum=500ms-r12", began: now,
		jobs: pipeline.Progress{Standing: record.CellProgress{Jobs: 8, Done: 3}}}
	if got := u.text(now, 40); got != "mixed-thi…=500ms-r12  3/8 jobs done  0 s" {
		t.Errorf("in 40 columns: %q", got)
	}
	if got := u.text(now, 5); got != "mixe…-r12  3/8 jobs done  0 s" {
		t.Errorf("without room: %q", got)
	}
}

func TestProgressDrawsAtMostTenTimesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(80)
		v := newProgress(s, func() (int, int) { return 80, 24 }, true)
		for i := range 1000 {
			v.Observe(pipeline.Progress{Kind: stages.UnitUpdate, Stage: "execute", Unit: "c", Done: i, Total: 1000})
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		if s.writes < 5 || s.writes > 11 {
			t.Errorf("%d writes in a second", s.writes)
		}
		v.Close()
	})
}

func TestProgressLeavesTheLastState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(80)
		v := newProgress(s, func() (int, int) { return 80, 24 }, true)
		for _, p := range story {
			v.Observe(p)
			time.Sleep(time.Second)
		}
		v.Say("stopping jobs…")
		v.Close()
		v.Close()
		v.Observe(story[0])
		want := `warning: a-r1: the machine was busy
execute: a-r2 failed: 1 of 8 jobs failed
stopping jobs…
✓ profile   1/1  1.5 s
✗ execute   3/3 (1 reused), 1 failed  20 s`
		if s.String() != want {
			t.Errorf("screen:\n%s\nwant:\n%s", s, want)
		}
		if !s.cursor {
			t.Error("the cursor was not given back")
		}
	})
}

// The running jobs of a cell are shown below it, with their reports; parts that do not fit are left out.
func TestBoardShowsTraining(t *testing.T) {
	now := time.Unix(0, 0)
	var b board
	b.take(pipeline.Progress{Kind: stages.StageStart, Stage: "execute", Total: 3}, now)
	b.take(pipeline.Progress{Kind: stages.UnitStart, Stage: "execute", Unit: "a-r1"}, now)
	reports := []stages.LatestReport{
		{Job: "long-1", Epoch: 12, Step: 100, Loss: 0.4123456, Accuracy: 0.92},
		{Job: "a-job-with-a-name-that-is-long-1", Step: 3, Loss: 2, Accuracy: math.NaN()},
	}
	for i := range 4 {
		reports = append(reports, stages.LatestReport{Job: fmt.Sprint("short-", i), Epoch: 1, Loss: math.NaN(),
			Accuracy: math.NaN()})
	}
	b.take(pipeline.Progress{Kind: stages.UnitUpdate, Stage: "execute", Unit: "a-r1",
		Standing: record.CellProgress{Jobs: 8, Running: 6},
		Training: reports}, now)
	for width, want := range map[int][]string{
		80: {
			"    long-1                    epoch 12  loss 0.4123  accuracy 0.92",
			"    a-job-with-…at-is-long-1  step 3  loss 2",
			"    short-0                   epoch 1", "    short-1                   epoch 1", "    … and 2 more",
		},
		40: {
			"    long-1       epoch 12  loss 0.4123",
			"    a-job…ong-1  step 3  loss 2",
			"    short-0      epoch 1", "    short-1      epoch 1", "    … and 2 more",
		},
	} {
		lines := b.lines(now.Add(2*time.Second), width, false)
		for i, l := range lines[2:] {
			if i >= len(want) || strings.Join(strings.Fields(l.text), " ") != strings.Join(strings.Fields(want[i]), " ") {
				t.Errorf("at a width of %d, line %d is %q, want %q", width, i, l.text, want)
			}
			if n := utf8.RuneCountInString(l.text); n > width-2 {
				t.Errorf("at a width of %d, %q has %d columns", width, l.text, n)
			}
		}
	}
}

func TestWrap(t *testing.T) {
	const text = "a line of words that is wide\n  short\nwithoutanywordsinitatallsothatitcannotbreak"
	want := "a line of words\n    that is wide\n  short\nwithoutanywordsinitatallsothatitcannotbreak"
	if got := wrap(text, 20); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := wrap(text, 80); got != text {
		t.Errorf("got %q, want %q", got, text)
	}
}
