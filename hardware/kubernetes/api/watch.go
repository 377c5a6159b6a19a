package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"time"
)

// watchLimit is how long the API server keeps a watch open. Then another watch is opened.
const watchLimit = 4 * time.Minute

// FollowPods calls tell for each new state of a pod with some labels; gone means that the pod was deleted. It calls
// listed once, after it has called tell for all pods that existed at the beginning. It returns nil when the context is
// done, and an error if pods cannot be listed.
func (n Namespace) FollowPods(ctx context.Context, labels map[string]string, listed func(),
	tell func(p *Pod, gone bool)) error {
	pods := n.Call("list", "pods", "")
	pods.Query = ByLabels(labels)
	known := map[string]*Pod{} // the latest states of the pods that exist, by UID
	for first := true; ; first = false {
		found, version, err := List[Pod](ctx, n.Client, pods)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		before := known
		known = map[string]*Pod{}
		for i := range found {
			known[found[i].Metadata.UID] = &found[i]
			tell(&found[i], false)
		}
		for uid, p := range before {
			if known[uid] == nil { // it was deleted since the last list
				tell(p, true)
			}
		}
		if first {
			listed()
		}
		for version != "" {
			began := time.Now()
			version = n.watchPods(ctx, version, pods, known, tell)
			if time.Since(began) < time.Second { // do not call a server without pause that ends each watch at once
				Pause(ctx, time.Second)
			}
			if ctx.Err() != nil {
				return nil
			}
		}
	}
}

// watchPods watches pods from a version on, and updates the known pods. It returns the version from which the next
// watch starts; empty if pods must be listed again.
func (n Namespace) watchPods(ctx context.Context, version string, pods Call, known map[string]*Pod,
	tell func(*Pod, bool)) string {
	pods.Verb = "watch"
	pods.Query = maps.Clone(pods.Query)
	pods.Query.Set("watch", "true")
	pods.Query.Set("allowWatchBookmarks", "true")
	pods.Query.Set("resourceVersion", version)
	pods.Query.Set("timeoutSeconds", fmt.Sprint(int(watchLimit.Seconds())))
	body, err := n.Open(ctx, pods)
	if err != nil {
		if !passing(err) || !n.answers(ctx) {
			return "" // 410 Gone, or the next list fails too and reports the error
		}
		return version
	}
	defer body.Close()
	// If nothing arrives for longer than a watch lasts, the connection is lost.
	silence := time.AfterFunc(watchLimit+CallLimit, func() { body.Close() })
	defer silence.Stop()
	events := json.NewDecoder(body)
	for {
		var w struct {
			Type   string
			Object json.RawMessage
		}
		if err := events.Decode(&w); err != nil {
			if !errors.Is(err, io.EOF) && !n.answers(ctx) {
				return ""
			}
			return version
		}
		silence.Reset(watchLimit + CallLimit)
		var p Pod
		if w.Type == "ERROR" || json.Unmarshal(w.Object, &p) != nil {
			return "" // 410 Gone, or another error
		}
		version = p.Metadata.ResourceVersion
		if w.Type == "BOOKMARK" {
			continue
		}
		known[p.Metadata.UID] = &p
		if w.Type == "DELETED" {
			delete(known, p.Metadata.UID)
		}
		tell(&p, w.Type == "DELETED")
	}
}

// answers reports whether the API server answers a short call.
func (c *Client) answers(ctx context.Context) bool { return c.once(ctx, Call{Verb: "get"}, nil) == nil }
