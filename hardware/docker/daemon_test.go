// Daemontest has a Docker daemon for tests that is none: an HTTP server
// that says what a test puts in place of a daemon's answers.

package docker

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Start starts a daemon that says it has an API version. answers, by "METHOD
// /path" without the version, come in place of its own, which are those to a
// greeting; of everything else it says that there is no such thing. It returns
// the daemon's address, and stops with the test.
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

// Refuse is the answer of a daemon that does not do what it is asked for.
func refuse(status int, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"message": message})
	}
}
