package api

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
)

// Access describes how to reach and log in to the API server of a context.
type Access struct {
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

// kubeconfig has the parts of a kubeconfig that are read.
type kubeconfig struct {
	CurrentContext            string `yaml:"current-context"`
	Contexts, Clusters, Users []named
}

// named is an entry of a kubeconfig: a context, a cluster or a user.
type named struct {
	Name    string
	Context struct{ Cluster, User, Namespace string }
	Cluster clusterConfig
	User    userConfig

	dir string // folder of the kubeconfig
}

type clusterConfig struct {
	Server   string
	Name     string `yaml:"tls-server-name"`
	Insecure bool   `yaml:"insecure-skip-tls-verify"`
	CAFile   string `yaml:"certificate-authority"`
	CAData   string `yaml:"certificate-authority-data"`
	Proxy    string `yaml:"proxy-url"`
	// Extensions may have a configuration for exec plugins.
	Extensions []struct {
		Name      string
		Extension any
	}
}

type userConfig struct {
	CertFile  string `yaml:"client-certificate"`
	CertData  string `yaml:"client-certificate-data"`
	KeyFile   string `yaml:"client-key"`
	KeyData   string `yaml:"client-key-data"`
	Token     string
	TokenFile string `yaml:"tokenFile"`
	Exec      *execConfig
	Other     map[string]any `yaml:",inline"`
}

type execConfig struct {
	APIVersion  string `yaml:"apiVersion"`
	Command     string
	Args        []string
	Env         []struct{ Name, Value string }
	Interactive string `yaml:"interactiveMode"`
	ClusterInfo bool   `yaml:"provideClusterInfo"`
	Hint        string `yaml:"installHint"`
}

// accountDir is the folder in which a pod finds the token and certificate of its service account.
const accountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// ErrNoCluster is returned when neither a kubeconfig nor the environment of a pod names a cluster.
var ErrNoCluster = errors.New("no kubeconfig: neither KUBECONFIG nor ~/.kube/config names a cluster")

// NoClusterHint is what a user without a kubeconfig can do.
const NoClusterHint = "copy the kubeconfig of your cluster to ~/.kube/config, or set KUBECONFIG to its path"

// readConfig reads a kubeconfig: the given file, or else the existing files of KUBECONFIG, or ~/.kube/config.
func readConfig(given string) (*kubeconfig, error) {
	files := []string{given}
	if given == "" {
		home, _ := os.UserHomeDir() // without one, KUBECONFIG must name the file
		files = filepath.SplitList(cmp.Or(os.Getenv("KUBECONFIG"), filepath.Join(cmp.Or(home, "/"), ".kube", "config")))
	}
	all, found := &kubeconfig{}, false
	for _, file := range files {
		text, err := folder.ReadSystem(file)
		if errors.Is(err, os.ErrNotExist) && given == "" {
			continue
		}
		if err != nil {
			return nil, badAccess("read the kubeconfig: %v", err)
		}
		found = true
		var c kubeconfig
		if err := yaml.Unmarshal(text, &c); err != nil {
			return nil, badAccess("read the kubeconfig %s: %v", file, err)
		}
		for _, list := range [][]named{c.Clusters, c.Users} {
			for i := range list {
				list[i].dir = filepath.Dir(file)
			}
		}
		all.CurrentContext = cmp.Or(all.CurrentContext, c.CurrentContext)
		all.Contexts = append(all.Contexts, c.Contexts...)
		all.Clusters = append(all.Clusters, c.Clusters...)
		all.Users = append(all.Users, c.Users...)
	}
	if !found {
		return nil, ErrNoCluster
	}
	return all, nil
}

// entry returns the first entry with a name; the zero value if there is none. If several files have an entry of the
// same name, the first file counts.
func entry(all []named, name string) named {
	if i := slices.IndexFunc(all, func(x named) bool { return x.Name == name }); i >= 0 {
		return all[i]
	}
	return named{}
}

// FindAccess returns the access to a context of a kubeconfig. Empty arguments mean the defaults of kubectl. Without a
// kubeconfig, a pod gets the access to its own cluster.
func FindAccess(file, context string) (*Access, error) {
	c, err := readConfig(file)
	if errors.Is(err, ErrNoCluster) && context == "" {
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
func (c *kubeconfig) access(name string) (*Access, error) {
	if name = cmp.Or(name, c.CurrentContext); name == "" {
		return nil, badAccess("the kubeconfig has no current context: choose one (kubectl config use-context NAME), " +
			"or write context in the hardware block")
	}
	x := entry(c.Contexts, name)
	if x.Name == "" {
		names := schema.Each(c.Contexts, func(o named) string { return o.Name })
		return nil, badAccess("the kubeconfig has no context %q; its contexts: %s", name,
			cmp.Or(strings.Join(names, ", "), "none"))
	}
	on := entry(c.Clusters, x.Context.Cluster)
	if on.Cluster.Server == "" {
		return nil, badAccess("the kubeconfig has no server for the cluster %q of the context %q", x.Context.Cluster, name)
	}
	a := &Access{Server: strings.TrimRight(on.Cluster.Server, "/"), Context: name, Namespace: x.Context.Namespace,
		tls: &tls.Config{ServerName: on.Cluster.Name, InsecureSkipVerify: on.Cluster.Insecure}}
	if u, err := url.Parse(a.Server); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil, badAccess("the server of the cluster %q is not a URL: %q", on.Name, on.Cluster.Server)
	}
	if on.Cluster.Proxy != "" {
		var err error
		if a.proxy, err = url.Parse(on.Cluster.Proxy); err != nil ||
			!slices.Contains([]string{"http", "https", "socks5", "socks5h"}, a.proxy.Scheme) {
			return nil, badAccess("proxy-url of the cluster %q is not a URL of http, https or socks5: %q", on.Name,
				on.Cluster.Proxy)
		}
	}
	ca, err := content(on.dir, on.Cluster.CAFile, on.Cluster.CAData, "certificate-authority")
	if err != nil {
		return nil, err
	}
	if ca != nil {
		a.tls.RootCAs = x509.NewCertPool()
		if !a.tls.RootCAs.AppendCertsFromPEM(ca) {
			return nil, badAccess("certificate-authority of the cluster %q has no certificate", on.Name)
		}
	}
	u := entry(c.Users, x.Context.User)
	if u.Name != x.Context.User {
		return nil, badAccess("the kubeconfig has no user %q, which the context %q names", x.Context.User, name)
	}
	info := tree{"server": a.Server, "insecure-skip-tls-verify": on.Cluster.Insecure}
	for name, value := range map[string]string{"tls-server-name": on.Cluster.Name, "proxy-url": on.Cluster.Proxy,
		"certificate-authority-data": base64.StdEncoding.EncodeToString(ca)} {
		if value != "" {
			info[name] = value
		}
	}
	for _, x := range on.Cluster.Extensions {
		if x.Name == "client.authentication.k8s.io/exec" {
			info["config"] = x.Extension
		}
	}
	return a, a.credentials(&u, info)
}

// content returns the decoded data, or else the content of the file; nil if both are empty.
func content(dir, file, data, what string) (text []byte, err error) {
	if data != "" {
		what += "-data"
		text, err = base64.StdEncoding.DecodeString(data)
	} else if file != "" {
		text, err = folder.ReadSystem(absolute(dir, file))
	}
	if err != nil {
		return nil, badAccess("%s: %v", what, err)
	}
	return text, nil
}

// absolute returns the path of a file that a kubeconfig names. A relative path starts at the folder of the kubeconfig.
func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// credentials reads the credentials of a user. info describes the cluster for exec plugins.
func (a *Access) credentials(u *named, info tree) error {
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
		a.login = tokenFile(absolute(u.dir, u.User.TokenFile))
	case u.User.Token != "":
		a.login = func(context.Context, bool) (string, error) { return u.User.Token, nil }
	case u.User.Exec != nil:
		return a.plugin(u, info)
	}
	return nil
}

// tokenFile returns a login that reads the token from a file for each request, since other programs may replace it.
func tokenFile(path string) login {
	return func(context.Context, bool) (string, error) {
		text, err := folder.ReadSystem(path)
		if err != nil {
			return "", badAccess("read the token: %v", err)
		}
		return strings.TrimSpace(string(text)), nil
	}
}

// inCluster returns the access of a pod to its own cluster, or nil if tfexp does not run in a pod.
func inCluster() *Access {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	ca, err := folder.ReadSystem(filepath.Join(accountDir, "ca.crt"))
	if host == "" || port == "" || err != nil {
		return nil
	}
	namespace, _ := folder.ReadSystem(filepath.Join(accountDir, "namespace")) // an empty namespace means the default
	a := &Access{Server: "https://" + net.JoinHostPort(host, port), Namespace: strings.TrimSpace(string(namespace)),
		tls: &tls.Config{RootCAs: x509.NewCertPool()}, login: tokenFile(filepath.Join(accountDir, "token"))}
	a.tls.RootCAs.AppendCertsFromPEM(ca)
	return a
}

// Dial returns a client for an access.
func (a *Access) Dial() *Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = a.tls
	t.MaxIdleConnsPerHost = 16
	t.ResponseHeaderTimeout = CallLimit
	// If the server vanishes, pings end its streams.
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: CallLimit, PingTimeout: CallLimit / 2}
	if a.proxy != nil {
		t.Proxy = http.ProxyURL(a.proxy)
	}
	c := &Client{Access: a, allowed: &sync.Map{}, http: &http.Client{Transport: t}}
	return c.WithPatience(FirstPatience)
}
