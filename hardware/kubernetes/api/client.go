// Package api is a client of the API of Kubernetes. It reads kubeconfigs, calls the API server, repeats calls while the
// server does not answer, follows pods, and says why pods wait and end. It has the few objects that its users need, and
// knows nothing of jobs of tfexp.
package api

import (
	"bytes"
	"cmp"
	"context"
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

	"github.com/tfexp/tfexp/experiments/secret"
)

const (
	// CallLimit is how long a call waits for the answer of the API server.
	CallLimit = 30 * time.Second
	// FirstPatience is how long calls are repeated while an API server does not answer that has not answered before.
	FirstPatience = 10 * time.Second
)

// Client calls the API server of a context. Several goroutines may use it.
type Client struct {
	Access   *Access
	http     *http.Client
	patience *atomic.Int64 // nanoseconds for which calls are repeated while the server does not answer
	allowed  *sync.Map     // permissions that the user had before, such as "list pods research"
}

// Call is a call of the API.
type Call struct {
	Verb string // as in roles of RBAC: "get", "list", "watch", "create", "patch", "delete"
	// Group is the API group with its version, such as "batch/v1"; empty for the core group. Resource may have a
	// subresource: "pods/log".
	Group, Resource string
	Namespace, Name string
	Query           url.Values
	Body            any
	Patch           string // the media type of a patch
	Path            string // a path that replaces the group, namespace, resource and name
}

// url returns the path and query of the URL of the call.
func (c *Call) url() string {
	root, space := "/api/v1", ""
	if c.Group != "" {
		root = "/apis/" + c.Group
	}
	if c.Namespace != "" {
		space = "namespaces/" + url.PathEscape(c.Namespace)
	}
	resource, sub, _ := strings.Cut(c.Resource, "/")
	at := cmp.Or(c.Path, path.Join(root, space, resource, url.PathEscape(c.Name), sub))
	if len(c.Query) > 0 {
		at += "?" + c.Query.Encode()
	}
	return at
}

// waiting returns the pause before the next try of a call, after a number of failed tries.
func waiting(err error, tries int) time.Duration {
	if e, ok := errors.AsType[*callError](err); ok && e.wait > 0 {
		return e.wait
	}
	d := min(200*time.Millisecond<<min(tries, 6), 10*time.Second)
	return time.Duration(float64(d) * (0.75 + rand.Float64()/2))
}

// Do makes a call and decodes its answer into a value; nil discards the answer. While the server does not answer or is
// overloaded, it repeats the call with growing pauses.
func (c *Client) Do(ctx context.Context, what Call, into any) error {
	began := time.Now()
	for tries := 0; ; tries++ {
		err := c.once(ctx, what, into)
		if err == nil || ctx.Err() != nil || !passing(err) && !c.Starting(err, began) {
			if tries > 0 && what.Verb == "create" && Refused(err, http.StatusConflict) {
				return nil // an earlier try has created the object, but its answer was lost
			}
			return err
		}
		wait := waiting(err, tries)
		if waited := time.Since(began); waited+wait > time.Duration(c.patience.Load()) {
			return &AwayError{c.Access.Server, waited, err}
		}
		if !Pause(ctx, wait) {
			return ctx.Err()
		}
	}
}

// Pause waits for a duration. It reports false if the context is done before.
func Pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// Starting reports whether a call is refused because the server has just started: such a server does not know all roles
// yet. That is so if the user had the permission before. The call has been repeated since an instant.
func (c *Client) Starting(err error, since time.Time) bool {
	if !NoPermission(err) || time.Since(since) > CallLimit {
		return false
	}
	e, _ := errors.AsType[*callError](err)
	_, allowed := c.allowed.Load(e.call.right())
	return allowed
}

// right returns the permission that a call needs, as a key of allowed.
func (c *Call) right() string { return c.Verb + " " + c.Resource + " " + c.Namespace }

func (c *Client) once(ctx context.Context, what Call, into any) error {
	ctx, cancel := context.WithTimeout(ctx, CallLimit)
	defer cancel()
	body, err := c.Open(ctx, what)
	if err != nil {
		return err
	}
	defer body.Close()
	if into == nil {
		_, err = io.Copy(io.Discard, body)
		return err
	}
	if err := json.NewDecoder(body).Decode(into); err != nil {
		return fmt.Errorf("read the answer to %s %s: %w", what.Verb, what.Resource, err)
	}
	return nil
}

// mostRefusal is the largest part of an error answer that is read, in bytes.
const mostRefusal = 1 << 16

// methods has the HTTP method of each verb; other verbs are GET.
var methods = map[string]string{"create": http.MethodPost, "patch": http.MethodPatch, "delete": http.MethodDelete}

// Open makes a call once and returns the body of the answer. If the server refuses the token, it makes the call again
// with another token.
func (c *Client) Open(ctx context.Context, what Call) (io.ReadCloser, error) {
	res, err := c.send(ctx, what, false)
	if err == nil && res.StatusCode == http.StatusUnauthorized && c.Access.login != nil {
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
	return nil, &callError{call: what, code: res.StatusCode, text: secret.Redact(said.Message),
		wait: time.Duration(min(after, 60)) * time.Second}
}

// send sends a request. again is true if the server has refused the last token.
func (c *Client) send(ctx context.Context, what Call, again bool) (*http.Response, error) {
	var text []byte
	var err error
	if what.Body != nil {
		if text, err = json.Marshal(what.Body); err != nil {
			return nil, err
		}
	}
	method := cmp.Or(methods[what.Verb], http.MethodGet)
	req, err := http.NewRequestWithContext(ctx, method, c.Access.Server+what.url(), bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", cmp.Or(what.Patch, "application/json"))
	req.Header.Set("User-Agent", "tfexp")
	if c.Access.login != nil {
		token, err := c.Access.login(ctx, again)
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

// WithPatience returns a copy of the client that repeats calls for another time while the server does not answer.
func (c *Client) WithPatience(patience time.Duration) *Client {
	other := *c
	other.patience = new(atomic.Int64)
	other.patience.Store(int64(patience))
	return &other
}

// List lists the objects of a call, in pages of 500. version is the version of the list, from which a watch may start.
func List[T any](ctx context.Context, c *Client, what Call) (items []T, version string, err error) {
	query := url.Values{"limit": {"500"}}
	maps.Copy(query, what.Query)
	what.Query = query
	for {
		var page page[T]
		if err := c.Do(ctx, what, &page); err != nil {
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

// SetPatience changes for how long calls are repeated while the server does not answer.
func (c *Client) SetPatience(patience time.Duration) { c.patience.Store(int64(patience)) }

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Serves reports whether the server has a resource of the core group, such as "pods/resize".
func (c *Client) Serves(ctx context.Context, resource string) (bool, error) {
	var core struct{ Resources []struct{ Name string } }
	if err := c.Do(ctx, Call{Verb: "get"}, &core); err != nil {
		return false, fmt.Errorf("read the list of resources of the API server: %w", err)
	}
	return slices.ContainsFunc(core.Resources, func(r struct{ Name string }) bool { return r.Name == resource }), nil
}

// May reports whether the user may make a call.
func (c *Client) May(ctx context.Context, what Call) (bool, error) {
	const group = "authorization.k8s.io/v1"
	resource, sub, _ := strings.Cut(what.Resource, "/")
	of, _, _ := strings.Cut(what.Group, "/")
	asked := tree{"verb": what.Verb, "group": of, "resource": resource, "subresource": sub}
	if what.Namespace != "" {
		asked["namespace"] = what.Namespace
	}
	var said struct{ Status struct{ Allowed bool } }
	err := c.Do(ctx, Call{Verb: "create", Group: group, Resource: "selfsubjectaccessreviews",
		Body: tree{"apiVersion": group, "kind": "SelfSubjectAccessReview", "spec": tree{"resourceAttributes": asked}}},
		&said)
	return said.Status.Allowed, err
}
