package watch_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/watch"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/scheduler"
)

// These expressions count parts of the page: bars of the Gantt chart, bars with a length, points of the first loss
// curve; and return its text.
const (
	bars   = `document.querySelectorAll("#gantt rect.span").length`
	open   = `document.querySelectorAll("#gantt rect.span.open").length`
	points = `(document.querySelector("#loss polyline")?.getAttribute("points").split(" ").length ?? 0)`
	text   = `document.body.innerText`
)

// A browser shows a run in progress: the chart grows, and no policy is violated.
func TestInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	run := watch.BeginRun(t)
	run.Start("p-r1")
	run.Event(scheduler.Arrive, 0, nil)
	run.Event(scheduler.Start, 0, scheduler.CoreSet{{Lo: 0, Hi: 2}})
	run.Event(scheduler.Arrive, 1, nil)
	run.Passed(1, "wants 1 core, <b>none</b> is free")
	run.Report("a-1", 1, 2.5, 0.5)

	server := httptest.NewServer(watch.WebHandler(watch.NewFolder(run.Results),
		watch.WebOptions{Every: 20 * time.Millisecond}))
	defer server.Close()
	defer server.CloseClientConnections() // the page keeps a connection open
	p := resultstest.Open(t, server.URL+"/#/study", 390, 844, true)
	p.Until("a job runs", bars+` === 1 && `+open+` === 1 && `+points+` === 1 && `+text+`.includes("a-1") && `+
		text+`.includes("<b>none</b> is free") && `+text+`.includes("0 of 2 cells finished")`)
	var wide int
	if p.Eval("document.documentElement.scrollWidth", &wide); wide > 390 {
		t.Errorf("the page is %d wide in a window of 390", wide)
	}
	run.Event(scheduler.Finish, 0, nil)
	run.Event(scheduler.Start, 1, scheduler.CoreSet{{Lo: 1, Hi: 2}})
	run.Report("a-1", 2, 1.5, 0.75)
	p.Until("the chart grows", bars+" === 2 && "+open+" === 1 && "+points+" === 2")
	run.Event(scheduler.Finish, 1, nil)
	run.Finish()
	p.Until("the cell ends", open+" === 0 && "+text+`.includes("1 of 2 cells finished")`)
	if all := p.Troubles(); len(all) > 0 {
		t.Errorf("the page did what it may not: %q", all)
	}
}

// A cell with records = "metrics" has no events: the page shows its counts.
func TestCellWithoutEventsInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	run := watch.BeginRun(t)
	run.Start("p-r1")
	server := httptest.NewServer(watch.WebHandler(watch.NewFolder(run.Results),
		watch.WebOptions{Every: 20 * time.Millisecond}))
	defer server.Close()
	defer server.CloseClientConnections()
	p := resultstest.Open(t, server.URL+"/#/study/p-r1", 1280, 900, false)
	p.Until("the cell is shown", text+`.includes("0 of 0 jobs that have arrived done")`)
	if all := p.Troubles(); len(all) > 0 {
		t.Errorf("the console says: %q", all)
	}
}
