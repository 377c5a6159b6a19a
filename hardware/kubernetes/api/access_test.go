package api

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// configWith writes a kubeconfig with one context for a server and a user.
func configWith(t *testing.T, server, user string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	text := `apiVersion: v1
kind: Config
current-context: here
contexts:
- name: here
  context: {cluster: c, user: u, namespace: research}
- name: broken
  context: {cluster: missing, user: u}
clusters:
- name: c
  cluster:
    server: ` + server + `/
    tls-server-name: api
    extensions:
    - name: client.authentication.k8s.io/exec
      extension: {audience: a}
users:
- name: u
  user:
` + user
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The server receives tokens from the kubeconfig, from files and from plugins.
func TestCredentials(t *testing.T) {
	var got string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		w.Write([]byte("{}"))
	}))
	defer s.Close()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file := write("token", "from-a-file\n", 0o600)
	plugin := write("plugin", `#!/bin/sh
case $KUBERNETES_EXEC_INFO in *client.authentication.k8s.io/v1*) ;; *) exit 1 ;; esac
case $KUBERNETES_EXEC_INFO in *'"config":{"audience":"a"}'*'"tls-server-name":"api"'*) ;; *) exit 1 ;; esac
sleep 100 & # it does not end with the plugin
echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"'$GREETING-$1'"}}'
`, 0o755)
	for user, want := range map[string]string{
		"    token: plain\n":            "Bearer plain",
		"    tokenFile: " + file + "\n": "Bearer from-a-file",
		"    exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: " + plugin +
			"\n      provideClusterInfo: true\n      args: [two]\n      env: [{name: GREETING, value: one}]\n": "Bearer one-two",
	} {
		a, err := FindAccess(configWith(t, s.URL, user), "")
		if err != nil {
			t.Errorf("%s: %v", user, err)
			continue
		}
		if a.Namespace != "research" || a.Server != s.URL {
			t.Errorf("%+v", a)
		}
		if err := a.Dial().Do(context.Background(), Call{Verb: "get"}, nil); err != nil || got != want {
			t.Errorf("%s: %q, %v", user, got, err)
		}
	}
}

// If the server refuses a token, the plugin is asked for another, once for each call. Calls with a body send it again.
func TestRefusedToken(t *testing.T) {
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if seen = append(seen, token+" "+string(body)); len(token) < 2 || len(token) > 3 {
			w.WriteHeader(http.StatusUnauthorized)
		}
		w.Write([]byte("{}"))
	}))
	defer s.Close()
	dir := t.TempDir()
	plugin := filepath.Join(dir, "plugin")
	if err := os.WriteFile(plugin, []byte(`#!/bin/sh
printf 1 >> '`+dir+`/times'
echo '{"kind":"ExecCredential","status":{"token":"'$(cat '`+dir+`/times')'"}}'
`), 0o755); err != nil {
		t.Fatal(err)
	}
	a, err := FindAccess(configWith(t, s.URL, "    exec: {apiVersion: client.authentication.k8s.io/v1, command: "+plugin+"}\n"), "")
	if err != nil {
		t.Fatal(err)
	}
	c := a.Dial()
	for range 2 {
		if err := c.Do(t.Context(), Call{Verb: "create", Body: 7}, nil); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"1 7", "11 7", "11 7"}; !slices.Equal(seen, want) {
		t.Errorf("%q, want %q", seen, want)
	}
	seen = nil
	os.WriteFile(filepath.Join(dir, "times"), []byte("1111"), 0o600)
	if _, err := a.login(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if err := c.Do(t.Context(), Call{Verb: "get"}, nil); !Refused(err, http.StatusUnauthorized) || len(seen) != 2 {
		t.Errorf("%v after %q", err, seen)
	}
}

// Each unsupported way of access is an error that names it.
func TestRefusedAccess(t *testing.T) {
	for user, want := range map[string]string{
		"    auth-provider: {name: gcp}\n": "auth-provider",
		"    as: admin\n":                  "has as",
		"    exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}\n":                    `uses the protocol "client.authentication.k8s.io/v1alpha1"`,
		"    exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Always}\n": "interactiveMode",
		"    client-certificate-data: '!'\n":                                                             "client-certificate-data",
		"    client-certificate: missing.pem\n    client-key: missing.pem\n":                             "client-certificate",
	} {
		if _, err := FindAccess(configWith(t, "http://127.0.0.1:1", user), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", user, err, want)
		}
	}
	if _, err := FindAccess(configWith(t, "http://127.0.0.1:1/\n    proxy-url: proxy:80", "    token: x\n"), ""); err == nil ||
		!strings.Contains(err.Error(), "proxy-url") {
		t.Errorf("a proxy without a scheme: %v", err)
	}
	path := configWith(t, "http://127.0.0.1:1", "    token: x\n")
	for context, want := range map[string]string{
		"there":  `no context "there"; its contexts: here, broken`,
		"broken": `no server for the cluster "missing"`,
	} {
		if _, err := FindAccess(path, context); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", context, err, want)
		}
	}
	if _, err := FindAccess(filepath.Join(t.TempDir(), "none"), ""); err == nil {
		t.Error("a missing kubeconfig is read")
	}
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	if _, err := FindAccess("", ""); err != ErrNoCluster {
		t.Errorf("without a cluster: %v", err)
	}
}

// If several files define the same name, the first one is used.
func TestSeveralFiles(t *testing.T) {
	one := configWith(t, "http://one", "    token: one\n")
	two := configWith(t, "http://two", "    token: two\n")
	t.Setenv("KUBECONFIG", one+string(os.PathListSeparator)+two)
	a, err := FindAccess("", "")
	if err != nil || a.Server != "http://one" {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestQuantities(t *testing.T) {
	for text, want := range map[string]float64{"": 0, "2": 2, "1500m": 1.5, "16Gi": 16 << 30, "1e3": 1000, "128M": 128e6,
		"24632892Ki": 24632892 << 10, "100k": 1e5} {
		if got, err := Quantity(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"x", "1x", "Gi", "1 Gi", "NaN"} {
		if got, err := Quantity(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
