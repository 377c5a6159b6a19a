package api

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
)

// BatchGroup is the API group of Jobs.
const BatchGroup = "batch/v1"

// Namespace is a namespace of a cluster.
type Namespace struct {
	*Client
	Name string
}

// Connect returns a namespace of the context of a kubeconfig: the given namespace, or else that of the context. Empty
// arguments mean the defaults of kubectl. Connect makes no call. It returns ErrNoCluster if nothing names a cluster.
func Connect(kubeconfig, context, namespace string) (Namespace, error) {
	a, err := FindAccess(kubeconfig, context)
	if err != nil {
		return Namespace{}, err
	}
	return Namespace{a.Dial(), cmp.Or(namespace, a.Namespace, "default")}, nil
}

// Call returns a call about Jobs, pods or other objects of the namespace.
func (n Namespace) Call(verb, resource, name string) Call {
	what := Call{Verb: verb, Resource: resource, Namespace: n.Name, Name: name}
	if resource == "jobs" {
		what.Group = BatchGroup
	}
	return what
}

// Get reads an object into a value.
func (n Namespace) Get(ctx context.Context, resource, name string, into any) error {
	return n.Do(ctx, n.Call("get", resource, name), into)
}

// Create creates an object, and decodes the answer into a value; nil discards the answer. The answer is empty if the
// call was repeated after an answer was lost.
func (n Namespace) Create(ctx context.Context, resource string, object, into any) error {
	what := n.Call("create", resource, "")
	what.Body = object
	return n.Do(ctx, what, into)
}

// Patch replaces fields of an object, and decodes the answer into a value; nil discards the answer. In a resource such
// as "pods/resize", elements of lists are merged by their names.
func (n Namespace) Patch(ctx context.Context, resource, name string, fields, into any) error {
	what := n.Call("patch", resource, name)
	what.Patch, what.Body = "application/merge-patch+json", fields
	if strings.Contains(resource, "/") {
		what.Patch = "application/strategic-merge-patch+json"
	}
	return n.Do(ctx, what, into)
}

// Delete deletes an object. The cluster then deletes the pods of a Job; the program of a pod gets SIGKILL after one
// second. It is no error if the object does not exist.
func (n Namespace) Delete(ctx context.Context, resource, name string) error {
	what := n.Call("delete", resource, name)
	what.Body = tree{"propagationPolicy": "Background"}
	if resource == "pods" {
		what.Body = tree{"gracePeriodSeconds": 1}
	}
	return Except(n.Do(ctx, what, nil), http.StatusNotFound)
}

// Labelled lists the objects of a namespace that have some labels.
func Labelled[T any](ctx context.Context, n Namespace, resource string, labels map[string]string) ([]T, error) {
	what := n.Call("list", resource, "")
	what.Query = ByLabels(labels)
	items, _, err := List[T](ctx, n.Client, what)
	return items, err
}

// ByLabels returns a query for the objects with some labels.
func ByLabels(labels map[string]string) url.Values {
	return url.Values{"labelSelector": {Selector(labels)}}
}

// Selector returns a label selector: "a=1,b=2".
func Selector(labels map[string]string) string {
	names := slices.Sorted(maps.Keys(labels))
	return strings.Join(schema.Each(names, func(name string) string { return name + "=" + labels[name] }), ",")
}
