package canvas_test

import (
	"flag"
	"fmt"
	"image/color"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/stages/plot/canvas"
	"github.com/tfexp/tfexp/stages/plot/plottest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden draws the elements of pictures.
func TestGolden(t *testing.T) {
	classes := []string{"a", "b"}
	scatter, dots := canvas.Scatter("Scatter", []canvas.Dot{{Predicted: 1, Actual: 1.2}, {Predicted: 4, Actual: 3, Class: 1}},
		[]canvas.Bar{{Low: 0.9, High: 1.5, Actual: 1.2}, {Low: 0.1, High: 90, Actual: 3, Class: 1}, {Low: 20, High: 30, Actual: 2}}, classes)
	far, wide := canvas.Scatter("Far apart", []canvas.Dot{{Predicted: 0.2, Actual: 0.25}, {Predicted: 700, Actual: 600, Class: 1}},
		[]canvas.Bar{{Low: 0.001, High: 0.3, Actual: 0.25}, {Low: 500, High: 5000, Actual: 600, Class: 1}}, classes)
	errors, rows := canvas.ErrorBars("Errors", []canvas.ErrorRow{
		{Label: "all", Bias: -3, SD: 5, MAE: 4, Head: true}, {Label: "all", Class: 1, Bias: 2, SD: 1, MAE: 2, Head: true},
		{Label: "a group with a name that is far too long", Bias: 10, SD: 0.5, MAE: 12},
	}, classes)
	var keys []canvas.Key
	for i := range 11 {
		keys = append(keys, canvas.Key{Label: fmt.Sprint("a class with a name ", i), Swatch: canvas.Hatched(i), Series: fmt.Sprint("s", i%2)})
	}
	for name, p := range map[string]canvas.Painting{
		"scatter": {Height: scatter, Paint: dots}, "decades": {Height: far, Paint: wide}, "errors": {Height: errors, Paint: rows},
		"head": {Height: canvas.HeadHeight(keys) + 40, Paint: func(c draw.Canvas) {
			c = canvas.Head(c, "A title that is so long that it becomes smaller"+strings.Repeat(" and smaller", 12), keys)
			c.SetColor(canvas.Shade(canvas.Hue(3), 0.5))
			c.Fill(canvas.Rectangle(c.Min.X, c.Min.Y, c.Max.X, c.Max.Y))
			for i := range 9 {
				canvas.Hatch(c, i*8+1, canvas.Hue(i), c.Min.X+vg.Length(40*i), c.Min.Y+5, c.Min.X+vg.Length(40*i+30), c.Max.Y-5)
			}
		}},
		"area": {Height: 120, Paint: func(c draw.Canvas) {
			p := canvas.NewPlot()
			p.X.Max, p.Y.Max = 5, 12345
			p.Y.Tick.Marker = canvas.Nice{Room: 300}
			p.Add(canvas.Grid{Vertical: true, Horizontal: true}, canvas.Area{Per: 2, Usage: canvas.Usage{Cores: 10000, Ink: canvas.Hue(4),
				Rows: []canvas.Level{{At: 1, Held: 3000}, {At: 4, Held: 9000}, {At: 9, Held: 0}}}})
			p.Draw(c)
		}},
	} {
		p.Width = canvas.Width
		for _, look := range []canvas.Look{canvas.Screen, canvas.Dark, canvas.Paper} {
			if look != canvas.Screen && name != "head" {
				continue
			}
			p.Style = look
			p := p.Laid()
			got, err := p.SVG(name, `a "caption" <of it>`)
			if err != nil {
				t.Fatal(err)
			}
			plottest.Same(t, fmt.Sprint(name, "-", look, ".svg"), got, *update)
		}
	}
}

func labels(ticks []plot.Tick) string {
	var all []string
	for _, tick := range ticks {
		all = append(all, fmt.Sprintf("%.12g=%s", tick.Value+0, tick.Label))
	}
	return strings.Join(all, " ")
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		ticks plot.Ticker
		lo    float64
		hi    float64
		want  string
	}{
		{canvas.Decades{}, 1, 20, "1=1 2=2 5=5 10=10 20=20"}, {canvas.Decades{}, 0.05, 0.3, "0.05=0.05 0.1=0.1 0.2=0.2"},
		{canvas.Decades{}, 1, 1000, "1=1 2=2 5=5 10=10 20=20 50=50 100=100 200=200 500=500 1000=1,000"},
		{canvas.Decades{}, 0.5, 10000, "1=1 10=10 100=100 1000=1,000 10000=10,000"},
		{canvas.Nice{Room: 150}, 0, 10, "0=0 2=2 4=4 6=6 8=8 10=10"}, {canvas.Nice{Room: 1}, 0, 10, "0=0"},
		{canvas.Nice{Room: 100}, -0.5, 0.5, "-0.5=−0.5 0=0.0 0.5=0.5"}, {canvas.Nice{Room: 150}, 3, 4, "3=3.0 3.5=3.5 4=4.0"},
		{canvas.Nice{Room: 100}, 0, 25000, "0=0 20000=20,000"},
		{canvas.Nice{Room: 150, Least: 1}, 0.8, 3.2, "1=1 2=2 3=3"}, {canvas.Nice{Room: 150, Least: 1}, 0.5, 1.5, "1=1"},
	} {
		if got := labels(c.ticks.Ticks(c.lo, c.hi)); got != c.want {
			t.Errorf("%T from %g to %g: %s, want %s", c.ticks, c.lo, c.hi, got, c.want)
		}
	}
}

func TestNumbersAndTexts(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", -999: "-999", -1000: "-1,000", 1234567: "1,234,567"} {
		if got := canvas.Thousands(v); got != want {
			t.Errorf("%g is written %s, want %s", v, got, want)
		}
	}
	for _, c := range []struct {
		most, seconds float64
		unit          string
	}{
		{0, 1, "s"}, {0.49, 0.001, "ms"}, {0.5, 1, "s"}, {599, 1, "s"}, {600, 60, "min"}, {10799, 60, "min"}, {10800, 3600, "h"},
		{259199, 3600, "h"}, {259200, 86400, "d"},
	} {
		if seconds, unit := canvas.TimeUnit(c.most); seconds != c.seconds || unit != c.unit {
			t.Errorf("up to %g s: %s of %g s", c.most, unit, seconds)
		}
	}
	const long = "a long name of it"
	width := canvas.TextWidth(long, 9)
	if got := canvas.Fit(long, width, 9); got != long {
		t.Errorf("with just enough room: %q", got)
	}
	if got := canvas.Fit(long, width-1, 9); got == long || !strings.HasSuffix(got, "…") || canvas.TextWidth(got, 9) > width-1 ||
		!strings.HasPrefix(long, strings.TrimSuffix(got, "…")) {
		t.Errorf("with too little room: %q", got)
	}
	if got := canvas.Fit("a bbbbb", canvas.TextWidth("a …", 9), 9); got != "a…" {
		t.Errorf("a space before the end: %q", got)
	}
	if got := canvas.Fit(long, 0, 9); got != "a…" {
		t.Errorf("without room: %q", got)
	}
	if got := canvas.Shade(color.NRGBA{R: 100, G: 200, B: 0, A: 255}, 0.5); got != (color.NRGBA{R: 178, G: 228, B: 128, A: 255}) {
		t.Errorf("half white is %v", got)
	}
}

// Averages over stretches keep the area under the curve.
func TestThin(t *testing.T) {
	rows := []canvas.Level{{At: 0, Held: 4}, {At: 1, Held: 2}, {At: 3, Held: 6}, {At: 3.5, Held: 0}, {At: 8, Held: 1}}
	if got := canvas.Thin(rows, 5); len(got) != 5 || got[2] != rows[2] {
		t.Errorf("few rows become %v", got)
	}
	want := []canvas.Level{{At: 0, Held: 3}, {At: 2, Held: 2.5}, {At: 4, Held: 0}, {At: 6, Held: 0}, {At: 8, Held: 1}}
	got := canvas.Thin(rows, 4)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the averages are %v, want %v", got, want)
	}
}

// The range ends at ticks that enclose the values, and is less than a step wider at each end.
func TestCover(t *testing.T) {
	for _, c := range []struct{ lo, hi float64 }{{0, 177}, {0, 73}, {-99, 0}, {-8, 73.9}, {0, 1.0001}, {0, 1e-9}, {3.2, 3.9}, {0, 9.99e6}} {
		for _, room := range []float64{60, 130, 300} {
			n := canvas.Nice{Room: room}
			low, high := n.Cover(c.lo, c.hi)
			ticks := n.Ticks(low, high)
			if len(ticks) < 2 {
				continue // there is room for one label
			}
			first, last := ticks[0].Value, ticks[len(ticks)-1].Value
			step := ticks[1].Value - first
			const rounding = 1e-6
			if first > c.lo+rounding*step || last < c.hi-rounding*step || c.lo-first >= step || last-c.hi >= step {
				t.Errorf("ticks from %g to %g by %g for values from %g to %g", first, last, step, c.lo, c.hi)
			}
		}
	}
}

// Dates are round and short, and as many as fit.
func TestDates(t *testing.T) {
	const morning = 749448000 // 1 October 1993, 04:00
	for _, c := range []struct {
		hours, room float64
		want        string
	}{
		{2, 400, "0=04:00 0.25=04:15 0.5=04:30 0.75=04:45 1=05:00 1.25=05:15 1.5=05:30 1.75=05:45"},
		{30, 400, "2=1 Oct 06:00 8=1 Oct 12:00 14=1 Oct 18:00 20=2 Oct 00:00 26=2 Oct 06:00"},
		{24 * 5, 400, "20=2 Oct 44=3 Oct 68=4 Oct 92=5 Oct 116=6 Oct"},
		{24 * 92, 428, "140=7 Oct 476=21 Oct 812=4 Nov 1148=18 Nov 1484=2 Dec 1820=16 Dec"},
		{24 * 800, 428, "1484=2 Dec 1993 5852=2 Jun 1994 10220=1 Dec 1994 14588=1 Jun 1995"},
	} {
		if got := labels(canvas.Dates{Origin: morning, Per: 3600, Room: c.room}.Ticks(0, c.hours)); got != c.want {
			t.Errorf("%g hours: %s, want %s", c.hours, got, c.want)
		}
	}
}
