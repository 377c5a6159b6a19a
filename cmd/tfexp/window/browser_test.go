package window_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/watch"
	"github.com/tfexp/tfexp/cmd/tfexp/watch/watchtest"
	"github.com/tfexp/tfexp/cmd/tfexp/window"
	"github.com/tfexp/tfexp/scheduler"
)

// seen is what the browser says of the page that it shows.
type seen struct {
	Text     string
	Spans    int // of the Gantt chart
	Open     int // of these, those that last
	Points   int // of the curves of loss
	Refused  []string
	Overflow bool // the page is wider than the window
}

const spy = `"use strict";
const refused = [];
addEventListener("securitypolicyviolation", (e) => refused.push(e.violatedDirective + " " + e.blockedURI));
addEventListener("error", (e) => refused.push(String(e.message)));
setInterval(() => {
  const spans = [...document.querySelectorAll("#gantt rect.span")], line = document.querySelector("#loss polyline");
  fetch("/seen", { method: "POST", body: JSON.stringify({
    Text: document.body.innerText, Spans: spans.length, Open: spans.filter((s) => s.classList.contains("open")).length,
    Points: line ? line.getAttribute("points").split(" ").length : 0, Refused: refused,
    Overflow: document.documentElement.scrollWidth > innerWidth,
  }) });
}, 50);
`

// A browser shows a run while it goes on: the chart grows, and no policy is violated.
func TestInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("install chromium to test the page in a browser")
	}
	run := watchtest.Begin(t)
	run.Start("p-r1")
	run.Event(scheduler.Arrive, 0, nil)
	run.Event(scheduler.Start, 0, scheduler.CoreSet{{Lo: 0, Hi: 2}})
	run.Event(scheduler.Arrive, 1, nil)
	run.Passed(1, "wants 1 core, <b>none</b> is free")
	run.Report("a-1", 1, 2.5, 0.5)

	told := make(chan seen, 1000)
	page := window.Handler(watch.New(run.Results), window.Options{Every: 20 * time.Millisecond})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/seen":
			var s seen
			if json.NewDecoder(r.Body).Decode(&s) == nil {
				select {
				case told <- s:
				default:
				}
			}
		case "/spy.js":
			w.Header().Set("Content-Type", "text/javascript")
			w.Write([]byte(spy))
		case "/":
			rec := httptest.NewRecorder()
			page.ServeHTTP(rec, r)
			w.Header().Set("Content-Security-Policy", rec.Header().Get("Content-Security-Policy"))
			w.Header().Set("Content-Type", rec.Header().Get("Content-Type"))
			w.Write([]byte(strings.Replace(rec.Body.String(), "</head>", `<script src="spy.js"></script></head>`, 1)))
		default:
			page.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	profile, err := os.MkdirTemp("", "browser")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(profile) // what its processes still write may stay: that is no error
	cmd := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--remote-debugging-port=0",
		"--window-size=390,844", "--user-data-dir="+profile, server.URL+"/#/study")
	if err := cmd.Start(); err != nil {
		t.Skipf("the browser does not start: %v", err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
		server.CloseClientConnections()
	}()
	patience := time.After(2 * time.Minute)
	var last seen
	shown := false
	until := func(what string, holds func(seen) bool) {
		t.Helper()
		for {
			select {
			case last = <-told:
				shown = true
				if len(last.Refused) > 0 {
					t.Fatalf("%s: the page did what it may not: %q", what, last.Refused)
				}
				if holds(last) {
					return
				}
			case <-patience:
				if !shown {
					t.Skip("the browser shows nothing")
				}
				t.Fatalf("%s: the last that the page showed was %+v", what, last)
			}
		}
	}
	until("a job runs", func(s seen) bool {
		return s.Spans == 1 && s.Open == 1 && s.Points == 1 && strings.Contains(s.Text, "a-1") &&
			strings.Contains(s.Text, "<b>none</b> is free") &&
			strings.Contains(s.Text, "0 of 2 cells finished") && !s.Overflow
	})
	run.Event(scheduler.Finish, 0, nil)
	run.Event(scheduler.Start, 1, scheduler.CoreSet{{Lo: 1, Hi: 2}})
	run.Report("a-1", 2, 1.5, 0.75)
	until("the chart grows", func(s seen) bool { return s.Spans == 2 && s.Open == 1 && s.Points == 2 })
	run.Event(scheduler.Finish, 1, nil)
	run.Finish()
	until("the cell ends", func(s seen) bool { return s.Open == 0 && strings.Contains(s.Text, "1 of 2 cells finished") })
}
