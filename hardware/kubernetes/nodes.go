package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/distribution/reference"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/kubernetes/api"
	"github.com/tfexp/tfexp/scheduler"
)

// room is a node of the cluster, with its free cores, memory and GPUs.
type room struct {
	name    string
	threads int
	memory  int64 // bytes
	gpus    int
	gpu     string // type of its GPUs
	images  [][]string
	closed  string // why no pod can start there; empty if pods can
}

// gpuProduct is the label of a node that names the type of its GPUs.
const gpuProduct = "nvidia.com/gpu.product"

// rooms returns the nodes that a hardware may use, by name. Their free resources are the allocatable ones without the
// requests of pods. Pods of the run itself do not count. If the user may not list the pods of all namespaces, only
// pods of the namespace count.
func (k *cluster) rooms(ctx context.Context, run string) ([]room, error) {
	nodes, _, err := api.List[api.Node](ctx, k.Client, api.Call{Verb: "list", Resource: "nodes",
		Query: api.ByLabels(k.set.NodeSelector)})
	if err != nil {
		return nil, err
	}
	living := api.Call{Verb: "list", Resource: "pods", Query: url.Values{
		"fieldSelector": {"status.phase!=Succeeded,status.phase!=Failed"}}}
	pods, _, err := api.List[api.Pod](ctx, k.Client, living)
	if api.Refused(err, http.StatusForbidden) {
		living.Namespace = k.Namespace.Name
		pods, _, err = api.List[api.Pod](ctx, k.Client, living)
	}
	if err != nil {
		return nil, err
	}
	pods = slices.DeleteFunc(pods, func(p api.Pod) bool { return run != "" && p.Metadata.Labels[labelRun] == run })
	var list []room
	for i := range nodes {
		n := &nodes[i]
		r := room{name: n.Metadata.Name, gpu: n.Metadata.Labels[gpuProduct], closed: k.closed(n)}
		var free [3]int64
		for i, name := range []string{"cpu", "memory", k.set.GPUResource} {
			if free[i], err = freeOn(n, name, pods); err != nil {
				return nil, err
			}
		}
		r.threads, r.memory, r.gpus = int(free[0]), free[1], int(free[2])
		for _, image := range n.Status.Images {
			r.images = append(r.images, image.Names)
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b room) int { return strings.Compare(a.name, b.name) })
	return list, nil
}

// freeOn returns how much of a resource pods leave free on a node, in whole units.
func freeOn(n *api.Node, resource string, pods []api.Pod) (int64, error) {
	free, err := api.Quantity(n.Status.Allocatable[resource])
	if err != nil {
		return 0, fmt.Errorf("%s of the node %s: %w", resource, n.Metadata.Name, err)
	}
	for i := range pods {
		if p := &pods[i]; p.Spec.NodeName == n.Metadata.Name {
			used, err := p.Requests(resource)
			if err != nil {
				return 0, fmt.Errorf("%s of the pod %s: %w", resource, p.Metadata.Name, err)
			}
			free -= used
		}
	}
	return int64(max(math.Floor(free+1e-9), 0)), nil
}

// closed returns why no pod can start on a node; empty if pods can.
func (k *cluster) closed(n *api.Node) string {
	if n.Spec.Unschedulable {
		return "it is cordoned"
	}
	if n.Status.Conditions.True("Ready") == nil {
		return "it is not ready"
	}
	for _, t := range n.Spec.Taints {
		if t.Effect != "PreferNoSchedule" && !slices.ContainsFunc(k.set.tolerations(), t.ToleratedBy) {
			return fmt.Sprintf("it has the taint %s=%s:%s (tolerations)", t.Key, t.Value, t.Effect)
		}
	}
	return ""
}

// fits reports whether a node of the hardware fits into a node of the cluster.
func (r *room) fits(n scheduler.Node) bool {
	return r.closed == "" && n.Threads <= r.threads && n.Memory <= r.memory && n.GPUs <= r.gpus
}

// assign chooses a different node of the cluster for each node of a hardware: the node with the same name, or else the
// smallest with enough room. The error names a node of the hardware for which there is none.
func assign(hw *engine.Hardware, rooms []room) ([]string, error) {
	nodes := hw.Cluster.Nodes
	names, order := make([]string, len(nodes)), make([]int, len(nodes))
	free := slices.Clone(rooms)
	slices.SortStableFunc(free, func(a, b room) int { return cmp.Or(a.gpus-b.gpus, a.threads-b.threads) })
	take := func(i int, is func(room) bool) {
		if at := slices.IndexFunc(free, is); at >= 0 {
			names[i] = free[at].name
			free = slices.Delete(free, at, at+1)
		}
	}
	for i, n := range nodes {
		order[i] = i
		take(i, func(r room) bool { return r.name == n.Name && r.fits(n) })
	}
	slices.SortStableFunc(order, func(a, b int) int { // largest nodes first
		return cmp.Or(nodes[b].GPUs-nodes[a].GPUs, nodes[b].Threads-nodes[a].Threads)
	})
	for _, i := range order {
		if names[i] == "" {
			take(i, func(r room) bool { return r.fits(nodes[i]) })
		}
		if names[i] == "" {
			return nil, &engine.Unavailable{Engine: Name, Hint: "describe smaller nodes, or allow others " +
				"(node_selector, tolerations)", Err: fmt.Errorf("no node of the cluster has room for %s of the hardware %q: %s",
				title(nodes[i]), hw.Name, lacks(rooms, names))}
		}
	}
	return names, nil
}

// move replaces the node of a program if it takes no pods any more, by another node of the cluster with enough room.
// Later pods on this node of the hardware go to the new node too.
func (e *Engine) move(p *program) error {
	v := p.now().part.Node
	rooms, err := e.rooms(e.ctx, e.run)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	now := slices.IndexFunc(rooms, func(r room) bool { return r.name == e.nodes[v] })
	if now >= 0 && rooms[now].closed == "" {
		return nil
	}
	for _, r := range rooms {
		if r.fits(e.hw.Cluster.Nodes[v]) && !slices.Contains(e.nodes, r.name) {
			e.nodes[v] = r.name
			return nil
		}
	}
	return nil // no other node has room: the node may come back
}

// title describes a node of the hardware for an error.
func title(n scheduler.Node) string {
	text := "a node"
	if n.Name != "" {
		text = fmt.Sprintf("the node %q", n.Name)
	}
	text += " with " + schema.Plural(n.Threads, "core")
	if n.Memory > 0 {
		text += fmt.Sprintf(", %d MiB", n.Memory>>20)
	}
	if n.GPUs > 0 {
		text += ", " + schema.Plural(n.GPUs, "GPU")
	}
	return text
}

// mostRooms is how many nodes of the cluster an error describes at most.
const mostRooms = 5

// lacks describes the nodes of the cluster, for an error about a node that does not fit. taken has the names of nodes
// that other nodes of the hardware use.
func lacks(rooms []room, taken []string) string {
	var texts []string
	for i, r := range rooms {
		if i == mostRooms {
			texts = append(texts, fmt.Sprintf("and %d more", len(rooms)-i))
			break
		}
		text := fmt.Sprintf("%s has %s, %d MiB, %s free", r.name, schema.Plural(r.threads, "core"), r.memory>>20,
			schema.Plural(r.gpus, "GPU"))
		switch {
		case r.closed != "":
			text = fmt.Sprintf("%s cannot be used: %s", r.name, r.closed)
		case slices.Contains(taken, r.name):
			text = r.name + " is another node of the hardware"
		}
		texts = append(texts, text)
	}
	return cmp.Or(strings.Join(texts, "; "), "no node has the labels of node_selector")
}

// plans keeps a plan of each settings for a short time, since a file is decoded more than once.
var plans sync.Map

// plan has the nodes of a cluster.
type plan struct {
	nodes []scheduler.Node
	err   error
	at    time.Time
}

// planLife is how long plans keeps the nodes of a cluster.
const planLife = 10 * time.Second

// planned returns the nodes of the cluster, for a hardware block without threads and node blocks.
func planned(s *Settings) ([]scheduler.Node, error) {
	key := fmt.Sprintf("%#v", *s)
	if p, ok := plans.Load(key); ok && time.Since(p.(plan).at) < planLife {
		return p.(plan).nodes, p.(plan).err
	}
	nodes, err := readNodes(s)
	plans.Store(key, plan{nodes, err, time.Now()})
	return nodes, err
}

// readNodes reads the nodes of a cluster that have at least one free core.
func readNodes(s *Settings) ([]scheduler.Node, error) {
	k, err := connect(s)
	if err != nil {
		return nil, err
	}
	defer k.Close()
	ctx, cancel := context.WithTimeout(context.Background(), api.CallLimit)
	defer cancel()
	rooms, err := k.rooms(ctx, "")
	if err != nil {
		return nil, err
	}
	var nodes []scheduler.Node
	for _, r := range rooms {
		if r.closed == "" && r.threads > 0 {
			nodes = append(nodes, scheduler.Node{Name: r.name, Threads: r.threads, GPUs: r.gpus, GPU: r.gpu,
				Memory: r.memory &^ (1<<30 - 1)})
		}
	}
	if len(nodes) == 1 {
		nodes[0].Name = ""
	}
	return nodes, nil
}

// findImages checks the clusters of the hardware (see check), and returns the digests of images. A digest is known if
// a node has the image; otherwise it is empty.
func findImages(ctx context.Context, needs []engine.ImageNeed, _ bool) (found []string, missing error) {
	known := map[string][]room{} // by name of the hardware
	for _, need := range needs {
		rooms, ok := known[need.Hardware.Name]
		if !ok {
			var err error
			rooms, err = check(ctx, need.Hardware)
			known[need.Hardware.Name] = rooms
			missing = cmp.Or(missing, Unavailable(err))
		}
		found = append(found, digest(need.Image, rooms))
	}
	return found, missing
}

// check reports an error if the cluster has no room for the nodes of a hardware, refuses its Jobs, or if a queue of its
// policies takes no jobs.
func check(ctx context.Context, hw *engine.Hardware) ([]room, error) {
	k, err := connect(settingsOf(hw))
	if err != nil {
		return nil, err
	}
	defer k.Close()
	rooms, err := k.rooms(ctx, "")
	if err == nil {
		_, err = assign(hw, rooms)
	}
	if err == nil {
		err = k.rehearse(ctx)
	}
	for _, queue := range k.set.queues {
		if err == nil {
			_, err = k.findQueue(ctx, queue)
		}
	}
	return rooms, err
}

// rehearse asks the cluster to check a Job of the settings without creating it. The error names a missing namespace, a
// missing permission, a wrong label or a quota that is used up.
func (k *cluster) rehearse(ctx context.Context) error {
	what := k.Call("create", "jobs", "")
	what.Query = url.Values{"dryRun": {"All"}}
	what.Body = tree{"apiVersion": api.BatchGroup, "kind": "Job", "metadata": api.Meta{Name: objectPrefix + "plan"},
		"spec": tree{"suspend": true, "template": tree{"spec": k.set.Pod("any", tree{}, nil)}}}
	err := k.Do(ctx, what, nil)
	if api.Refused(err, http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity) {
		return err
	}
	return nil // some admission controllers refuse every rehearsal
}

// digest returns the digest of an image, from its name or from a node that has the image; empty if it is not known.
func digest(image string, rooms []room) string {
	if _, d, ok := strings.Cut(image, "@"); ok {
		return d
	}
	full := image // nodes use full names: "docker.io/library/busybox:latest"
	if name, err := reference.ParseDockerRef(image); err == nil {
		full = name.String()
	}
	for _, r := range rooms {
		for _, names := range r.images {
			with := slices.IndexFunc(names, func(name string) bool { return strings.Contains(name, "@") })
			if with >= 0 && (slices.Contains(names, full) || slices.Contains(names, image)) {
				_, d, _ := strings.Cut(names[with], "@")
				return d
			}
		}
	}
	return ""
}
