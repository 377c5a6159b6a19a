package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/kubernetes/api"
)

// permission is the right to make some calls. optional says what does not work without it; empty if the engine does not
// work at all.
type permission struct {
	verbs, group, resource string
	cluster                bool // for objects of the whole cluster
	optional               string
}

// permissions are all permissions that the engine uses. rbac.yaml grants the same.
var permissions = []permission{
	{verbs: "list", resource: "nodes", cluster: true},
	{verbs: "create get list patch delete", group: "batch", resource: "jobs"},
	{verbs: "list watch patch delete", resource: "pods"},
	{verbs: "get", resource: "pods/log"},
	{verbs: "list", resource: "events"},
	{verbs: "patch", resource: "pods/resize", optional: "jobs are restarted to change their size"},
	{verbs: "create", resource: "secrets", optional: "sensitive variables do not reach jobs"},
	{verbs: "patch", resource: "secrets", optional: "sensitive variables may not reach jobs"},
	{verbs: "list delete", resource: "secrets", optional: "Secrets of killed runs remain"},
	{verbs: "create", resource: "services", optional: "jobs with roles cannot run"},
	{verbs: "list delete", resource: "services", optional: "Services of killed runs remain until their Jobs end"},
	{verbs: "get", group: "kueue.x-k8s.io", resource: "localqueues", optional: "policies cannot use queues of Kueue"},
	{verbs: "list", group: "kueue.x-k8s.io", resource: "workloads", optional: "waits in queues of Kueue are not " +
		"explained"},
	{verbs: "list", resource: "pods", cluster: true, optional: "pods of other namespaces are not counted as load of " +
		"nodes"},
}

// loginHint is the remedy for credentials that the server refuses.
const loginHint = "log in to your cluster again; kubectl auth whoami shows whether that worked"

// doctorLimit is how long doctor waits for a cluster.
const doctorLimit = 10 * time.Second

// doctor checks the cluster of the current context: whether it answers, which permissions the user lacks, and whether
// a killed run has left Jobs.
func doctor(ctx context.Context, inUse func(folder string) bool) []hardware.Check {
	ctx, cancel := context.WithTimeout(ctx, doctorLimit)
	defer cancel()
	c := hardware.Check{Name: Name, Status: hardware.OK}
	warn := func(text, hint string) []hardware.Check {
		c.Status, c.Text, c.Hint = hardware.Warn, text, hint
		return []hardware.Check{c}
	}
	k, err := connect(&Settings{GPUResource: "nvidia.com/gpu"})
	switch {
	case errors.Is(err, api.ErrNoCluster):
		return warn(api.ErrNoCluster.Error()+": the engine \"kubernetes\" cannot be used", api.NoClusterHint)
	case err != nil:
		return warn(err.Error(), "correct the kubeconfig; kubectl config view shows it")
	}
	defer k.Close()
	k = k.patient(2 * time.Second)
	var version struct{ GitVersion string }
	if err := k.Do(ctx, api.Call{Verb: "get", Path: "/version"}, &version); err != nil {
		hint := "kubectl cluster-info shows whether the server can be reached"
		if api.Refused(err, http.StatusUnauthorized) {
			hint = loginHint
		}
		return warn(err.Error(), hint)
	}
	lacks, less, err := k.missing(ctx)
	if err != nil {
		return warn("your permissions cannot be read: "+err.Error(), "kubectl auth can-i --list shows it")
	}
	c.Text = fmt.Sprintf("Kubernetes %s at %s, namespace %s", version.GitVersion, k.Access.Server, k.Namespace.Name)
	if len(lacks) > 0 {
		return warn(c.Text+": you may not "+strings.Join(lacks, ", "),
			"ask for these permissions; docs/kubernetes.md has a file with them")
	}
	if len(less) > 0 {
		c.Text += "; you may not " + strings.Join(less, ", ")
	}
	rooms, err := k.rooms(ctx, "")
	if err != nil {
		return warn(c.Text+": "+err.Error(), "")
	}
	nodes, cores, gpus := 0, 0, 0
	for _, r := range rooms {
		if r.closed == "" {
			nodes, cores, gpus = nodes+1, cores+r.threads, gpus+r.gpus
		}
	}
	c.Text += fmt.Sprintf("; %s with %s and %s", schema.Plural(nodes, "node"), schema.Plural(cores, "free core"),
		schema.Plural(gpus, "GPU"))
	if left, folder := k.leftovers(ctx, inUse); left > 0 {
		return warn(fmt.Sprintf("%s; a killed run has left %s (results folder %s)", c.Text, schema.Plural(left, "Job"),
			folder), fmt.Sprintf("the next run with the same --out removes them; to remove them now: "+
			"kubectl -n %s delete jobs -l %s=%s", k.Namespace.Name, labelRun, runID(folder)))
	}
	return []hardware.Check{c}
}

// missing returns the permissions that the user lacks: those without which the engine does not work, and others with
// what does not work.
func (k *cluster) missing(ctx context.Context) (lacks, less []string, err error) {
	for _, p := range permissions {
		for verb := range strings.FieldsSeq(p.verbs) {
			what := api.Call{Verb: verb, Group: p.group, Resource: p.resource}
			if !p.cluster {
				what.Namespace = k.Namespace.Name
			}
			may, err := k.May(ctx, what)
			switch {
			case err != nil:
				return nil, nil, err
			case may:
			case p.optional == "":
				lacks = append(lacks, verb+" "+p.resource)
			default:
				less = append(less, fmt.Sprintf("%s %s (without it, %s)", verb, p.resource, p.optional))
			}
		}
	}
	return lacks, less, nil
}

// leftovers counts the Jobs of runs that do not run any more, and returns the results folder of one. Jobs that cannot
// be listed do not count.
func (k *cluster) leftovers(ctx context.Context, inUse func(folder string) bool) (left int, folder string) {
	jobs, _ := api.Labelled[api.Job](ctx, k.Namespace, "jobs", map[string]string{LabelManager: "tfexp"})
	for _, j := range jobs {
		if at := j.Metadata.Annotations[AnnotationFolder]; j.Metadata.Labels[labelRun] != "" && !inUse(at) {
			left, folder = left+1, at
		}
	}
	return left, folder
}
