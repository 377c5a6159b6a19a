package kubernetes

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
)

const (
	// callLimit is how long a call waits for the answer of the API server.
	callLimit = 30 * time.Second
	// firstPatience is how long calls are repeated while an API server does not answer that has not answered before.
	firstPatience = 10 * time.Second
)

// client calls the API server of a context. Several goroutines may use it.
type client struct {
	access   *access
	http     *http.Client
	patience *atomic.Int64 // nanoseconds for which calls are repeated while the server does not answer
	allowed  *sync.Map     // permissions that the user had before, such as "list pods research"
}

// call is a call of the API.
type call struct {
	verb string // as in roles of RBAC: "get", "list", "watch", "create", "patch", "delete"
	// group is the API group with its version, such as "batch/v1"; empty for the core group. resource may have a
	// subresource: "pods/log".
	group, resource string
	namespace, name string
	query           url.Values
	body            any
	patch           string // the media type of a patch
	absolute        string // a path that replaces group, namespace, resource and name
}

// path returns the path and query of the URL of the call.
func (c *call) path() string {
	root, space := "/api/v1", ""
	if c.group != "" {
		root = "/apis/" + c.group
	}
	if c.namespace != "" {
		space = "namespaces/" + url.PathEscape(c.namespace)
	}
	resource, sub, _ := strings.Cut(c.resource, "/")
	at := cmp.Or(c.absolute, path.Join(root, space, resource, url.PathEscape(c.name), sub))
	if len(c.query) > 0 {
		at += "?" + c.query.Encode()
	}
	return at
}

// callError is an answer of the API server with an error status.
type callError struct {
	call call
	code int
	text string
	wait time.Duration // the time before the next try, as the server asks (Retry-After)
}

func (e *callError) Error() string {
	what := strings.TrimSpace(e.call.verb + " " + e.call.resource + " " + e.call.name)
	where := "in the cluster"
	if e.call.namespace != "" {
		where = fmt.Sprintf("in the namespace %q", e.call.namespace)
	}
	switch {
	case e.code == http.StatusForbidden && strings.Contains(e.text, "exceeded quota"):
		return fmt.Sprintf("%s %s: the quota is used up: %s", what, where, e.text)
	case noPermission(e):
		return fmt.Sprintf("no permission to %s %s %s (%s)", e.call.verb, e.call.resource, where, e.text)
	case e.code == http.StatusUnauthorized:
		return "the API server does not accept the credentials of the context (401)"
	case e.code == http.StatusTooManyRequests:
		return "the API server limits how often it may be called (429)"
	}
	return fmt.Sprintf("%s %s: %s (%d)", what, where, cmp.Or(e.text, http.StatusText(e.code)), e.code)
}

// awayError is returned when the API server has not answered for the whole patience.
type awayError struct {
	server string
	waited time.Duration
	err    error
}

func (e *awayError) Error() string {
	return fmt.Sprintf("the API server %s has not answered for %s: %v", e.server, e.waited.Round(time.Second), e.err)
}
func (e *awayError) Unwrap() error { return e.err }

// refused reports whether an error is an answer of the server with one of the status codes.
func refused(err error, codes ...int) bool {
	e, ok := errors.AsType[*callError](err)
	return ok && slices.Contains(codes, e.code)
}

// noPermission reports whether the user lacks the permission for a call. A refusal by an admission controller has the
// same status code, but does not count.
func noPermission(err error) bool {
	e, ok := errors.AsType[*callError](err)
	return ok && e.code == http.StatusForbidden && strings.Contains(e.text, " cannot ")
}

// passing reports whether a failed call may succeed when it is repeated.
func passing(err error) bool {
	if e, ok := errors.AsType[*callError](err); ok {
		return e.code == http.StatusTooManyRequests || e.code >= 500
	}
	_, cert := errors.AsType[*tls.CertificateVerificationError](err)
	_, own := errors.AsType[*accessError](err)
	return !cert && !own
}

// waiting returns the pause before the next try of a call, after a number of failed tries.
func waiting(err error, tries int) time.Duration {
	if e, ok := errors.AsType[*callError](err); ok && e.wait > 0 {
		return e.wait
	}
	d := min(200*time.Millisecond<<min(tries, 6), 10*time.Second)
	return time.Duration(float64(d) * (0.75 + rand.Float64()/2))
}

// do makes a call and decodes its answer into a value; nil discards the answer. While the server does not answer or is
// overloaded, it repeats the call with growing pauses.
func (c *client) do(ctx context.Context, what call, into any) error {
	began := time.Now()
	for tries := 0; ; tries++ {
		err := c.once(ctx, what, into)
		if err == nil || ctx.Err() != nil || !passing(err) && !c.starts(err, began) {
			if tries > 0 && what.verb == "create" && refused(err, http.StatusConflict) {
				return nil // an earlier try has created the object, but its answer was lost
			}
			return err
		}
		wait := waiting(err, tries)
		if waited := time.Since(began); waited+wait > time.Duration(c.patience.Load()) {
			return &awayError{c.access.Server, waited, err}
		}
		if !pause(ctx, wait) {
			return ctx.Err()
		}
	}
}

// pause waits for a duration. It reports false if the context is done before.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// starts reports whether a call is refused because the server has just started: such a server does not know all roles
// yet. That is so if the user had the permission before. The call has been repeated since an instant.
func (c *client) starts(err error, since time.Time) bool {
	if !noPermission(err) || time.Since(since) > callLimit {
		return false
	}
	e, _ := errors.AsType[*callError](err)
	_, allowed := c.allowed.Load(e.call.right())
	return allowed
}

// right returns the permission that a call needs, as a key of allowed.
func (c *call) right() string { return c.verb + " " + c.resource + " " + c.namespace }

func (c *client) once(ctx context.Context, what call, into any) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	body, err := c.open(ctx, what)
	if err != nil {
		return err
	}
	defer body.Close()
	if into == nil {
		_, err = io.Copy(io.Discard, body)
		return err
	}
	if err := json.NewDecoder(body).Decode(into); err != nil {
		return fmt.Errorf("read the answer to %s %s: %w", what.verb, what.resource, err)
	}
	return nil
}

// mostRefusal is the largest part of an error answer that is read, in bytes.
const mostRefusal = 1 << 16

// methods has the HTTP method of each verb; other verbs are GET.
var methods = map[string]string{"create": http.MethodPost, "patch": http.MethodPatch, "delete": http.MethodDelete}

// open makes a call once and returns the body of the answer. If the server refuses the token, it makes the call again
// with another token.
func (c *client) open(ctx context.Context, what call) (io.ReadCloser, error) {
	res, err := c.send(ctx, what, false)
	if err == nil && res.StatusCode == http.StatusUnauthorized && c.access.login != nil {
		res.Body.Close()
		res, err = c.send(ctx, what, true)
	}
	if err != nil {
		return nil, err
	}
	if res.StatusCode < 300 {
		c.allowed.Store(what.right(), true)
		return res.Body, nil
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, mostRefusal)) // if the answer breaks off, its first part is used
	said := answer{Message: strings.TrimSpace(string(text[:min(len(text), 300)]))}
	_ = json.Unmarshal(text, &said) // the text of other servers, such as proxies, is used as it is
	after, _ := strconv.Atoi(res.Header.Get("Retry-After"))
	return nil, &callError{call: what, code: res.StatusCode, text: said.Message,
		wait: time.Duration(min(after, 60)) * time.Second}
}

// send sends a request. again is true if the server has refused the last token.
func (c *client) send(ctx context.Context, what call, again bool) (*http.Response, error) {
	var text []byte
	var err error
	if what.body != nil {
		if text, err = json.Marshal(what.body); err != nil {
			return nil, err
		}
	}
	method := cmp.Or(methods[what.verb], http.MethodGet)
	req, err := http.NewRequestWithContext(ctx, method, c.access.Server+what.path(), bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", cmp.Or(what.patch, "application/json"))
	req.Header.Set("User-Agent", "tfexp")
	if c.access.login != nil {
		token, err := c.access.login(ctx, again)
		if err != nil {
			return nil, err
		}
		if token != "" { // else the login gives a client certificate
			req.Header.Set("Authorization", "Bearer "+token)
		}
	}
	res, err := c.http.Do(req)
	if e, ok := errors.AsType[*url.Error](err); ok {
		return nil, e.Err // without the URL, since callers name the server
	}
	return res, err
}

// patient returns a copy of the client that repeats calls for another time while the server does not answer.
func (c *client) patient(patience time.Duration) *client {
	other := *c
	other.patience = new(atomic.Int64)
	other.patience.Store(int64(patience))
	return &other
}

// createObject creates an object of the namespace, and decodes the answer into a value; nil discards the answer.
func (k *cluster) createObject(ctx context.Context, resource string, object tree, into any) error {
	what := k.on("create", resource, "")
	what.body = object
	return k.do(ctx, what, into)
}

// patchObject replaces fields of an object of the namespace, and decodes the answer into a value; nil discards the
// answer.
func (k *cluster) patchObject(ctx context.Context, resource, name string, fields tree, into any) error {
	what := k.on("patch", resource, name)
	what.patch, what.body = mergePatch, fields
	return k.do(ctx, what, into)
}

// mergePatch is the media type of patches that replace fields.
const mergePatch = "application/merge-patch+json"

// all lists the objects of a call, in pages of 500. version is the version of the list, from which a watch may start.
func all[T any](ctx context.Context, c *client, what call) (items []T, version string, err error) {
	query := url.Values{"limit": {"500"}}
	maps.Copy(query, what.query)
	what.query = query
	for {
		var page list[T]
		if err := c.do(ctx, what, &page); err != nil {
			return nil, "", err
		}
		items = append(items, page.Items...)
		version = page.Metadata.ResourceVersion
		if page.Metadata.Continue == "" {
			return items, version, nil
		}
		query.Set("continue", page.Metadata.Continue)
	}
}

// unavailable wraps an error of the cluster as an engine.Unavailable with a hint for the user.
func unavailable(err error) error {
	if _, known := errors.AsType[*engine.Unavailable](err); known || err == nil {
		return err
	}
	hint := "run tfexp doctor: it lists missing parts and permissions"
	if _, away := errors.AsType[*awayError](err); away {
		hint = "kubectl cluster-info shows whether the server can be reached; then continue with tfexp resume"
	} else if refused(err, http.StatusForbidden) {
		hint = "tfexp doctor lists the permissions that the engine needs; docs/kubernetes.md has a file with them"
	} else if refused(err, http.StatusUnauthorized) {
		hint = "log in to your cluster again; kubectl auth whoami shows whether that worked"
	}
	return &engine.Unavailable{Engine: kindName, Err: err, Hint: hint}
}
