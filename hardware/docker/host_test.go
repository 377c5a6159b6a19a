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
)

// If a daemon cannot be used, the error says why and what to do.
func TestConnect(t *testing.T) {
	windows := fakeDaemon(t, "1.45", map[string]http.HandlerFunc{"GET /info": func(
		w http.ResponseWriter, _ *http.Request,
	) {
		_ = json.NewEncoder(w).Encode(map[string]any{"OSType": "windows"})
	}})
	closed := httptest.NewServer(nil)
	closed.Close()
	for _, test := range []struct{ name, url, text, hint string }{
		{"no socket", "unix:///no/such.sock", "no daemon answers", "systemctl start docker"},
		{"nobody listens", "tcp" + strings.TrimPrefix(closed.URL, "http"), "no daemon answers", "DOCKER_HOST"},
		{"too old", fakeDaemon(t, "1.40", nil), "its API has version 1.40, but tfexp needs at least 1.41", "Docker 20.10"},
		{"windows", windows, "it runs windows containers", "Linux containers"},
		{"no address", "docker.sock", "unable to parse docker host", "a host is written"},
	} {
		_, err := Connect(context.Background(), test.url)
		var own *DaemonError
		if !errors.As(err, &own) || !strings.Contains(own.Text, test.text) || !strings.Contains(own.Hint, test.hint) {
			t.Errorf("%s: %+v, want %q and %q", test.name, own, test.text, test.hint)
		}
	}
	if startCommand("linux") == startCommand("windows") || strings.Contains(startCommand("windows"), "systemctl") {
		t.Errorf("on Windows it is started by %s", startCommand("windows"))
	}
	h, err := Connect(context.Background(), fakeDaemon(t, "1.51", nil))
	if err != nil || h.CPUs != 4 || h.API < MinAPI {
		t.Fatalf("%+v, %v", h, err)
	}
	h.Close()
	denied := &os.SyscallError{Syscall: "connect", Err: os.ErrPermission}
	var own *DaemonError
	if err := h.Explain(denied); !errors.As(err, &own) || !strings.Contains(own.Hint, "group docker") {
		t.Errorf("without permission: %v", err)
	}
}

// Images are pulled as the experiment says. A missing image is an error with a remedy.
func TestImages(t *testing.T) {
	pulled := false
	url := fakeDaemon(t, "1.41", map[string]http.HandlerFunc{
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
		want            string // the ID, or part of the error
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
