package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// MinAPI is the oldest API version that the engine supports, of Docker 20.10.
const MinAPI = "1.41"

// DialLimit is how long a daemon may take to answer the first call. CallLimit is how long it may take for a call.
// LookPause is the time between two checks of a state that changes soon.
const (
	DialLimit = 10 * time.Second
	CallLimit = 60 * time.Second
	PollPause = 100 * time.Millisecond
)

// DaemonError is returned if a daemon, or an image on it, cannot be used.
type DaemonError struct {
	// Host is the address of the daemon.
	Host string
	// Text describes the problem, and Hint is a remedy.
	Text, Hint string
	Err        error
}

func (e *DaemonError) Error() string { return fmt.Sprintf("Docker at %s: %s", e.Host, e.Text) }
func (e *DaemonError) Unwrap() error { return e.Err }

// Host is a connection to a daemon. Several goroutines may use it.
type Host struct {
	// URL is the address of the daemon: "unix:///var/run/docker.sock".
	URL string
	// API is the negotiated API version, and Version the version of the daemon.
	API, Version string
	// CPUs is the number of CPUs of its machine.
	CPUs int

	api   *client.Client
	inner *http.Transport // transport of the requests of api
}

// Connect connects to the daemon at url. If url is empty, it uses DOCKER_HOST, or else the system's default. The
// error is a *DaemonError that says why the daemon cannot be used.
func Connect(ctx context.Context, url string) (*Host, error) {
	opts := []client.Opt{client.FromEnv}
	if url != "" {
		opts = append(opts, client.WithHost(url))
	}
	h := &Host{}
	opts = append(opts, client.WithAPIVersionNegotiation(), h.limitResponses)
	api, err := client.NewClientWithOpts(opts...)
	if err != nil {
		return nil, &DaemonError{Host: url, Text: err.Error(), Err: err,
			Hint: `a host is written "unix:///var/run/docker.sock" or "tcp://name:2375"; DOCKER_HOST, DOCKER_CERT_PATH and DOCKER_TLS_VERIFY are read as by the docker command`}
	}
	h.URL, h.api = api.DaemonHost(), api
	if err := h.negotiate(ctx); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// negotiate negotiates the API version, and reads the facts about the daemon's machine.
func (h *Host) negotiate(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, DialLimit)
	defer cancel()
	ping, err := h.api.Ping(ctx)
	if err != nil {
		return h.Explain(err)
	}
	if ping.APIVersion != "" && versions.LessThan(ping.APIVersion, MinAPI) {
		return &DaemonError{Host: h.URL, Text: fmt.Sprintf("its API has version %s, but tfexp needs at least "+
			"%s", ping.APIVersion, MinAPI),
			Hint: "install Docker 20.10 or later"}
	}
	h.api.NegotiateAPIVersionPing(ping)
	h.API = h.api.ClientVersion()
	info, err := h.api.Info(ctx)
	if err != nil {
		return h.Explain(err)
	}
	h.Version, h.CPUs = info.ServerVersion, info.NCPU
	if info.OSType != "" && info.OSType != "linux" {
		return &DaemonError{Host: h.URL, Text: fmt.Sprintf("it runs %s containers, but tfexp needs Linux "+
			"containers", info.OSType),
			Hint: "switch the daemon to Linux containers"}
	}
	return nil
}

// Client returns a client of the daemon's API, for calls that Host does not have.
func (h *Host) Client() *client.Client { return h.api }

// Close closes the connection.
func (h *Host) Close() error {
	h.inner.CloseIdleConnections()
	return h.api.Close()
}

// Local reports whether the daemon is on this machine, and can use its files.
func (h *Host) Local() bool { return strings.HasPrefix(h.URL, "unix://") }

// Explain returns a *DaemonError with a remedy for the error of a call.
func (h *Host) Explain(err error) error {
	e := &DaemonError{Host: h.URL, Err: err}
	var netErr net.Error
	switch text := err.Error(); {
	case errors.Is(err, os.ErrPermission) || strings.Contains(text, "permission denied"):
		e.Text = "no permission to use its socket"
		e.Hint = "add yourself to the group docker (sudo usermod -aG docker $USER) and log in again, or run tfexp as root"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		e.Text = "it does not answer"
		e.Hint = "read its log (journalctl -u docker), and restart it if it does not respond"
	case IsUnreachable(err):
		e.Text = "no daemon answers"
		e.Hint = "start it (" + StartInstructions() + "), or set DOCKER_HOST to one that runs; then tfexp doctor shows it"
	default:
		e.Text = DaemonMessage(err)
	}
	return e
}

// StartInstructions says how to start the daemon on this system.
func StartInstructions() string { return startCommand(runtime.GOOS) }

func startCommand(system string) string {
	if system == "linux" {
		return "sudo systemctl start docker"
	}
	return "Docker Desktop"
}

// IsUnreachable reports whether a call failed because the daemon could not be reached, or went away.
func IsUnreachable(err error) bool {
	var op *net.OpError
	return client.IsErrConnectionFailed(err) || errors.As(err, &op) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, context.DeadlineExceeded)
}

// DaemonMessage returns the daemon's own message in an error, without the client's words.
func DaemonMessage(err error) string {
	text := strings.TrimPrefix(err.Error(), "Error response from daemon: ")
	text = strings.TrimPrefix(text, "failed to create task for container: ")
	text = strings.TrimSuffix(strings.TrimSpace(text), ": unknown")
	return text
}

// AwaitReturn waits at most patience until the daemon answers again, and reports whether it does.
func (h *Host) AwaitReturn(ctx context.Context, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if h.Alive(ctx) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(PollPause):
		}
	}
}

// Alive reports whether the daemon accepts new connections now. A daemon that shuts down still answers on old
// connections.
func (h *Host) Alive(ctx context.Context) bool {
	_ = h.api.Close() // close idle connections; never fails
	ctx, cancel := context.WithTimeout(ctx, DialLimit)
	defer cancel()
	_, err := h.api.Ping(ctx)
	return err == nil
}

// Pull says when an image is fetched from its registry.
type Pull string

// The rules for fetching images.
const (
	PullNever   Pull = "never"
	PullMissing Pull = "missing"
	PullAlways  Pull = "always"
)

// Image returns the ID ("sha256:…") of an image on the host. It fetches the image first if pull says so. The error
// is a *DaemonError.
func (h *Host) Image(ctx context.Context, name string, pull Pull, platform string) (id string, err error) {
	if pull == PullAlways {
		if err := h.fetch(ctx, name, platform); err != nil {
			return "", err
		}
	}
	id, err = h.inspect(ctx, name, platform)
	if errdefs.IsNotFound(err) && pull == PullMissing {
		if err := h.fetch(ctx, name, platform); err != nil {
			return "", err
		}
		id, err = h.inspect(ctx, name, platform)
	}
	var own *DaemonError
	switch {
	case err == nil:
		return id, nil
	case errors.As(err, &own):
		return "", err
	case errdefs.IsNotFound(err):
		return "", &DaemonError{Host: h.URL, Text: fmt.Sprintf("it has no image %q", name), Err: err,
			Hint: fmt.Sprintf("build it (docker build -t %s …; the images of the programs that come with tfexp: "+
				"jobs/build-image.sh and stages/builtin/build-image.sh), fetch it (docker pull %s), or write pull = "+
				"\"missing\" in the hardware block", name, name)}
	}
	return "", h.Explain(err)
}

func (h *Host) inspect(ctx context.Context, name, platform string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, CallLimit)
	defer cancel()
	found, err := h.api.ImageInspect(ctx, name)
	if err != nil {
		return "", err
	}
	if want := ParsePlatform(platform); want != nil && (found.Os != want.OS || found.Architecture != want.Architecture) {
		return "", &DaemonError{Host: h.URL, Text: fmt.Sprintf("the image %q is for %s/%s, not for %s", name, found.Os,
			found.Architecture, platform),
			Hint: fmt.Sprintf("pull the image for the other platform: docker pull --platform %s %s", platform, name)}
	}
	return found.ID, nil
}

// fetch pulls an image. Only the context limits the time.
func (h *Host) fetch(ctx context.Context, name, platform string) error {
	failed := func(err error) error {
		return &DaemonError{Host: h.URL, Text: fmt.Sprintf("the image %q cannot be fetched: %s", name, DaemonMessage(err)),
			Err: err,
			Hint: "check its name and the connection to its registry (docker login for a private one), or build it and " +
				"write pull = \"never\""}
	}
	progress, err := h.api.ImagePull(ctx, name, image.PullOptions{Platform: platform})
	if err != nil {
		return failed(err)
	}
	defer progress.Close()
	if err := readPull(progress); err != nil {
		return failed(err)
	}
	return nil
}

// ParsePlatform parses "linux/arm64" or "linux/arm/v7"; nil for an empty text.
func ParsePlatform(s string) *ocispec.Platform {
	if s == "" {
		return nil
	}
	os, rest, _ := strings.Cut(s, "/")
	arch, variant, _ := strings.Cut(rest, "/")
	return &ocispec.Platform{OS: os, Architecture: arch, Variant: variant}
}
