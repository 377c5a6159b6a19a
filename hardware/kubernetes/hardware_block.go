// Package kubernetes runs jobs as Jobs of a Kubernetes cluster. tfexp decides when each runs, on which node, and with
// how many cores; the cluster starts, watches and ends their pods.
//
// A training job has one Job (with roles, one for each part), which is created suspended and released when the
// scheduler starts it. A pause suspends it: its program is asked to write a checkpoint and ends, and a new pod
// continues from there. Pods are watched, and their output is followed, through the API alone; the control file of a
// program is an annotation of its pod.
//
// Jobs live in the cluster, so that killing tfexp does not end them. They carry labels with the run that they belong
// to. By these labels the next start finds and removes them. A deadline ends what nobody removes.
package kubernetes

import (
	"cmp"
	"embed"
	"encoding/gob"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/distribution/reference"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/kubernetes/api"
	"github.com/tfexp/tfexp/scheduler"
)

// Name is the name of this engine in experiments.
const Name = "kubernetes"

func init() {
	engine.Register(&Kind)
	gob.Register(&Settings{}) // so that cells can be written to a file for another process
}

// kind registers the engine for experiments.
var Kind = engine.Kind{
	Name: Name, Rank: 50,
	Doc: "runs jobs for real, as Jobs of a Kubernetes cluster (see [kubernetes.md](kubernetes.md))",
	Example: `hardware "team" {
  engine      = "kubernetes"
  context     = "prod"
  namespace   = "research"
  image       = "registry.example/train:1"
  checkpoints = "claim:checkpoints"
  threads     = 8
}`,
	Traits:  engine.Traits{Real: true, Contained: true, Clusters: true},
	Args:    schema.Described[Settings](source),
	Decode:  decode,
	Machine: func(engine.Block, engine.Host) scheduler.Node { return scheduler.Node{} },
	Nodes: func(b engine.Block, machine scheduler.Node) []scheduler.Node {
		if b.Set["threads"] {
			return []scheduler.Node{machine}
		}
		if free, err := planned(settingsIn(b)); err == nil && len(free) > 0 {
			return free
		}
		machine.Threads = 1 // decode reports why the nodes are not known
		return []scheduler.Node{machine}
	},
	Capabilities: func(h *engine.Hardware) scheduler.Capabilities {
		s := settingsOf(h)
		return scheduler.Capabilities{Pause: s.Checkpoints != "", Migrate: s.Checkpoints != "", Resize: true, Memory: true,
			GPUs: h.HasGPUs()}
	},
	CheckJob: checkJob,
	Lines:    keyLines,
	Images:   findImages,
	Open:     openSession,
	Doctor:   doctor,
}

//go:embed hardware_block.go
var source embed.FS

// settings are the arguments of a hardware block. The fields are exported, since experiments are printed with their
// settings.
type Settings struct {
	// The kubeconfig that names the cluster.
	//
	// Default: as for kubectl: the files in `KUBECONFIG`, or `~/.kube/config`; in a pod, its own cluster.
	//
	//	kubeconfig = "cluster.yaml"
	Kubeconfig string `arg:"kubeconfig"`
	// The name of the context in the kubeconfig.
	//
	// Default: its current context.
	//
	//	context = "prod"
	Context string `arg:"context"`
	// The namespace in which tfexp creates Jobs.
	//
	// Default: the context's, or `default`.
	//
	//	namespace = "research"
	Namespace string `arg:"namespace"`
	// The image of jobs without an `image` of their own.
	//
	//	image = "registry.example/train:1"
	Image string `arg:"image"`
	// When nodes fetch images from their registry.
	//
	//	image_pull = "always"
	Pull string `arg:"image_pull" default:"missing" allowed:"missing always never"`
	// Labels that nodes must have.
	//
	//	node_selector = { pool = "gpu" }
	NodeSelector map[string]string `arg:"node_selector"`
	// Taints of nodes that jobs tolerate: `key` or `key=value`, perhaps followed by `:effect`.
	//
	//	tolerations = ["dedicated=training:NoSchedule"]
	Tolerations []string `arg:"tolerations"`
	// The service account of pods.
	//
	// Default: the namespace's.
	//
	//	service_account = "trainer"
	ServiceAccount string `arg:"service_account"`
	// The Secrets of the namespace with which nodes fetch images from private registries.
	//
	// Default: the service account's.
	//
	//	pull_secrets = ["registry"]
	PullSecrets []string `arg:"pull_secrets"`
	// The user that programs run as, by number; perhaps with a group, which then owns the volumes. Namespaces under the
	// Pod Security Standard "restricted" require it.
	//
	// Default: the image's.
	//
	//	user = "1000:1000"
	User string `arg:"user"`
	// The volumes of programs, by the folder at which they are mounted: `claim:NAME` or `host:FOLDER`; `:ro` at the end
	// makes a volume read-only.
	//
	//	volumes = { "/data" = "claim:datasets:ro" }
	Volumes map[string]string `arg:"volumes"`
	// The volume for checkpoints. Programs of paused jobs end and start again from their checkpoint, so policies that
	// pause need it. All nodes must see the same content.
	//
	//	checkpoints = "claim:checkpoints"
	Checkpoints string `arg:"checkpoints"`
	// The time that a pod has to write its checkpoint before it ends.
	//
	//	grace = "30s"
	Grace time.Duration `arg:"grace,positive" default:"10s"`
	// The longest run time of a Job, which also ends the Jobs of a killed tfexp.
	//
	//	deadline = "72h"
	Deadline time.Duration `arg:"deadline,positive" default:"24h"`
	// How long tfexp waits for an API server that does not answer, and for a pod that cannot start.
	//
	//	patience = "15m"
	Patience time.Duration `arg:"patience,positive" default:"5m"`
	// The resource by which the cluster counts GPUs.
	//
	//	gpu_resource = "amd.com/gpu"
	GPUResource string `arg:"gpu_resource" default:"nvidia.com/gpu"`

	queues []string // LocalQueues of Kueue that policies use
}

// JobImage and NeedsQueue implement pods.Settings.
func (s *Settings) JobImage() string       { return s.Image }
func (s *Settings) NeedsQueue(name string) { s.queues = schema.AddOnce(s.queues, name) }

// Connect returns the namespace in which Jobs are created. It makes no call.
func (s *Settings) Connect() (api.Namespace, error) {
	n, err := api.Connect(s.Kubeconfig, s.Context, s.Namespace)
	if errors.Is(err, api.ErrNoCluster) {
		err = &engine.Unavailable{Engine: Name, Err: err, Hint: api.NoClusterHint}
	}
	return n, err
}

// settingsOf returns the settings of a hardware of this engine.
func settingsOf(h *engine.Hardware) *Settings { return h.Settings.(*Settings) }

// settingsIn returns the settings in a block, with an absolute path of the kubeconfig.
func settingsIn(b engine.Block) *Settings {
	s := &Settings{}
	b.Values.Fill(s)
	if s.Kubeconfig != "" && !filepath.IsAbs(s.Kubeconfig) {
		s.Kubeconfig = filepath.Join(b.Base, s.Kubeconfig)
	}
	return s
}

// decode checks the arguments of a block. It asks the cluster for its nodes where the file does not say how large they
// are.
func decode(b engine.Block) (any, []engine.Problem) {
	s := settingsIn(b)
	var problems []engine.Problem
	add := func(arg, summary, detail string, args ...any) {
		problems = append(problems, engine.Problem{Arg: arg, Summary: summary, Detail: fmt.Sprintf(detail, args...)})
	}
	if _, err := reference.ParseNormalizedNamed(s.Image); err != nil && s.Image != "" {
		add("image", "Not an image", "%q is not the name of an image (%v).", s.Image, err)
	}
	for _, text := range s.Tolerations {
		if _, err := parseToleration(text); err != nil {
			add("tolerations", "Not a toleration", "%v.", err)
		}
	}
	if _, err := Security(s.User); err != nil {
		add("user", "Not a user", "%v.", err)
	}
	for _, at := range slices.Sorted(maps.Keys(s.Volumes)) {
		if _, _, err := ParseVolume(s.Volumes[at]); err != nil {
			add("volumes", "Not a volume", "%s: %v.", at, err)
		}
		if !path.IsAbs(at) || path.Clean(at) != at || at == "/" || at == ownDir || strings.HasPrefix(at, ownDir+"/") {
			add("volumes", "Not a folder for a volume",
				"A volume is mounted at an absolute path without . and .. that is neither / nor below %s; this is %q.", ownDir,
				at)
		}
	}
	if s.Checkpoints != "" {
		if v, readOnly, err := ParseVolume(s.Checkpoints); err != nil || readOnly {
			add("checkpoints", "Not a volume for checkpoints", "%v.",
				cmp.Or(err, fmt.Errorf("programs must be able to write to %q", s.Checkpoints)))
		} else if v["hostPath"] != nil && len(b.Nodes) > 1 {
			add("checkpoints", "Checkpoints on one node",
				"A paused job may continue on another node, which does not see this folder: use a claim (\"claim:NAME\").")
		}
	}
	if len(problems) == 0 && len(b.Nodes) == 0 && !b.Set["threads"] {
		free, err := planned(s)
		if err == nil && len(free) == 0 {
			err = errors.New("no node that is ready, and that node_selector and tolerations allow, has a free core")
		}
		if err != nil {
			add("", "Nodes that are not known", "The nodes cannot be read from the cluster: %v. Write threads, or node "+
				"blocks, to read the file without it.", err)
			problems[0].Unavailable = true
		}
	}
	return s, problems
}

// parseToleration reads a toleration: "key", "key=value", "key:effect", "key=value:effect".
func parseToleration(text string) (api.Toleration, error) {
	rest, effect, _ := strings.Cut(text, ":")
	key, value, equal := strings.Cut(rest, "=")
	if key == "" || !slices.Contains([]string{"", "NoSchedule", "PreferNoSchedule", "NoExecute"}, effect) {
		return api.Toleration{}, fmt.Errorf("%q is not like \"key=value:NoSchedule\" (or PreferNoSchedule, or NoExecute)",
			text)
	}
	t := api.Toleration{Key: key, Operator: "Exists", Effect: effect}
	if equal {
		t.Operator, t.Value = "Equal", value
	}
	return t, nil
}

// tolerations are the tolerations of pods.
func (s *Settings) tolerations() []api.Toleration {
	return schema.Each(s.Tolerations, func(text string) api.Toleration {
		t, _ := parseToleration(text) // decode has reported the errors
		return t
	})
}

// Security returns the security context of pods whose programs run as a user ("1000" or "1000:1000"). It fulfills the
// Pod Security Standard "restricted". If the text is empty, it is empty.
func Security(user string) (tree, error) {
	if user == "" {
		return tree{}, nil
	}
	c := tree{"runAsNonRoot": true, "seccompProfile": tree{"type": "RuntimeDefault"}}
	id, group, both := strings.Cut(user, ":")
	names := map[string]string{"runAsUser": id}
	if both {
		names["runAsGroup"], names["fsGroup"] = group, group
	}
	for name, text := range names {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n < 0 || n == 0 && name == "runAsUser" {
			return nil, fmt.Errorf("%q is not like \"1000\" or \"1000:1000\" (a user that is not root, and a group)", user)
		}
		c[name] = n
	}
	return c, nil
}

// ParseVolume reads a volume: "claim:NAME" or "host:/path", with ":ro" at the end for a read-only volume.
func ParseVolume(text string) (v tree, readOnly bool, err error) {
	rest, readOnly := strings.CutSuffix(text, ":ro")
	kind, name, _ := strings.Cut(rest, ":")
	switch {
	case kind == "claim" && name != "" && !strings.ContainsAny(name, ":/"):
		v = tree{"persistentVolumeClaim": tree{"claimName": name}}
	case kind == "host" && path.IsAbs(name):
		v = tree{"hostPath": tree{"path": name, "type": "DirectoryOrCreate"}}
	default:
		return nil, false, fmt.Errorf("%q is not like \"claim:NAME\" or \"host:/folder\"", text)
	}
	return v, readOnly, nil
}

// checkJob reports properties of a job that do not work in pods.
func checkJob(h *engine.Hardware, j *engine.Job, _ engine.Host) []engine.Problem {
	var problems []engine.Problem
	add := func(arg, summary, detail string, args ...any) {
		problems = append(problems, engine.Problem{Arg: arg, Summary: summary, Detail: fmt.Sprintf(detail, args...)})
	}
	if j.Nodes > 1 && !j.Roles {
		add("nodes", "A pod runs on one node", "The job %q asks for %d nodes, but on the hardware %q a program is a pod "+
			"on one node. Give it roles (a role block for each kind of program): each of their tasks is a pod.", j.Name,
			j.Nodes, h.Name)
	}
	if j.Container != nil && len(j.Container.Mounts) > 0 {
		add("mounts", "Folders of this machine", "The job %q mounts folders of this machine, which the nodes of the "+
			"hardware %q do not see. Put the files into the image, or on a volume: volumes in the hardware block.", j.Name,
			h.Name)
	}
	return problems
}

// keyLines returns the lines of a cell's key that describe on which nodes jobs run and which volumes they see.
func keyLines(h *engine.Hardware) []engine.KeyLine {
	s := settingsOf(h)
	value := fmt.Sprintf("context %q, tolerations %q", s.Context, s.Tolerations)
	for _, name := range slices.Sorted(maps.Keys(s.NodeSelector)) {
		value += fmt.Sprintf(", label %s %q", name, s.NodeSelector[name])
	}
	for _, at := range slices.Sorted(maps.Keys(s.Volumes)) {
		value += fmt.Sprintf(", volume %s %q", at, s.Volumes[at])
	}
	if s.Checkpoints != "" {
		value += fmt.Sprintf(", checkpoints %q, grace %s", s.Checkpoints, s.Grace)
	}
	return []engine.KeyLine{{Label: "hardware.kubernetes", Value: value}}
}
