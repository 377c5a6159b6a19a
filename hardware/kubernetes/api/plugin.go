package api

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
)

// plugin is the program that logs a user in: exec in a kubeconfig.
type plugin struct {
	execConfig
	user, dir string
	info      string // content of KUBERNETES_EXEC_INFO

	mu    sync.Mutex // guards known
	known pluginStatus
}

// pluginStatus has the credentials that a plugin prints. Keys of JSON match fields in any case.
type pluginStatus struct {
	Token, ClientCertificateData, ClientKeyData string
	ExpirationTimestamp                         *time.Time
}

// given reports whether there are credentials.
func (s *pluginStatus) given() bool { return s.Token != "" || s.ClientCertificateData != "" }

// pluginVersions are the supported versions of the protocol between kubectl and plugins.
var pluginVersions = []string{"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"}

// plugin checks the plugin of a user and makes it the login.
func (a *Access) plugin(u *named, cluster tree) error {
	p := &plugin{execConfig: *u.User.Exec, user: u.Name, dir: u.dir}
	switch {
	case !slices.Contains(pluginVersions, p.APIVersion):
		return badAccess("the exec plugin of the user %q uses the protocol %q; tfexp supports %s", u.Name, p.APIVersion,
			strings.Join(pluginVersions, " and "))
	case p.Command == "":
		return badAccess("the exec plugin of the user %q has no command", u.Name)
	case p.Interactive == "Always":
		return badAccess("the exec plugin of the user %q asks questions on a terminal (interactiveMode Always), which "+
			"a run cannot answer: log in first, or use a token", u.Name)
	}
	spec := tree{"interactive": false}
	if p.ClusterInfo {
		spec["cluster"] = cluster
	}
	info, err := json.Marshal(tree{"apiVersion": p.APIVersion, "kind": "ExecCredential", "spec": spec})
	p.info, a.login, a.tls.GetClientCertificate = string(info), p.token, p.certificate
	return err
}

// pluginLimit is the longest time that a plugin may take.
const pluginLimit = time.Minute

// status returns the credentials of the plugin. It runs the plugin for the first request, 30 s before the credentials
// expire, and after the server has refused them.
func (p *plugin) status(ctx context.Context, again bool) (s pluginStatus, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known.given() && !again && (p.known.ExpirationTimestamp == nil ||
		time.Until(*p.known.ExpirationTimestamp) > 30*time.Second) {
		return p.known, nil
	}
	ctx, cancel := context.WithTimeout(ctx, pluginLimit)
	defer cancel()
	command := p.Command
	if strings.ContainsRune(command, filepath.Separator) {
		command = absolute(p.dir, command)
	}
	cmd := exec.CommandContext(ctx, command, p.Args...)
	cmd.WaitDelay = time.Second // the plugin's own programs may hold its output open
	cmd.Env = append(os.Environ(), "KUBERNETES_EXEC_INFO="+p.info)
	for _, e := range p.Env {
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	out, said, err := folder.Output(cmd)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		said = []byte(p.Hint)
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return s, badAccess("log in as the user %q: %s: %v %s", p.user, p.Command, err,
			schema.Shortened(strings.TrimSpace(string(said)), 500))
	}
	var got struct {
		Kind   string
		Status pluginStatus
	}
	if err := json.Unmarshal(out, &got); err != nil || got.Kind != "ExecCredential" || !got.Status.given() {
		return s, badAccess("log in as the user %q: %s printed no credentials", p.user, p.Command)
	}
	p.known = got.Status
	return p.known, nil
}

func (p *plugin) token(ctx context.Context, again bool) (string, error) {
	s, err := p.status(ctx, again)
	return s.Token, err
}

// certificate returns the client certificate of the plugin; an empty certificate if the plugin printed none.
func (p *plugin) certificate(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	s, err := p.status(context.Background(), false)
	if err != nil || s.ClientCertificateData == "" {
		return &tls.Certificate{}, err
	}
	pair, err := tls.X509KeyPair([]byte(s.ClientCertificateData), []byte(s.ClientKeyData))
	if err != nil {
		return nil, badAccess("client certificate of %s: %v", p.Command, err)
	}
	return &pair, nil
}
