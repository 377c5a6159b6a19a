package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/kubernetes/api"
)

// findQueue returns an error if a LocalQueue of Kueue does not exist or takes no jobs, and otherwise the version of
// Kueue's API.
func (k *cluster) findQueue(ctx context.Context, name string) (version string, err error) {
	var group struct{ PreferredVersion struct{ GroupVersion string } }
	hint := "remove queue from the policy to use only the scheduler of the cluster"
	err = k.Do(ctx, api.Call{Verb: "get", Group: "kueue.x-k8s.io"}, &group)
	version = group.PreferredVersion.GroupVersion
	if api.Refused(err, http.StatusNotFound) {
		err = errors.New("the cluster has no Kueue")
	}
	if err == nil {
		hint = fmt.Sprintf("kubectl -n %s get localqueues lists the queues", k.Namespace.Name)
		var q workload
		err = k.Do(ctx, api.Call{Verb: "get", Group: version, Resource: "localqueues", Namespace: k.Namespace.Name,
			Name: name}, &q)
		if c := q.Status.Conditions.Find("Active", "False"); c != nil {
			err = errors.New(c.Message)
		}
	}
	if err != nil {
		err = &engine.Unavailable{Engine: Name, Err: fmt.Errorf("the queue %q cannot be used: %w", name, err), Hint: hint}
	}
	return version, err
}

// workload is a Workload of Kueue (one for each Job), or a LocalQueue. Keys of JSON match fields in any case.
type workload struct {
	Metadata api.Meta
	Status   struct{ Conditions api.Conditions }
}

// says returns why the Job waits or was stopped, and whether Kueue has evicted it.
func (w *workload) says() (text string, evicted bool) {
	for _, c := range w.Status.Conditions {
		out := c.Type == "Evicted" && c.Status == "True"
		waits := c.Type == "QuotaReserved" && c.Status == "False"
		if (out || waits) && !strings.Contains(text, c.Message) { // the empty text contains the empty message
			text += fmt.Sprintf("; %s %s, %s: %s", c.Type, c.Status, c.Reason, c.Message)
		}
		evicted = evicted || out
	}
	return strings.Replace(text, "; ", "Kueue: ", 1), evicted
}

// labelWorkload is the label of a Workload that has the UID of its Job.
const labelWorkload = "kueue.x-k8s.io/job-uid"

// workloads returns the Workloads of the namespace by the UID of their Jobs. version is the version of Kueue's API.
func (k *cluster) workloads(ctx context.Context, version string) (map[string]*workload, error) {
	found, _, err := api.List[workload](ctx, k.Client, api.Call{Verb: "list", Group: version, Resource: "workloads",
		Namespace: k.Namespace.Name, Query: url.Values{"labelSelector": {labelWorkload}}})
	of := map[string]*workload{}
	for i := range found {
		of[found[i].Metadata.Labels[labelWorkload]] = &found[i]
	}
	return of, err
}
