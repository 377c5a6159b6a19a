package plot

import (
	"fmt"
	"testing"

	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages/plot/canvas"
	"github.com/tfexp/tfexp/stages/plot/plottest"
)

func cores(lo, hi int32) scheduler.CoreSet { return scheduler.CoreSet{{Lo: lo, Hi: hi}} }

// job returns a job that has arrived, with its spans.
func job(name, class string, arrival, end float64, held ...analysis.Span) analysis.ScheduledJob {
	return analysis.ScheduledJob{JobRow: record.JobRow{Outcome: measure.Outcome{
		Job: name, Class: class, JobTimes: measure.JobTimes{Arrival: arrival}, State: scheduler.Finished.String()}},
		Held: held, End: end}
}

// cluster has two nodes with GPUs, servers that come and go, and a job of each sort: one that is paused, one that is
// changed in size, one that runs as a sample, one that shares a GPU, one that fails, and one that never runs.
func cluster() *Chart {
	paused := job("paused", "a", 0, 8, analysis.Span{From: 1, To: 3, Cores: cores(0, 2), GPUs: cores(0, 1)},
		analysis.Span{From: 5, To: 8, Cores: cores(1, 2)})
	paused.Epochs = []float64{2, 3, 5.01, 6.5, 8}
	resized := job("resized", "b", 1, 7, analysis.Span{From: 1, To: 4, Cores: cores(4, 5), GPUs: cores(1, 3)},
		analysis.Span{From: 4, To: 7, Cores: cores(4, 6), GPUs: cores(1, 3)})
	resized.Resizes = []float64{4, 4.001, 6}
	sample := job("sample", "a", 2, 5, analysis.Span{From: 2, To: 2.5, Cores: cores(2, 3), Sample: true},
		analysis.Span{From: 3, To: 5, Cores: cores(2, 3)})
	failed := job("failed", "b", 0.5, 9, analysis.Span{From: 6, To: 9, Cores: cores(6, 8)})
	failed.State = scheduler.Failed.String()
	stopped := job("stopped", "a", 3, 3)
	stopped.State = scheduler.Stopped.String()
	ch := New(&analysis.Schedule{Cores: 8, GPUs: 3, Until: 10, Classes: []string{"a", "b"}, Jobs: []analysis.ScheduledJob{
		paused, resized, sample,
		job("guest", "b", 2, 6, analysis.Span{From: 5, To: 6, Cores: cores(3, 4), GPUs: cores(1, 3), Guest: true}),
		failed, stopped, job("waits", "a", 9, 10),
	}, Servers: []analysis.ServerLife{
		{Cores: cores(0, 4), Created: 0, Up: 1, Down: -1}, {Cores: cores(4, 8), Created: 0, Up: 0, Down: 9, Revoked: true},
		{Cores: cores(4, 8), Created: 9.5, Up: -1, Down: -1},
	}}, &analysis.Palette{})
	ch.Nodes = []record.NodeRef{{Name: "left", Cores: 4, GPUs: 1}, {Name: "right", Cores: 4, GPUs: 2}}
	return ch
}

// crowd returns a chart with many classes and too many jobs for lanes, on a machine without nodes.
func crowd() *Chart {
	s := &analysis.Schedule{Cores: 40, GPUs: 2, From: 2, Until: 1300}
	for i := range 120 {
		class := fmt.Sprint("class-", i%20)
		if i < 20 {
			s.Classes = append(s.Classes, class)
		}
		from := 2 + 10*float64(i)
		j := job(fmt.Sprint("j", i), class, from/2, from+60, analysis.Span{From: from, To: from + 60, Cores: cores(int32(i%40), int32(i%40)+1)},
			analysis.Span{From: from + 60, To: from + 60.0001, Cores: cores(int32(i%40), int32(i%40)+1)})
		j.Epochs = []float64{from, from + 0.5}
		s.Jobs = append(s.Jobs, j)
	}
	return New(s, &analysis.Palette{})
}

func TestTimelineGolden(t *testing.T) {
	for name, ch := range map[string]*Chart{"cluster": cluster(), "crowd": crowd()} {
		ch.ThinEpochs()
		size := ch.Size()
		keys := ch.Keys(size.Row > 0)
		picture := canvas.Painting{Width: canvas.Width, Height: canvas.HeadHeight(keys) + size.Height + AxisHeight + canvas.Margin,
			Paint: func(c draw.Canvas) { ch.Paint(canvas.Head(c, name, keys), size) }}
		got, err := picture.SVG(name, "")
		if err != nil {
			t.Fatal(err)
		}
		plottest.Same(t, name+".svg", got, *update)
	}
}

// The size depends on the content: many cores have thin rows, and lanes are left out if they would be thinner than a
// line.
func TestSize(t *testing.T) {
	for _, c := range []struct {
		cores, gpus, jobs int
		core, gpuRows     float64 // points, rows
		row               float64
	}{
		{1, 0, 1, 34, 0, 13}, {4, 0, 20, 34, 0, 13}, {19, 0, 26, 10, 0, 10}, {190, 0, 1040, 1, 0, 0.25}, {400, 0, 1041, 1, 0, 0},
		{4000, 0, 10, 0.1, 0, 13}, {3, 2, 1, 190 / 5.6, 1, 13}, {399, 1, 10, 400 / 400.6, 5 / (400 / 400.6), 13},
	} {
		ch := New(&analysis.Schedule{Cores: c.cores, GPUs: c.gpus, Jobs: make([]analysis.ScheduledJob, c.jobs), Classes: []string{""}}, &analysis.Palette{})
		s := ch.Size()
		near := func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }
		if !near(s.core, c.core) || c.gpus > 0 && !near(ch.gpuRows, c.gpuRows) || !near(s.Row, c.row) {
			t.Errorf("%+v: a core of %g points, a GPU of %g rows, a lane of %g points", c, s.core, ch.gpuRows, s.Row)
		}
		if lanes := laneGap + s.Row*float64(c.jobs); s.Row > 0 && !near(s.Height, ch.rows()*s.core+lanes) ||
			s.Row == 0 && !near(s.Height, ch.rows()*s.core) {
			t.Errorf("%+v: %g points high", c, s.Height)
		}
	}
}

// A cell without length still has an axis, and epochs that are too short to see are left out.
func TestLengthsOfNothing(t *testing.T) {
	ch := New(&analysis.Schedule{Cores: 1, Classes: []string{"a"}, Jobs: []analysis.ScheduledJob{job("j", "a", 0, 0)}}, &analysis.Palette{})
	p := canvas.Painting{Width: 300, Height: 200, Paint: func(c draw.Canvas) { ch.Paint(c, ch.Size()) }}
	svg, err := p.SVG("", "")
	if err != nil {
		t.Fatal(err)
	}
	plottest.Same(t, "nothing.svg", svg, *update)
	ch = New(&analysis.Schedule{Cores: 1, Until: canvas.Width, Classes: []string{"a"}, Jobs: []analysis.ScheduledJob{
		job("apart", "a", 0, 9, analysis.Span{From: 3, To: 6}, analysis.Span{From: 6, To: 9}),
		job("together", "a", 0, 9, analysis.Span{From: 3, To: 6}, analysis.Span{From: 6, To: 8.9}),
	}}, &analysis.Palette{})
	for i := range ch.Lanes {
		ch.Lanes[i].Epochs = []float64{6, 9}
	}
	ch.ThinEpochs()
	if len(ch.Lanes[0].Epochs) != 2 || ch.Lanes[1].Epochs != nil {
		t.Errorf("epochs of 3 points: %v, of less: %v", ch.Lanes[0].Epochs, ch.Lanes[1].Epochs)
	}
}
