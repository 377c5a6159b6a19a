package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"time"
)

// serve answers one request.
func (f *Cluster) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	away := f.away
	f.mu.Unlock()
	if away {
		panic(http.ErrAbortHandler)
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/version":
		reply(w, http.StatusOK, tree{"major": "1", "minor": "36", "gitVersion": "v1.36.3"})
		return
	case r.URL.Path == "/api/v1":
		resources := []any{tree{"name": "pods"}}
		if !f.Old {
			resources = append(resources, tree{"name": "pods/resize"})
		}
		reply(w, http.StatusOK, tree{"kind": "APIResourceList", "resources": resources})
		return
	case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
		reply(w, http.StatusCreated, tree{"status": tree{"allowed": true}})
		return
	}
	if len(parts) == 2 { // a group of the API
		if version := f.Groups[parts[1]]; version != "" {
			reply(w, http.StatusOK, tree{"preferredVersion": tree{"groupVersion": version}})
		} else {
			problem(w, http.StatusNotFound, "NotFound", "the server could not find the requested resource")
		}
		return
	}
	parts = parts[2:] // api/v1
	if strings.HasPrefix(r.URL.Path, "/apis/") {
		parts = parts[1:] // apis/batch/v1
	}
	var namespace, name, sub string
	if len(parts) > 1 && parts[0] == "namespaces" {
		namespace, parts = parts[1], parts[2:]
	}
	resource := parts[0]
	if len(parts) > 1 {
		name = parts[1]
	}
	if len(parts) > 2 {
		sub = parts[2]
	}
	q := r.URL.Query()
	verb := map[string]string{"POST": "create", "PATCH": "patch", "DELETE": "delete", "GET": "list"}[r.Method]
	switch {
	case q.Get("watch") != "":
		verb = "watch"
	case verb == "list" && name != "":
		verb = "get"
	}
	what := verb + " " + resource
	if sub != "" {
		what += "/" + sub
	}
	f.mu.Lock()
	f.calls = append(f.calls, what)
	refuse := f.Refuse
	f.mu.Unlock()
	if refused := refuse(what, name); refused != nil {
		if refused.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(refused.RetryAfter))
		}
		problem(w, refused.Code, refused.Reason, refused.Message)
		return
	}
	match := selectedBy(q.Get("labelSelector"), q.Get("fieldSelector"), namespace)
	switch {
	case sub == "log":
		f.serveLog(w, r, name)
	case verb == "watch":
		f.watch(w, r, resource, match)
	case verb == "list":
		f.list(w, resource, match)
	case f.Lose(what):
		f.serveObject(httptest.NewRecorder(), r, verb, resource, namespace, name)
		panic(http.ErrAbortHandler)
	default:
		f.serveObject(w, r, verb, resource, namespace, name)
	}
}

func (f *Cluster) list(w http.ResponseWriter, resource string, match func(tree) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	items := []any{}
	for _, key := range slices.Sorted(maps.Keys(f.objects)) {
		if strings.HasPrefix(key, resource+"/") && match(f.objects[key]) {
			items = append(items, Copy(f.objects[key]))
		}
	}
	reply(w, http.StatusOK, tree{"metadata": tree{"resourceVersion": strconv.Itoa(f.version)}, "items": items})
}

// serveObject answers a request about one object.
func (f *Cluster) serveObject(w http.ResponseWriter, r *http.Request, verb, resource, namespace, name string) {
	var body tree
	_ = json.NewDecoder(r.Body).Decode(&body)
	f.mu.Lock()
	defer f.mu.Unlock()
	if verb == "create" {
		m := Meta(body)
		m["namespace"] = namespace
		if NamesMany(body) {
			problem(w, http.StatusUnprocessableEntity, "Invalid", "must be only one value when `operator` is 'In' or 'NotIn' "+
				"for node field selector")
			return
		}
		if r.URL.Query().Get("dryRun") == "All" {
			reply(w, http.StatusCreated, body)
			return
		}
		key := placeOf(resource, body)
		if f.objects[key] != nil {
			problem(w, http.StatusConflict, "AlreadyExists", fmt.Sprintf("%s %q already exists", resource, m["name"]))
			return
		}
		f.put("ADDED", resource, body)
		f.control(namespace)
		reply(w, http.StatusCreated, f.objects[key])
		return
	}
	o := f.objects[resource+"/"+namespace+"/"+name]
	if o == nil {
		problem(w, http.StatusNotFound, "NotFound", fmt.Sprintf("%s %q not found", resource, name))
		return
	}
	switch verb {
	case "patch":
		patched := Copy(o)
		if strings.HasSuffix(r.URL.Path, "/resize") { // the pod has only one container
			asked := Elements(Child(body, "spec")["containers"])[0].(tree)["resources"]
			Elements(Child(patched, "spec")["containers"])[0].(tree)["resources"] = asked
			if f.Infeasible != "" {
				SetCondition(Child(patched, "status"), "PodResizePending", "Infeasible", f.Infeasible)
			}
		} else {
			merge(patched, body)
		}
		if resource == "jobs" && changesTemplate(o, patched) {
			problem(w, http.StatusUnprocessableEntity, "Invalid", fmt.Sprintf(
				"Job.batch %q is invalid: spec.template: Invalid value: {}: field is immutable", name))
			return
		}
		f.put("MODIFIED", resource, patched)
		f.control(namespace)
		o = patched
	case "delete":
		if resource == "pods" {
			f.end(o)
		} else {
			f.put("DELETED", resource, o)
		}
		for key, pod := range maps.Clone(f.objects) {
			if strings.HasPrefix(key, "pods/"+namespace+"/") && resource == "jobs" &&
				Child(Meta(pod), "labels")["batch.kubernetes.io/job-name"] == name {
				f.end(pod)
			}
		}
		f.control(namespace)
	}
	reply(w, http.StatusOK, o)
}

// NamesMany reports whether a Job names several nodes in one term of its affinity. Kubernetes refuses such a Job.
func NamesMany(job tree) bool {
	for _, term := range NodeTerms(Child(Child(job, "spec"), "template")) {
		for _, field := range Elements(term.(tree)["matchFields"]) {
			if len(Elements(field.(tree)["values"])) != 1 {
				return true
			}
		}
	}
	return false
}

// changesTemplate reports whether a patch changes the pod template of a Job that is not suspended or has been started.
// Kubernetes refuses such a patch.
func changesTemplate(before, after tree) bool {
	open := Child(before, "spec")["suspend"] == true && Child(before, "status")["startTime"] == nil
	return !open && fmt.Sprint(Child(before, "spec")["template"]) != fmt.Sprint(Child(after, "spec")["template"])
}

// merge applies a JSON merge patch to an object.
func merge(o, patch tree) {
	for name, value := range patch {
		switch value := value.(type) {
		case nil:
			delete(o, name)
		case tree:
			merge(Child(o, name), value)
		default:
			o[name] = value
		}
	}
}

// watch sends all changes after a version, until the test breaks the streams.
func (f *Cluster) watch(w http.ResponseWriter, r *http.Request, resource string, match func(tree) bool) {
	version, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	out := json.NewEncoder(w)
	f.mu.Lock()
	broken, gone := f.broken, version < f.forgotten
	f.mu.Unlock()
	if gone {
		_ = out.Encode(tree{"type": "ERROR", "object": tree{"kind": "Status", "status": "Failure", "code": 410,
			"reason": "Expired", "message": "too old resource version"}})
		return
	}
	for {
		f.mu.Lock()
		var news []change
		for _, c := range f.changes {
			if c.version > version && c.resource == resource && match(c.object) {
				news = append(news, c)
			}
		}
		changed := f.changed
		f.mu.Unlock()
		for _, c := range news {
			version = c.version
			if out.Encode(tree{"type": c.kind, "object": c.object}) != nil {
				return
			}
		}
		w.(http.Flusher).Flush()
		select {
		case <-changed:
		case <-broken:
			panic(http.ErrAbortHandler)
		case <-r.Context().Done():
			return
		}
	}
}

// serveLog answers with the log of a pod's container.
func (f *Cluster) serveLog(w http.ResponseWriter, r *http.Request, name string) {
	q := r.URL.Query()
	since, _ := time.Parse(time.RFC3339Nano, q.Get("sinceTime"))
	f.mu.Lock()
	log, broken := f.logs[name], f.broken
	f.mu.Unlock()
	if q.Get("container") != "job" {
		problem(w, http.StatusBadRequest, "BadRequest", "a container name must be specified")
		return
	}
	if log == nil {
		problem(w, http.StatusNotFound, "NotFound", fmt.Sprintf("pods %q not found", name))
		return
	}
	for told := 0; ; {
		f.mu.Lock()
		lines, at, over, changed := log.lines[told:], log.at[told:], log.over, f.changed
		f.mu.Unlock()
		told += len(lines)
		for i, line := range lines {
			if at[i].Before(since) {
				continue
			}
			if q.Get("timestamps") == "true" {
				line = at[i].UTC().Format(time.RFC3339Nano) + " " + line
			}
			if _, err := fmt.Fprintln(w, line); err != nil {
				return
			}
		}
		w.(http.Flusher).Flush()
		if over && len(lines) == 0 || q.Get("follow") != "true" {
			return
		}
		select {
		case <-changed:
		case <-time.After(10 * time.Millisecond):
		case <-broken:
			panic(http.ErrAbortHandler)
		case <-r.Context().Done():
			return
		}
	}
}

// selectedBy returns a function that reports whether an object matches the selectors of a request.
func selectedBy(labels, fields, namespace string) func(tree) bool {
	return func(o tree) bool {
		if namespace != "" && Meta(o)["namespace"] != namespace {
			return false
		}
		for part := range strings.SplitSeq(labels, ",") {
			key, value, equal := strings.Cut(part, "=")
			if have, ok := Child(Meta(o), "labels")[key]; part != "" && (!ok || equal && have != strings.TrimPrefix(value, "=")) {
				return false
			}
		}
		for part := range strings.SplitSeq(fields, ",") {
			if part == "" {
				continue
			}
			path, value, _ := strings.Cut(part, "=")
			path, unequal := strings.CutSuffix(path, "!")
			var at any = o
			for name := range strings.SplitSeq(path, ".") {
				at = at.(tree)[name]
				if at == nil {
					break
				}
			}
			if (at == value) == unequal {
				return false
			}
		}
		return true
	}
}

func reply(w http.ResponseWriter, code int, o tree) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(o)
}

func problem(w http.ResponseWriter, code int, reason, message string) {
	reply(w, code, tree{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message})
}
