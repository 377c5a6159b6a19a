package watch_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/watch"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
)

func handler(r *watch.WrittenRun) http.Handler {
	return watch.WebHandler(watch.NewFolder(r.Results), watch.WebOptions{Version: "v1", Every: 5 * time.Millisecond})
}

// ask sends a request with a host name of this machine.
func ask(t *testing.T, h http.Handler, method, path string, change func(*http.Request)) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	r.Host = "localhost:8385"
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestOnlyThisMachineReads(t *testing.T) {
	h := handler(watch.BeginRun(t))
	for _, c := range []struct {
		what, method, host, site, mode string
		want                           int
	}{
		{"by name", "GET", "localhost:8385", "", "", 200},
		{"by address", "GET", "127.0.0.1:8385", "", "", 200},
		{"by IPv6 address", "GET", "[::1]:8385", "", "", 200},
		{"a forwarded port", "GET", "localhost:9000", "same-origin", "cors", 200},
		{"a link on another page", "GET", "localhost:8385", "cross-site", "navigate", 200},
		{"a rebound name", "GET", "tfexp.example:8385", "", "", 403},
		{"a name that begins alike", "GET", "localhost.example", "", "", 403},
		{"no name", "GET", "", "", "", 403},
		{"a script of another page", "GET", "localhost:8385", "cross-site", "no-cors", 403},
		{"a change", "POST", "localhost:8385", "", "", 405},
		{"a deletion", "DELETE", "localhost:8385", "", "", 405},
	} {
		for _, path := range []string{"/", "/api/experiments", "/metrics", "/results/study/plan.json"} {
			r := ask(t, h, c.method, path, func(r *http.Request) {
				r.Host = c.host
				if c.site != "" {
					r.Header.Set("Sec-Fetch-Site", c.site)
					r.Header.Set("Sec-Fetch-Mode", c.mode)
				}
			})
			if r.StatusCode != c.want {
				t.Errorf("%s: %s %s is %d, want %d", c.what, c.method, path, r.StatusCode, c.want)
			}
		}
	}
}

// The page may load only its own files. Content of results has no access to the page.
func TestPolicies(t *testing.T) {
	run := watch.BeginRun(t)
	if err := os.WriteFile(filepath.Join(run.Dir, record.ReportFile), []byte("<script>fetch('/api/experiments')</script>"),
		0o644); err != nil {
		t.Fatal(err)
	}
	h := handler(run)
	for path, want := range map[string]string{
		"/": "default-src 'none'; script-src 'self'", "/app.js": "default-src " +
			"'none'", "/results/study/report.html": "sandbox allow-scripts; default-src 'none'",
		"/api/experiments": "sandbox",
	} {
		r := ask(t, h, "GET", path, nil)
		if got := r.Header.Get("Content-Security-Policy"); r.StatusCode != 200 || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %d, policy %q, want %q", path, r.StatusCode, got, want)
		}
		if r.Header.Get("X-Content-Type-Options") != "nosniff" || r.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: headers are %v", path, r.Header)
		}
	}
	for _, file := range []string{"/", "/app.js", "/draw.js", "/app.css"} {
		if text := strings.ReplaceAll(body(t, ask(t, h, "GET", file, nil)), "http://www.w3.org/2000/svg",
			""); strings.Contains(text, "//www.") ||
			strings.Contains(text, "http:") || strings.Contains(text, "https:") {
			t.Errorf("%s names something elsewhere", file)
		}
	}
}

func TestNothingBesideTheFolder(t *testing.T) {
	run := watch.BeginRun(t)
	secret := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		for _, name := range []string{"link.txt", record.ReportFile} {
			if err := os.Symlink(secret, filepath.Join(run.Dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(filepath.Dir(secret), filepath.Join(run.Results, "other")); err != nil {
			t.Fatal(err)
		}
	}
	h := handler(run)
	for _, path := range []string{
		"/results/study/link.txt", "/results/study/report.html", "/results/other/secret.txt", "/results/study/..%2f..%2fsecret.txt",
		"/results/..%2fother/secret.txt", "/results/study/", "/results/study/lock", "/results/study/cells", "/results/study/cache.db",
		"/api/experiments/none", "/api/experiments/study/cell?cell=../..", "/api/experiments/study/log?cell=..&job=..%2fplan", "/api/experiments/study/log?from=x",
		"/nothing",
	} {
		if r := ask(t, h, "GET", path, nil); r.StatusCode < 400 || r.StatusCode > 404 ||
			strings.Contains(body(t, r), "secret\n") {
			t.Errorf("%s is %d", path, r.StatusCode)
		}
	}
	if r := ask(t, h, "GET", "/results/study/plan.json", nil); r.StatusCode != 200 || !strings.Contains(body(t, r), `"study"`) ||
		r.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("a file that is there: %d, %v", r.StatusCode, r.Header)
	}
}

// stream reads events until an event fulfills wanted.
func stream(t *testing.T, in *bufio.Scanner, event string, wanted func(data []byte) bool) {
	t.Helper()
	now := ""
	for in.Scan() {
		line := in.Text()
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			now = name
		} else if data, ok := strings.CutPrefix(line, "data: "); ok && now == event && wanted([]byte(data)) {
			return
		}
	}
	t.Fatalf("the stream ended without the event %s: %v", event, in.Err())
}

// The page receives the output of a run without a new request. When the server ends, the stream ends.
func TestStream(t *testing.T) {
	run := watch.BeginRun(t)
	ctx, stop := context.WithTimeout(context.Background(), 4*time.Minute)
	defer stop()
	on, err := watch.Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- watch.Serve(ctx, on, handler(run)) }()
	r, err := http.Get(watch.Address(on) + "api/stream?name=study")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if got := r.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("type is %q", got)
	}
	in := bufio.NewScanner(r.Body)
	in.Buffer(nil, 1<<20)
	stream(t, in, "experiment", func(data []byte) bool { return strings.Contains(string(data), `"left":2`) })
	run.Start("p-r1")
	run.Event(scheduler.Arrive, 0, nil)
	run.Event(scheduler.Start, 0, scheduler.CoreSet{{Lo: 0, Hi: 2}})
	stream(t, in, "cell", func(data []byte) bool {
		var c watch.Cell
		return json.Unmarshal(data, &c) == nil && c.State == "running" && len(c.Spans) == 1
	})
	run.Event(scheduler.Pause, 0, nil)
	run.Event(scheduler.Resume, 0, scheduler.CoreSet{{Lo: 1, Hi: 2}})
	run.Report("a-1", 3, 0.5, 0.9)
	stream(t, in, "cell", func(data []byte) bool {
		var c watch.Cell
		return json.Unmarshal(data, &c) == nil && len(c.Spans) == 2 && c.Spans[0].To != nil && len(c.Curves) == 1 &&
			c.Jobs[0].Epoch == 3
	})
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
	for in.Scan() { // until the end of the stream
	}
}

func TestMetrics(t *testing.T) {
	run := watch.BeginRun(t)
	run.Start("p-r1")
	run.Event(scheduler.Arrive, 0, nil)
	run.Event(scheduler.Start, 0, scheduler.CoreSet{{Lo: 0, Hi: 2}})
	run.Report("a-1", 3, 0.5, 0.9)
	r := ask(t, handler(run), "GET", "/metrics", nil)
	text := body(t, r)
	for _, want := range []string{
		"# TYPE tfexp_cells gauge", `tfexp_build_info{version="v1"} 1`, `tfexp_run_active{experiment="study"} 1`,
		`tfexp_cells{experiment="study",state="left"} 2`, `tfexp_held{cell="p-r1",experiment="study",resource="cores"} 2`,
		`tfexp_job_loss{cell="p-r1",experiment="study",job="a-1"} 0.5`, `tfexp_job_epoch{cell="p-r1",experiment="study",job="a-1"} 3`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no line %s in\n%s", want, text)
		}
	}
	if got := r.Header.Get("Content-Type"); !strings.HasPrefix(got, "text/plain") {
		t.Errorf("type is %q", got)
	}
}

func TestAPortThatIsTaken(t *testing.T) {
	on, err := watch.Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	defer on.Close()
	if second, err := watch.Listen(on.Addr().(*net.TCPAddr).Port); err == nil {
		second.Close()
		t.Error("a port was opened twice")
	}
}
