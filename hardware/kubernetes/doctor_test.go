package kubernetes

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/kubernetes/api/apitest"
	"github.com/tfexp/tfexp/scheduler"
)

// The doctor describes the cluster of the current context. If the server refuses the credentials, the remedy is to log
// in again.
func TestDoctor(t *testing.T) {
	f := apitest.New(t)
	closed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer closed.Close()
	away := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`{"current-context": "x", "contexts": [{"name": "x", "context": {"cluster": "c"}}],
"clusters": [{"name": "c", "cluster": {"server": %q}}]}`, closed.URL)
	if err := os.WriteFile(away, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kubeconfig string
		status     hardware.Status
		text, hint string
	}{
		{f.Kubeconfig(t), hardware.OK, "namespace research; 2 nodes with 8 free cores and 0 GPUs", ""},
		{away, hardware.Warn, "does not accept the credentials", loginHint},
		{filepath.Join(t.TempDir(), "none"), hardware.Warn, "no kubeconfig", "set KUBECONFIG"},
	} {
		t.Setenv("KUBECONFIG", c.kubeconfig)
		got := doctor(t.Context(), func(string) bool { return false })[0]
		if got.Status != c.status || !strings.Contains(got.Text, c.text) || !strings.Contains(got.Hint, c.hint) {
			t.Errorf("%+v, want %+v", got, c)
		}
	}
}

// Errors about nodes count in words.
func TestNodesAreDescribed(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{title(scheduler.Node{Threads: 1, GPUs: 1}), "a node with 1 core, 1 GPU"},
		{title(scheduler.Node{Name: "big", Threads: 8, GPUs: 2}), `the node "big" with 8 cores, 2 GPUs`},
		{lacks([]room{{name: "n1", threads: 1, gpus: 2}}, nil), "n1 has 1 core, 0 MiB, 2 GPUs free"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
