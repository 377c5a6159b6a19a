// Daemontest has a fake Docker daemon for tests: an HTTP server that gives a
// test's answers instead of a daemon's.

package docker

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// fakeDaemon starts a daemon that reports the API version api. answers, by
// "METHOD /path" without the version, replace its own answers. By itself it
// answers greetings only, and reports everything else as not found. fakeDaemon
// returns the daemon's address, and the daemon stops with the test.
func fakeDaemon(t *testing.T, api string, answers map[string]http.HandlerFunc) string {
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
			_ = json.NewEncoder(w).Encode(map[string]any{"NCPU": 4, "MemTotal": 1 << 30, "ServerVersion": "fake",
				"OSType": "linux"})
		default:
			refuse(http.StatusNotFound, "no such thing: "+path)(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return "tcp" + strings.TrimPrefix(s.URL, "http")
}

// refuse is the answer of a daemon that refuses a request.
func refuse(status int, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"message": message})
	}
}

// TestEndlessAnswer asks a daemon whose description of its machine does not end, without a deadline.
func TestEndlessAnswer(t *testing.T) {
	var asked, sent atomic.Int64
	url := fakeDaemon(t, "1.41", map[string]http.HandlerFunc{"GET /info": func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 { // by Connect, which has a deadline
			_ = json.NewEncoder(w).Encode(map[string]any{"NCPU": 4, "MemTotal": 1 << 30, "OSType": "linux"})
			return
		}
		chunk := bytes.Repeat([]byte("x"), 1<<20)
		_, err := w.Write([]byte(`{"Name":"`))
		for err == nil && sent.Load() < 1<<30 {
			_, err = w.Write(chunk)
			sent.Add(int64(len(chunk)))
		}
	}})
	h, err := Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	_, err = h.api.Info(t.Context())
	if err == nil || !strings.Contains(err.Error(), "its answer to GET /v1.41/info is longer than 32 MiB") {
		t.Errorf("error %v", err)
	}
	if n := sent.Load(); n > 100<<20 {
		t.Errorf("%d bytes were read", n)
	}
}
