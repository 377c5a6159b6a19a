package kubernetes

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"time"
)

// watchLimit is how long the API server keeps a watch open. Then tfexp opens another watch.
const watchLimit = 4 * time.Minute

// watch follows the pods of the engine until it is closed. It sends the error of the first list, or nil, to listed. If
// a later list fails, the run ends.
func (e *Engine) watch(listed chan<- error) {
	pods := e.on("list", "pods", "")
	pods.query = byLabels(e.own())
	known := map[string]*pod{} // the latest states of the pods that exist, by UID
	for e.ctx.Err() == nil {
		found, version, err := all[pod](e.ctx, e.client, pods)
		if e.ctx.Err() != nil {
			return
		}
		if listed != nil {
			if listed <- err; err != nil {
				return
			}
			listed = nil
		} else if err != nil {
			e.blindness = unavailable(fmt.Errorf("follow the pods of the run: %w", err))
			e.Break(e.blindness)
			close(e.blind)
			return
		}
		before := known
		known = map[string]*pod{}
		for i := range found {
			known[found[i].Metadata.UID] = &found[i]
			e.tell(&found[i], false)
		}
		for uid, p := range before {
			if known[uid] == nil { // it was deleted since the last list
				e.tell(p, true)
			}
		}
		for version != "" && e.ctx.Err() == nil {
			began := time.Now()
			version = e.follow(version, pods, known)
			if time.Since(began) < time.Second { // do not call a server without pause that ends each watch at once
				pause(e.ctx, time.Second)
			}
		}
	}
}

// follow watches pods from a version on, and updates the known pods. It returns the version from which the next watch
// starts; empty if pods must be listed again.
func (e *Engine) follow(version string, pods call, known map[string]*pod) string {
	pods.verb = "watch"
	pods.query = maps.Clone(pods.query)
	pods.query.Set("watch", "true")
	pods.query.Set("allowWatchBookmarks", "true")
	pods.query.Set("resourceVersion", version)
	pods.query.Set("timeoutSeconds", fmt.Sprint(int(watchLimit.Seconds())))
	body, err := e.open(e.ctx, pods)
	if err != nil {
		if !passing(err) || !e.answers() {
			return "" // 410 Gone, or the next list fails too and reports the error
		}
		return version
	}
	defer body.Close()
	// If nothing arrives for longer than a watch lasts, the connection is lost.
	silence := time.AfterFunc(watchLimit+callLimit, func() { body.Close() })
	defer silence.Stop()
	events := json.NewDecoder(body)
	for {
		var w watchEvent
		if err := events.Decode(&w); err != nil {
			if !errors.Is(err, io.EOF) && !e.answers() {
				return ""
			}
			return version
		}
		silence.Reset(watchLimit + callLimit)
		var p pod
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
		e.tell(&p, w.Type == "DELETED")
	}
}

// answers reports whether the API server answers a short call.
func (e *Engine) answers() bool {
	return e.once(e.ctx, call{verb: "get"}, nil) == nil
}

// tell passes the new state of a pod to its program. gone means that the pod was deleted.
func (e *Engine) tell(p *pod, gone bool) {
	e.mu.Lock()
	of := cmp.Or(e.started[p.Metadata.Labels[labelStart]], e.started[p.Metadata.UID])
	e.mu.Unlock()
	if of != nil {
		of.see(p, gone)
	}
	e.news(p, gone)
}
