package kubernetes

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
)

// access describes how to reach and log in to the API server of a context.
type access struct {
	// Server is the address of the API server, without a slash at the end.
	Server string
	// Context is the name of the context. It is empty if tfexp runs in a pod of the cluster. Namespace is the default
	// namespace of the context.
	Context, Namespace string

	tls   *tls.Config
	proxy *url.URL
	login login
}

// login returns the token for a request. again is true if the server has refused the last token.
type login func(ctx context.Context, again bool) (token string, err error)

// accessError is an error in a kubeconfig, or in a file or program that the kubeconfig names.
type accessError struct{ text string }

func (e *accessError) Error() string { return e.text }

func badAccess(format string, args ...any) error { return &accessError{fmt.Sprintf(format, args...)} }

// config has the parts of a kubeconfig that the engine reads.
type config struct {
	CurrentContext string  `yaml:"current-context"`
	Contexts       []named `yaml:"contexts"`
	Clusters       []named `yaml:"clusters"`
	Users          []named `yaml:"users"`
}

// named is an entry of a kubeconfig: a context, a cluster or a user.
type named struct {
	Name    string        `yaml:"name"`
	Context contextConfig `yaml:"context"`
	Cluster clusterConfig `yaml:"cluster"`
	User    userConfig    `yaml:"user"`

	dir string // folder of the kubeconfig
}

type contextConfig struct {
	Cluster   string `yaml:"cluster"`
	User      string `yaml:"user"`
	Namespace string `yaml:"namespace"`
}

type clusterConfig struct {
	Server   string `yaml:"server"`
	Name     string `yaml:"tls-server-name"`
	Insecure bool   `yaml:"insecure-skip-tls-verify"`
	CAFile   string `yaml:"certificate-authority"`
	CAData   string `yaml:"certificate-authority-data"`
	Proxy    string `yaml:"proxy-url"`
}

type userConfig struct {
	CertFile  string         `yaml:"client-certificate"`
	CertData  string         `yaml:"client-certificate-data"`
	KeyFile   string         `yaml:"client-key"`
	KeyData   string         `yaml:"client-key-data"`
	Token     string         `yaml:"token"`
	TokenFile string         `yaml:"tokenFile"`
	Exec      *execConfig    `yaml:"exec"`
	Other     map[string]any `yaml:",inline"`
}

type execConfig struct {
	APIVersion string   `yaml:"apiVersion"`
	Command    string   `yaml:"command"`
	Args       []string `yaml:"args"`
	Env        []struct {
		Name  string `yaml:"name"`
		Value string `yaml:"value"`
	} `yaml:"env"`
	Interactive string `yaml:"interactiveMode"`
	ClusterInfo bool   `yaml:"provideClusterInfo"`
	Hint        string `yaml:"installHint"`
}

// accountDir is the folder in which a pod finds the token and certificate of its service account.
var accountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// errNoCluster is returned when neither a kubeconfig nor the environment of a pod names a cluster.
var errNoCluster = errors.New("no kubeconfig: neither KUBECONFIG nor ~/.kube/config names a cluster")

// configFiles returns the paths of the kubeconfig: the given path, the paths in KUBECONFIG, or ~/.kube/config.
func configFiles(given string) (files []string) {
	switch env := os.Getenv("KUBECONFIG"); {
	case given != "":
		return []string{given}
	case env != "":
		return slices.DeleteFunc(filepath.SplitList(env), func(f string) bool { return f == "" })
	}
	if home, err := os.UserHomeDir(); err == nil {
		return []string{filepath.Join(home, ".kube", "config")}
	}
	return nil
}

// readConfig reads the files of a kubeconfig and merges them. If several files have an entry of the same name, the
// first file counts. Missing files are skipped unless must is set.
func readConfig(files []string, must bool) (*config, error) {
	all := &config{}
	found := false
	for _, file := range files {
		text, err := folder.ReadSystem(file)
		if errors.Is(err, os.ErrNotExist) && !must {
			continue
		}
		if err != nil {
			return nil, badAccess("read the kubeconfig: %v", err)
		}
		found = true
		var c config
		if err := yaml.Unmarshal(text, &c); err != nil {
			return nil, badAccess("read the kubeconfig %s: %v", file, err)
		}
		all.CurrentContext = cmp.Or(all.CurrentContext, c.CurrentContext)
		join(&all.Contexts, c.Contexts, file)
		join(&all.Clusters, c.Clusters, file)
		join(&all.Users, c.Users, file)
	}
	if !found {
		return nil, errNoCluster
	}
	return all, nil
}

// join adds the entries of a file whose names no earlier file has.
func join(all *[]named, more []named, file string) {
	for _, x := range more {
		if x.dir = filepath.Dir(file); entry(*all, x.Name) == nil {
			*all = append(*all, x)
		}
	}
}

// entry returns the entry with a name, or nil.
func entry(all []named, name string) *named {
	if i := slices.IndexFunc(all, func(x named) bool { return x.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// find returns the access to a context of a kubeconfig. Empty arguments mean the defaults of kubectl. Without a
// kubeconfig, a pod gets the access to its own cluster.
func find(file, context string) (*access, error) {
	c, err := readConfig(configFiles(file), file != "")
	if errors.Is(err, errNoCluster) && context == "" {
		if own := inCluster(); own != nil {
			return own, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return c.access(context)
}

// access returns the access to a context.
func (c *config) access(name string) (*access, error) {
	if name = cmp.Or(name, c.CurrentContext); name == "" {
		return nil, badAccess("the kubeconfig has no current context: choose one (kubectl config use-context NAME), " +
			"or write context in the hardware block")
	}
	x := entry(c.Contexts, name)
	if x == nil {
		names := schema.Each(c.Contexts, func(o named) string { return o.Name })
		return nil, badAccess("the kubeconfig has no context %q; its contexts: %s", name, cmp.Or(strings.Join(names, ", "), "none"))
	}
	cl := entry(c.Clusters, x.Context.Cluster)
	if cl == nil || cl.Cluster.Server == "" {
		return nil, badAccess("the kubeconfig has no server for the cluster %q of the context %q", x.Context.Cluster, name)
	}
	a := &access{Server: strings.TrimRight(cl.Cluster.Server, "/"), Context: name, Namespace: x.Context.Namespace,
		tls: &tls.Config{ServerName: cl.Cluster.Name, InsecureSkipVerify: cl.Cluster.Insecure}}
	if u, err := url.Parse(a.Server); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil, badAccess("the server of the cluster %q is not a URL: %q", cl.Name, cl.Cluster.Server)
	}
	if cl.Cluster.Proxy != "" {
		u, err := url.Parse(cl.Cluster.Proxy)
		if err != nil {
			return nil, badAccess("proxy-url of the cluster %q: %v", cl.Name, err)
		}
		a.proxy = u
	}
	ca, err := content(cl.dir, cl.Cluster.CAFile, cl.Cluster.CAData, "certificate-authority")
	if err != nil {
		return nil, err
	}
	if ca != nil {
		a.tls.RootCAs = x509.NewCertPool()
		if !a.tls.RootCAs.AppendCertsFromPEM(ca) {
			return nil, badAccess("certificate-authority of the cluster %q has no certificate", cl.Name)
		}
	}
	if x.Context.User == "" {
		return a, nil
	}
	u := entry(c.Users, x.Context.User)
	if u == nil {
		return nil, badAccess("the kubeconfig has no user %q, which the context %q names", x.Context.User, name)
	}
	return a, a.credentials(u)
}

// content returns the decoded data, or else the content of the file; nil if both are empty.
func content(dir, file, data, what string) ([]byte, error) {
	if data != "" {
		text, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			return nil, badAccess("%s-data: %v", what, err)
		}
		return text, nil
	}
	if file == "" {
		return nil, nil
	}
	text, err := folder.ReadSystem(beside(dir, file))
	if err != nil {
		return nil, badAccess("%s: %v", what, err)
	}
	return text, nil
}

// beside returns the path of a file that a kubeconfig names. A relative path starts at the folder of the kubeconfig.
func beside(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// credentials reads the credentials of a user.
func (a *access) credentials(u *named) error {
	for _, name := range []string{"auth-provider", "username", "as", "as-uid", "as-groups", "as-user-extra"} {
		if _, has := u.User.Other[name]; has {
			return badAccess("the user %q of the kubeconfig has %s, which tfexp does not support: use a client certificate, "+
				"a token or an exec plugin, or run kubectl proxy and use its address as the server of a cluster", u.Name, name)
		}
	}
	cert, err := content(u.dir, u.User.CertFile, u.User.CertData, "client-certificate")
	if err != nil {
		return err
	}
	key, err := content(u.dir, u.User.KeyFile, u.User.KeyData, "client-key")
	if err != nil {
		return err
	}
	if cert != nil || key != nil {
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return badAccess("client certificate of the user %q: %v", u.Name, err)
		}
		a.tls.Certificates = []tls.Certificate{pair}
	}
	switch {
	case u.User.TokenFile != "":
		a.login = tokenFile(beside(u.dir, u.User.TokenFile))
	case u.User.Token != "":
		a.login = func(context.Context, bool) (string, error) { return u.User.Token, nil }
	case u.User.Exec != nil:
		p, err := newPlugin(a, u)
		if err != nil {
			return err
		}
		a.login = p.token
		a.tls.GetClientCertificate = p.certificate
	}
	return nil
}

// tokenFile returns a login that reads the token from a file. It reads the file again every minute, since other
// programs may replace the token.
func tokenFile(path string) login {
	var mu sync.Mutex
	var token string
	var read time.Time
	return func(_ context.Context, again bool) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if token != "" && !again && time.Since(read) < time.Minute {
			return token, nil
		}
		text, err := folder.ReadSystem(path)
		if err != nil {
			return "", badAccess("read the token: %v", err)
		}
		token, read = strings.TrimSpace(string(text)), time.Now()
		return token, nil
	}
}

// inCluster returns the access of a pod to its own cluster, or nil if tfexp does not run in a pod.
func inCluster() *access {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	ca, err := folder.ReadSystem(filepath.Join(accountDir, "ca.crt"))
	if host == "" || port == "" || err != nil {
		return nil
	}
	namespace, _ := folder.ReadSystem(filepath.Join(accountDir, "namespace")) // an empty namespace means the default
	a := &access{Server: "https://" + net.JoinHostPort(host, port), Namespace: strings.TrimSpace(string(namespace)),
		tls: &tls.Config{RootCAs: x509.NewCertPool()}, login: tokenFile(filepath.Join(accountDir, "token"))}
	a.tls.RootCAs.AppendCertsFromPEM(ca)
	return a
}

// dial returns a client for an access.
func (a *access) dial() *client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = a.tls
	t.MaxIdleConnsPerHost = 16
	t.ResponseHeaderTimeout = callLimit
	// If the server vanishes, pings end its streams.
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: callLimit, PingTimeout: callLimit / 2}
	if a.proxy != nil {
		t.Proxy = http.ProxyURL(a.proxy)
	}
	c := &client{access: a, allowed: &sync.Map{}, http: &http.Client{Transport: &authorized{a, t}}}
	return c.patient(firstPatience)
}

// authorized adds the credentials to each request. If the server refuses a token, it gets another token and tries once
// more.
type authorized struct {
	access *access
	inner  http.RoundTripper
}

func (t *authorized) RoundTrip(req *http.Request) (*http.Response, error) {
	for again := false; ; again = true {
		out := req.Clone(req.Context())
		if t.access.login != nil {
			token, err := t.access.login(req.Context(), again)
			if err != nil {
				return nil, err
			}
			if token != "" {
				out.Header.Set("Authorization", "Bearer "+token)
			}
		}
		if req.GetBody != nil {
			body, err := req.GetBody()
			if err != nil {
				return nil, err
			}
			out.Body = body
		}
		res, err := t.inner.RoundTrip(out)
		if err != nil || res.StatusCode != http.StatusUnauthorized || again || t.access.login == nil {
			return res, err
		}
		res.Body.Close()
	}
}

// CloseIdleConnections closes unused connections; http.Client calls it.
func (t *authorized) CloseIdleConnections() {
	if c, ok := t.inner.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// plugin is the program that logs a user in: exec in a kubeconfig.
type plugin struct {
	user, version string
	exec          execConfig
	dir           string
	info          map[string]any // about the cluster, if the kubeconfig asks for it (provideClusterInfo)

	mu      sync.Mutex // guards what follows
	known   *pluginStatus
	expires time.Time
}

// pluginStatus has the credentials that a plugin prints.
type pluginStatus struct {
	Token   string     `json:"token"`
	Cert    string     `json:"clientCertificateData"`
	Key     string     `json:"clientKeyData"`
	Expires *time.Time `json:"expirationTimestamp"`
}

// pluginVersions are the supported versions of the protocol between kubectl and plugins.
var pluginVersions = []string{"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"}

func newPlugin(a *access, u *named) (*plugin, error) {
	p := &plugin{user: u.Name, version: u.User.Exec.APIVersion, exec: *u.User.Exec, dir: u.dir}
	if !slices.Contains(pluginVersions, p.version) {
		return nil, badAccess("the exec plugin of the user %q uses the protocol %q; tfexp supports %s", u.Name, p.version,
			strings.Join(pluginVersions, " and "))
	}
	if p.exec.Command == "" {
		return nil, badAccess("the exec plugin of the user %q has no command", u.Name)
	}
	if p.exec.Interactive == "Always" {
		return nil, badAccess("the exec plugin of the user %q asks questions on a terminal (interactiveMode Always), which "+
			"a run cannot answer: log in first, or use a token", u.Name)
	}
	if p.exec.ClusterInfo {
		p.info = map[string]any{"server": a.Server, "insecure-skip-tls-verify": a.tls.InsecureSkipVerify}
	}
	return p, nil
}

// pluginLimit is the longest time that a plugin may take.
const pluginLimit = time.Minute

// status returns the credentials of the plugin. It runs the plugin for the first request, 30 s before the credentials
// expire, and after the server has refused them.
func (p *plugin) status(ctx context.Context, again bool) (*pluginStatus, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known != nil && !again && (p.expires.IsZero() || time.Until(p.expires) > 30*time.Second) {
		return p.known, nil
	}
	spec := map[string]any{"interactive": false}
	if p.info != nil {
		spec["cluster"] = p.info
	}
	info, err := json.Marshal(map[string]any{"apiVersion": p.version, "kind": "ExecCredential", "spec": spec})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, pluginLimit)
	defer cancel()
	command := p.exec.Command
	if strings.ContainsRune(command, filepath.Separator) {
		command = beside(p.dir, command)
	}
	cmd := exec.CommandContext(ctx, command, p.exec.Args...)
	cmd.Env = append(os.Environ(), "KUBERNETES_EXEC_INFO="+string(info))
	for _, e := range p.exec.Env {
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		text := strings.TrimSpace(said.String())
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			text = strings.TrimSpace(p.exec.Hint)
		}
		return nil, badAccess("log in as the user %q: %s: %v %s", p.user, p.exec.Command, err, text[:min(len(text), 500)])
	}
	var got struct {
		APIVersion string        `json:"apiVersion"`
		Kind       string        `json:"kind"`
		Status     *pluginStatus `json:"status"`
	}
	if err := json.Unmarshal(out, &got); err != nil || got.Kind != "ExecCredential" || got.Status == nil ||
		got.Status.Token == "" && got.Status.Cert == "" {
		return nil, badAccess("log in as the user %q: %s printed no credentials", p.user, p.exec.Command)
	}
	p.known, p.expires = got.Status, time.Time{}
	if got.Status.Expires != nil {
		p.expires = *got.Status.Expires
	}
	return p.known, nil
}

func (p *plugin) token(ctx context.Context, again bool) (string, error) {
	s, err := p.status(ctx, again)
	if err != nil {
		return "", err
	}
	return s.Token, nil
}

// certificate returns the client certificate of the plugin; an empty certificate if the plugin printed none.
func (p *plugin) certificate(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	s, err := p.status(context.Background(), false)
	if err != nil || s.Cert == "" {
		return &tls.Certificate{}, err
	}
	pair, err := tls.X509KeyPair([]byte(s.Cert), []byte(s.Key))
	if err != nil {
		return nil, badAccess("client certificate of %s: %v", p.exec.Command, err)
	}
	return &pair, nil
}

// configHint returns a hint for users without a kubeconfig.
func configHint() string {
	return "copy the kubeconfig of your cluster to ~/.kube/config, or set KUBECONFIG to its path"
}
