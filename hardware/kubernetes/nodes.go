package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/distribution/reference"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/scheduler"
)

// room is a node of the cluster with its free cores, memory and GPUs.
type room struct {
	name    string
	threads int
	memory  int64 // bytes
	gpus    int
	gpu     string // their type
	images  [][]string
	closed  string // why nothing can start there; empty if something can
}

// gpuProduct is the label with the type of a node's GPUs.
const gpuProduct = "nvidia.com/gpu.product"

// rooms returns the nodes that a hardware may use, in the order of their names, less the requests of other pods.
// Pods with the label of the run are not counted: they are tfexp's own. Where the user may not list the pods of all
// namespaces, only the pods of the namespace count.
func (k *cluster) rooms(ctx context.Context, run string) ([]room, error) {
	query := url.Values{}
	if sel := selector(k.set.NodeSelector); sel != "" {
		query.Set("labelSelector", sel)
	}
	nodes, _, err := all[node](ctx, k.client, call{verb: "list", resource: "nodes", query: query})
	if err != nil {
		return nil, err
	}
	living := call{verb: "list", resource: "pods", query: url.Values{
		"fieldSelector": {"status.phase!=Succeeded,status.phase!=Failed"}}}
	pods, _, err := all[pod](ctx, k.client, living)
	if refused(err, 403) {
		living.namespace = k.namespace
		pods, _, err = all[pod](ctx, k.client, living)
	}
	if err != nil {
		return nil, err
	}
	var list []room
	for _, n := range nodes {
		r := room{name: n.Metadata.Name, gpu: n.Metadata.Labels[gpuProduct], closed: k.closed(&n)}
		var free [3]float64
		for i, name := range []string{"cpu", "memory", k.set.GPUResource} {
			if free[i], err = quantity(n.Status.Allocatable[name]); err != nil {
				return nil, fmt.Errorf("%s of the node %s: %w", name, r.name, err)
			}
			for p := range pods {
				if pods[p].Spec.NodeName != r.name || run != "" && pods[p].Metadata.Labels[labelRun] == run {
					continue
				}
				used, err := pods[p].requests(name)
				if err != nil {
					return nil, fmt.Errorf("%s of the pod %s: %w", name, pods[p].Metadata.Name, err)
				}
				free[i] -= used
			}
		}
		r.threads, r.memory = int(max(math.Floor(free[0]+1e-9), 0)), int64(max(free[1], 0))
		r.gpus = int(max(math.Floor(free[2]+1e-9), 0))
		for _, image := range n.Status.Images {
			r.images = append(r.images, image.Names)
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b room) int { return strings.Compare(a.name, b.name) })
	return list, nil
}

// closed is why nothing can start on a node; empty if something can.
func (k *cluster) closed(n *node) string {
	if n.Spec.Unschedulable {
		return "it is cordoned"
	}
	if is(n.Status.Conditions, "Ready") == nil {
		return "it is not ready"
	}
	for _, t := range n.Spec.Taints {
		if t.Effect != "PreferNoSchedule" && !slices.ContainsFunc(k.set.tolerations(), func(o toleration) bool {
			return o.Key == t.Key && (o.Operator == "Exists" || o.Value == t.Value) && (o.Effect == "" || o.Effect == t.Effect)
		}) {
			return fmt.Sprintf("it has the taint %s=%s:%s (tolerations)", t.Key, t.Value, t.Effect)
		}
	}
	return ""
}

// requests is the amount of a resource that a pod requests: for all of its containers, or for one that prepares it.
func (p *pod) requests(name string) (float64, error) {
	sum, err := quantity(p.Spec.Overhead[name])
	if err != nil {
		return 0, err
	}
	most := 0.0
	add := func(c *container, always bool) error {
		n, err := quantity(cmp.Or(c.Resources.Requests[name], c.Resources.Limits[name]))
		if always {
			sum += n
		} else {
			most = max(most, n)
		}
		return err
	}
	for i := range p.Spec.Containers {
		if err := add(&p.Spec.Containers[i], true); err != nil {
			return 0, err
		}
	}
	for i := range p.Spec.InitContainers {
		if err := add(&p.Spec.InitContainers[i], p.Spec.InitContainers[i].RestartPolicy == "Always"); err != nil {
			return 0, err
		}
	}
	return max(sum, most), nil
}

// selector writes labels as the API selects by them.
func selector(labels map[string]string) string {
	var parts []string
	for name, value := range labels {
		parts = append(parts, name+"="+value)
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// fits reports whether a node of a file finds its place in a room.
func (r *room) fits(n scheduler.Node) bool {
	return r.closed == "" && n.Threads <= r.threads && n.Memory <= r.memory && n.GPUs <= r.gpus
}

// assign finds a different room for each node of a hardware: the one of its name, or the smallest that it fits in. The
// error says which node finds none.
func assign(hw *engine.Hardware, rooms []room) ([]string, error) {
	nodes := hw.Cluster.Nodes
	names := make([]string, len(nodes))
	taken := map[string]bool{}
	take := func(i int, r *room) { names[i], taken[r.name] = r.name, true }
	for i, n := range nodes {
		for r := range rooms {
			if rooms[r].name == n.Name && rooms[r].fits(n) {
				take(i, &rooms[r])
			}
		}
	}
	order := make([]int, len(nodes)) // the largest first
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(nodes[b].GPUs-nodes[a].GPUs, nodes[b].Threads-nodes[a].Threads)
	})
	for _, i := range order {
		if names[i] != "" {
			continue
		}
		var best *room
		for r := range rooms {
			if c := &rooms[r]; !taken[c.name] && c.fits(nodes[i]) &&
				(best == nil || cmp.Or(c.gpus-best.gpus, c.threads-best.threads) < 0) {
				best = c
			}
		}
		if best == nil {
			return nil, fmt.Errorf("no node of the cluster has room for %s of the hardware %q: %s", title(nodes[i]), hw.Name,
				lacks(rooms, taken))
		}
		take(i, best)
	}
	return names, nil
}

// title describes a node of a file.
func title(n scheduler.Node) string {
	text := fmt.Sprintf("a node with %d cores", n.Threads)
	if n.Name != "" {
		text = fmt.Sprintf("the node %q with %d cores", n.Name, n.Threads)
	}
	if n.Memory > 0 {
		text += fmt.Sprintf(", %d MiB", n.Memory>>20)
	}
	if n.GPUs > 0 {
		text += fmt.Sprintf(", %d GPUs", n.GPUs)
	}
	return text
}

// mostRooms bounds how many nodes an error describes.
const mostRooms = 5

// lacks describes the rooms in which a node did not fit.
func lacks(rooms []room, taken map[string]bool) string {
	var texts []string
	for i, r := range rooms {
		if i == mostRooms {
			texts = append(texts, fmt.Sprintf("and %d more", len(rooms)-i))
			break
		}
		text := fmt.Sprintf("%s has %d cores, %d MiB, %d GPUs free", r.name, r.threads, r.memory>>20, r.gpus)
		switch {
		case r.closed != "":
			text = fmt.Sprintf("%s cannot be used: %s", r.name, r.closed)
		case taken[r.name]:
			text = r.name + " is another node of the hardware"
		}
		texts = append(texts, text)
	}
	return cmp.Or(strings.Join(texts, "; "), "no node has the labels of node_selector")
}

// plans has the nodes of clusters that were read for files: a file is decoded more than once.
var plans struct {
	sync.Mutex
	known map[string]plan
}

type plan struct {
	nodes []scheduler.Node
	err   error
	at    time.Time
}

// planLife is how long the nodes that were read for a file are taken to be the same.
const planLife = 10 * time.Second

// planned returns the nodes of the cluster for a block that does not describe them.
func planned(b engine.Block) ([]scheduler.Node, error) {
	s := &settings{}
	b.Values.Fill(s)
	if s.Kubeconfig != "" {
		s.Kubeconfig = beside(b.Base, s.Kubeconfig)
	}
	key := fmt.Sprintf("%q %q %q %v %q %q", s.Kubeconfig, s.Context, s.Namespace, s.NodeSelector, s.Tolerations,
		s.GPUResource)
	plans.Lock()
	defer plans.Unlock()
	if p, ok := plans.known[key]; ok && time.Since(p.at) < planLife {
		return p.nodes, p.err
	}
	nodes, err := readNodes(s)
	if plans.known == nil {
		plans.known = map[string]plan{}
	}
	plans.known[key] = plan{nodes, err, time.Now()}
	return nodes, err
}

// readNodes reads the nodes of a cluster that have a free core.
func readNodes(s *settings) ([]scheduler.Node, error) {
	k, err := connect(s)
	if err != nil {
		return nil, err
	}
	defer k.close()
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
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

// findImages looks whether the nodes of the hardware have room in its cluster, and for the digests of images: nodes say
// which ones they have. An image that no node has is not known before it runs.
func findImages(ctx context.Context, needs []engine.ImageNeed, _ bool) (found []string, missing error) {
	type seen struct {
		rooms []room
		err   error
	}
	known := map[string]seen{}
	found = make([]string, len(needs))
	for i, need := range needs {
		s, ok := known[need.Hardware.Name]
		if !ok {
			s.rooms, s.err = check(ctx, need.Hardware)
			known[need.Hardware.Name] = s
		}
		if s.err != nil && missing == nil {
			missing = unavailable(s.err)
		}
		found[i] = digest(need.Image, s.rooms)
	}
	return found, missing
}

// check looks whether the nodes of a hardware have room, and whether the queues of its policies take jobs.
func check(ctx context.Context, hw *engine.Hardware) ([]room, error) {
	k, err := connect(settingsOf(hw))
	if err != nil {
		return nil, err
	}
	defer k.close()
	rooms, err := k.rooms(ctx, "")
	if err == nil {
		_, err = assign(hw, rooms)
	}
	for _, queue := range k.set.queues {
		if err == nil {
			_, err = k.findQueue(ctx, queue)
		}
	}
	return rooms, err
}

// digest is the digest of an image, in its name or as a node has it; empty when it is not known.
func digest(image string, rooms []room) string {
	if _, d, ok := strings.Cut(image, "@"); ok {
		return d
	}
	full := image // "docker.io/library/busybox:latest", as nodes call it
	if name, err := reference.ParseNormalizedNamed(image); err == nil {
		full = reference.TagNameOnly(name).String()
	}
	for _, r := range rooms {
		for _, names := range r.images {
			if !slices.Contains(names, full) && !slices.Contains(names, image) {
				continue
			}
			for _, name := range names {
				if _, d, ok := strings.Cut(name, "@"); ok {
					return d
				}
			}
		}
	}
	return ""
}
