package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
)

// open shows a page of a small experiment. With TFEXP_KEEP_REPORT, screenshots are kept there.
func open(t *testing.T, width int, dark bool) *resultstest.Page {
	t.Helper()
	if testing.Short() {
		t.Skip("takes a browser")
	}
	dir, _ := write(t, resultstest.Small())
	p := resultstest.Open(t, "file://"+filepath.ToSlash(filepath.Join(dir, record.ReportFile)), width, 900, dark)
	t.Cleanup(func() {
		if keep := os.Getenv("TFEXP_KEEP_REPORT"); keep != "" {
			for i, part := range []string{"header", "#policies", "[aria-labelledby=pictures]",
				"#cells"} {
				name := filepath.Join(keep, strings.ReplaceAll(t.Name(), "/", "-")+string(rune('a'+i))+".png")
				if err := os.WriteFile(name, p.Screenshot(part), 0o644); err != nil {
					t.Error(err)
				}
			}
		}
	})
	return p
}

func TestPageInABrowser(t *testing.T) {
	for _, c := range []struct {
		name  string
		width int
		dark  bool
	}{{"desktop", 1200, false}, {"phone in the dark", 390, true}} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, c.width, c.dark)
			wide(t, p, c.width)
			firstPicture(t, p)
			explains(t, p, c.width)
			sorts(t, p)
			filters(t, p)
			turnsOff(t, p, c.dark)
			pointsAndZooms(t, p)
			prints(t, p)
			if all := p.Troubles(); len(all) > 0 {
				t.Errorf("the console says: %q", all)
			}
		})
	}
}

// wide holds that the page itself never scrolls sideways.
func wide(t *testing.T, p *resultstest.Page, width int) {
	t.Helper()
	var is int
	if p.Eval("document.documentElement.scrollWidth", &is); is > width {
		t.Errorf("the page is %d wide in a window of %d", is, width)
	}
}

// firstPicture holds that the first picture begins within the first screen, with its larger part.
func firstPicture(t *testing.T, p *resultstest.Page) {
	t.Helper()
	var top, bottom float64
	p.Eval(`document.querySelector("#answer img, main img, img").getBoundingClientRect().top`, &top)
	p.Eval(`document.querySelector("#answer img, main img, img").getBoundingClientRect().bottom`, &bottom)
	if (top+bottom)/2 > screen {
		t.Errorf("the first picture is from %.0f to %.0f, and the screen has %d", top, bottom, screen)
	}
}

// screen is the height of the least screen, in CSS pixels.
const screen = 800

// explains holds that every term shows its meaning where it is tapped, within the window.
func explains(t *testing.T, p *resultstest.Page, width int) {
	t.Helper()
	var shown, past int
	p.Eval(`[...document.querySelectorAll("abbr[tabindex]")].filter((a) => { a.focus();
		return document.activeElement === a && getComputedStyle(a, "::after").content.includes(a.title); }).length`, &shown)
	p.Eval(`document.querySelectorAll("abbr[tabindex]").length`, &past)
	if shown == 0 {
		t.Errorf("of %d terms none shows its meaning", past)
	}
	wide(t, p, width)
	p.Eval(`document.activeElement.blur()`, nil)
}

const cells = `document.querySelector("#cells table")`

func column(t *testing.T, p *resultstest.Page) (names []string) {
	t.Helper()
	p.Eval(`[...`+cells+`.tBodies[0].rows].filter((r) => !r.hidden).map((r) => r.cells[0].textContent)`, &names)
	return names
}

func sorts(t *testing.T, p *resultstest.Page) {
	t.Helper()
	press := `{ const heads = ` + cells + `.tHead.rows[0].cells; heads[0].querySelector("button").click(); }`
	first := column(t, p)
	p.Eval(press, nil)
	p.Eval(press, nil)
	down := column(t, p)
	if len(first) != 10 || down[0] != "mixed-machine-rr-quantum=300ms-r5" || down[9] != "mixed-machine-fcfs-r1" {
		t.Errorf("sorted downwards: %v", down)
	}
	p.Eval(press, nil)
	if again := column(t, p); strings.Join(again, " ") != strings.Join(first, " ") {
		t.Errorf("not in its own order again: %v", again)
	}
	var numbers []float64
	p.Eval(`{ const heads = [...`+cells+`.tHead.rows[0].cells]; heads.find((h) => h.textContent.includes("makespan")).querySelector("button").click(); }
		[...`+cells+`.tBodies[0].rows].map((r) => parseFloat(r.cells[[...`+cells+`.tHead.rows[0].cells].findIndex((h) => h.textContent.includes("makespan"))].textContent))`, &numbers)
	for i := 1; i < len(numbers); i++ {
		if numbers[i] < numbers[i-1] {
			t.Errorf("not sorted as numbers: %v", numbers)
		}
	}
}

func filters(t *testing.T, p *resultstest.Page) {
	t.Helper()
	p.Eval(`{ const f = document.querySelector("#cells .filter input"); f.value = "FCFS finished"; f.dispatchEvent(new Event("input")); }`, nil)
	if left := column(t, p); len(left) != 5 {
		t.Errorf("filtered: %v", left)
	}
	p.Eval(`{ const f = document.querySelector("#cells .filter input"); f.value = ""; f.dispatchEvent(new Event("input")); }`, nil)
}

// turnsOff turns a series of a picture off and on.
func turnsOff(t *testing.T, p *resultstest.Page, dark bool) {
	t.Helper()
	const group = `document.querySelector(".drawn [data-series=fcfs]")`
	var before, off, after, ink string
	p.Eval(group+`.getAttribute("visibility")`, &before)
	const press = `[...document.querySelectorAll(".switches button")].find((b) => b.textContent === "fcfs").click()`
	p.Eval(press, nil)
	p.Eval(group+`.getAttribute("visibility")`, &off)
	p.Eval(press, nil)
	p.Eval(group+`.getAttribute("visibility")`, &after)
	if before != "visible" || off != "hidden" || after != "visible" {
		t.Errorf("the series is %s, %s, %s", before, off, after)
	}
	p.Eval(`document.querySelector(".drawn text").getAttribute("fill")`, &ink)
	if (ink != "#222222") != dark {
		t.Errorf("the ink is %s", ink)
	}
}

// pointsAndZooms points at a job, and zooms.
func pointsAndZooms(t *testing.T, p *resultstest.Page) {
	t.Helper()
	// point sends an event of the pointer to a place of the schedule, and returns the text shown then.
	point := func(kind string, x, y int) (told string) {
		t.Helper()
		p.Eval(fmt.Sprintf(`(() => {
			const c = document.querySelector(".schedule canvas"), b = c.getBoundingClientRect();
			c.dispatchEvent(new PointerEvent(%q, {clientX: b.x + %d, clientY: b.y + %d}));
			return document.querySelector(".told").textContent })()`, kind, x, y), &told)
		return told
	}
	key := func(name string, times int) (told string) {
		t.Helper()
		p.Eval(fmt.Sprintf(`(() => {
			for (let i = 0; i < %d; i++) document.querySelector(".schedule canvas").dispatchEvent(new KeyboardEvent("keydown", {key: %q}));
			return document.querySelector(".told").textContent })()`, times, name), &told)
		return told
	}
	if told := point("pointermove", 90, 12); !strings.Contains(told, "long-1") || !strings.Contains(told, "held 2 cores") {
		t.Errorf("at the first bar it says %q", told)
	}
	if told := key("ArrowDown", 20); !strings.Contains(told, "short-6") || !strings.Contains(told, "waited from") ||
		!strings.Contains(told, "long-1 ran when it began") {
		t.Errorf("of the last job it says %q", told)
	}
	point("pointerleave", 0, 0)
	picture := func() (url string) {
		t.Helper()
		p.Eval(`document.querySelector(".schedule canvas").toDataURL()`, &url)
		return url
	}
	whole := picture()
	point("pointerdown", 100, 20)
	point("pointermove", 150, 20)
	point("pointerup", 150, 20)
	part := picture()
	key("Escape", 1)
	if again := picture(); whole == part || whole != again {
		t.Error("dragging does not zoom, or Escape does not show all")
	}
}

// prints checks that the printed page has all tables, and the open pictures (two of six are folded) instead of the script's drawings.
func prints(t *testing.T, p *resultstest.Page) {
	t.Helper()
	p.Eval(`document.querySelector("#cells").open = false`, nil)
	p.Paper()
	p.Until("all pictures are there on paper", `[...document.querySelectorAll(".sheet img")].every((i) => i.complete)`)
	var seen struct{ Rows, Pictures, Cut, Drawn int }
	p.Eval(`(() => {
		const seen = (e) => e.getClientRects().length > 0 && e.getBoundingClientRect().height > 0, of = (s) => [...document.querySelectorAll(s)];
		return { rows: of("#cells tbody tr").filter(seen).length, pictures: of(".sheet img").filter(seen).length,
			cut: of(".sheet").filter((s) => s.scrollWidth > s.clientWidth + 1).length, drawn: of(".drawn, .schedule").filter(seen).length };
	})()`, &seen)
	if seen.Rows != 10 || seen.Pictures != 4 || seen.Cut != 0 || seen.Drawn != 0 {
		t.Errorf("printed are %d rows of 10 and %d pictures of 4, of which %d are cut; %d are drawn by the script", seen.Rows,
			seen.Pictures, seen.Cut, seen.Drawn)
	}
	if pdf := p.Print(); !bytes.HasPrefix(pdf, []byte("%PDF")) || len(pdf) < 20_000 {
		t.Errorf("a printed page of %d bytes", len(pdf))
	} else if keep := os.Getenv("TFEXP_KEEP_REPORT"); keep != "" {
		if err := os.WriteFile(filepath.Join(keep, filepath.Base(t.Name())+".pdf"), pdf, 0o644); err != nil {
			t.Error(err)
		}
	}
}
