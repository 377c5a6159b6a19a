package docker

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// fake answers like a daemon, with what a test puts in place of its answers.
func fake(t *testing.T, api string, answers map[string]http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", api)
		w.Header().Set("Content-Type", "application/json")
		path := r.URL.Path
		if strings.HasPrefix(path, "/v") {
			path = path[strings.Index(path[1:], "/")+1:]
		}
		if f := answers[r.Method+" "+path]; f != nil {
			f(w, r)
			return
		}
		switch path {
		case "/_ping":
		case "/info":
			_ = json.NewEncoder(w).Encode(map[string]any{"NCPU": 4, "MemTotal": 1 << 30, "ServerVersion": "fake", "OSType": "linux"})
		default:
			refuse(http.StatusNotFound, "no such thing: "+path)(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return "tcp" + strings.TrimPrefix(s.URL, "http")
}

func refuse(status int, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"message": message})
	}
}

// Why a daemon cannot be used, and what to do about it.
func TestConnect(t *testing.T) {
	windows := fake(t, "1.45", map[string]http.HandlerFunc{"GET /info": func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"OSType": "windows"})
	}})
	closed := httptest.NewServer(nil)
	closed.Close()
	for _, test := range []struct{ name, url, text, hint string }{
		{"no socket", "unix:///no/such.sock", "no daemon answers", "systemctl start docker"},
		{"nobody listens", "tcp" + strings.TrimPrefix(closed.URL, "http"), "no daemon answers", "DOCKER_HOST"},
		{"too old", fake(t, "1.40", nil), "its API has version 1.40, and tfexp needs 1.41", "Docker 20.10"},
		{"windows", windows, "it runs windows containers", "Linux containers"},
		{"no address", "docker.sock", "unable to parse docker host", "a host is written"},
	} {
		_, err := Connect(context.Background(), test.url)
		var own *Error
		if !errors.As(err, &own) || !strings.Contains(own.Text, test.text) || !strings.Contains(own.Hint, test.hint) {
			t.Errorf("%s: %+v, want %q and %q", test.name, own, test.text, test.hint)
		}
	}
	h, err := Connect(context.Background(), fake(t, "1.51", nil))
	if err != nil || h.CPUs != 4 || h.API < MinAPI {
		t.Fatalf("%+v, %v", h, err)
	}
	h.Close()
	denied := &os.SyscallError{Syscall: "connect", Err: os.ErrPermission}
	var own *Error
	if err := h.explain(denied); !errors.As(err, &own) || !strings.Contains(own.Hint, "group docker") {
		t.Errorf("without permission: %v", err)
	}
}

// Images are fetched as the file says; what cannot be had is told with what to do.
func TestImages(t *testing.T) {
	pulled := false
	url := fake(t, "1.41", map[string]http.HandlerFunc{
		"GET /images/tf/json": func(w http.ResponseWriter, r *http.Request) {
			if !pulled {
				refuse(http.StatusNotFound, "No such image: tf:latest")(w, r)
				return
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"Id": "sha256:1", "Os": "linux", "Architecture": "amd64"})
		},
		"GET /images/none/json": refuse(http.StatusNotFound, "No such image: none:latest"),
		"POST /images/create": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("fromImage") == "docker.io/library/none" || r.URL.Query().Get("fromImage") == "none" {
				_ = json.NewEncoder(w).Encode(map[string]string{"error": "manifest unknown"})
				return
			}
			pulled = true
			_ = json.NewEncoder(w).Encode(map[string]string{"status": "done"})
		},
	})
	h, err := Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for _, test := range []struct {
		image, platform string
		pull            Pull
		want            string // ID, or of the error
	}{
		{"tf", "", PullNever, `it has no image "tf"`},
		{"tf", "", PullMissing, "sha256:1"},
		{"tf", "", PullNever, "sha256:1"},
		{"tf", "linux/arm64", PullNever, "is for linux/amd64, not for linux/arm64"},
		{"none", "", PullMissing, "cannot be fetched: manifest unknown"},
		{"none", "", PullAlways, "cannot be fetched"},
	} {
		id, err := h.Image(context.Background(), test.image, test.pull, test.platform)
		if err != nil {
			id = err.Error()
		}
		if !strings.Contains(id, test.want) {
			t.Errorf("%s, pull %s: %s, want %q", test.image, test.pull, id, test.want)
		}
	}
}

// What a daemon refuses is a phrase that says what to do; a daemon that gives
// a call up is waited for, and one that fails for good fails the job.
func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		name   string
		create http.HandlerFunc
		want   string
	}{
		{"mount", refuse(http.StatusBadRequest, "invalid mount config for type \"bind\": bind source path does not exist: /x"), "correct mounts in the job block"},
		{"memory", refuse(http.StatusBadRequest, "Minimum memory limit allowed is 6MB"), "raise memory in the job block"},
		{"image", refuse(http.StatusNotFound, "No such image: tf:latest"), "build or pull it"},
		{"other", refuse(http.StatusInternalServerError, "the disk is full"), "the disk is full"},
		{"dropped", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "no daemon answers"},
	} {
		url := fake(t, "1.41", map[string]http.HandlerFunc{"POST /containers/create": test.create})
		h, err := Connect(context.Background(), url)
		if err != nil {
			t.Fatal(err)
		}
		j := shell(t, "a", "true")
		j.Image = "tf"
		e, err := New([]Job{j}, []Node{{Host: h, CPUs: []int{0}}}, Options{Patience: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Start(0, grant(0, 1)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		if err := errors.Join(e.Close(), h.Close()); err != nil {
			t.Error(err)
		}
	}
}

// Grants are of one host each, by the host's own CPU numbers.
func TestPlace(t *testing.T) {
	a, b := &Host{URL: "unix:///a"}, &Host{URL: "tcp://b:1"}
	e, err := New(nil, []Node{{a, []int{4, 5}}, {b, []int{0, 1, 2}}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, test := range []struct {
		lo, hi int32
		host   *Host
		cpus   string
	}{{0, 2, a, "4,5"}, {1, 2, a, "5"}, {2, 4, b, "0,1"}, {4, 5, b, "2"}, {1, 3, nil, ""}, {4, 6, nil, ""}, {0, 0, nil, ""}} {
		var set scheduler.Grant
		if test.hi > test.lo {
			set = grant(test.lo, test.hi)
		}
		n, cpus, err := e.place(set)
		if test.host == nil {
			if err == nil {
				t.Errorf("cores %d to %d are on %v", test.lo, test.hi, cpus)
			}
		} else if err != nil || n.Host != test.host || cpuset(cpus) != test.cpus {
			t.Errorf("cores %d to %d: %v, %v", test.lo, test.hi, cpus, err)
		}
	}
}

// Output that comes again after a broken stream is in the log once.
func TestOutput(t *testing.T) {
	path := t.TempDir() + "/log"
	o, err := openOutput(path, 1<<20, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	frame := func(s string) string { return "\x01\x00\x00\x00\x00\x00\x00" + string(rune(len(s))) + s }
	if err := o.follow(strings.NewReader(frame("one\n") + frame("two\n")[:10])); err == nil {
		t.Error("a frame that is cut off is no error")
	}
	o.reread()
	if err := o.follow(strings.NewReader(frame("one\n") + frame("two\n") + frame("three\n"))); err != nil {
		t.Error(err)
	}
	o.close("exit status 1")
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "one\ntwo\nthree\ntfexp: exit status 1\n" {
		t.Errorf("%q, %v", raw, err)
	}
}
