// Daemontest has a fake Docker daemon for tests: an HTTP server that answers requests as a test prescribes.

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

// fakeDaemon starts an HTTP server that acts as a Docker daemon with the API version api. answers has handlers by
// "METHOD /path", without the version. Without a handler, the daemon answers pings and reports everything else as not
// found. It stops with the test. fakeDaemon returns its address.
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

// refuse returns a handler that refuses a request with a status and a message.
func refuse(status int, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"message": message})
	}
}

// TestEndlessAnswer connects, without a deadline, to a daemon whose answer to a request never ends.
func TestEndlessAnswer(t *testing.T) {
	var asked, sent atomic.Int64
	url := fakeDaemon(t, "1.41", map[string]http.HandlerFunc{"GET /info": func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 { // the call of Connect, which has a deadline
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
