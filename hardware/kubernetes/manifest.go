package kubernetes

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/experiments/secret"
	"github.com/tfexp/tfexp/hardware/kubernetes/api"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
)

// Folders and files in the container of a job.
const (
	ownDir        = "/tfexp"
	controlDir    = ownDir + "/control"
	controlFile   = "control"
	checkpointDir = ownDir + "/checkpoint"
)

// annotationControl is the annotation of a pod that has the content of its control file.
const annotationControl = "tfexp.dev/control"

// PullPolicies has the pull policy of the API for each value of image_pull.
var PullPolicies = map[string]string{"missing": "IfNotPresent", "always": "Always", "never": "Never"}

// podTemplate is the template for the pod of a program.
type podTemplate struct {
	meta api.Meta
	spec tree
	// shape is the specification in JSON, without the node.
	shape string
	// hidden has the sensitive values of the program. Their keys in the Secret of the program are "0", "1", …
	hidden []string

	volumes, mounts, env []tree
}

// template returns the template for the pod of a program, without its node. start is the value of labelStart of the
// pod, and control the content of its control file.
func (e *Engine) template(j *launch.Job, part scheduler.Part, start, control string) (*podTemplate, error) {
	t := &podTemplate{meta: api.Meta{Labels: e.labels(j), Annotations: map[string]string{annotationControl: control}}}
	t.meta.Labels[labelStart] = start
	paths := e.mountAll(t, j)
	ids := make([]string, part.GPUs.Count()) // a container sees its own GPUs, counted from 0
	for i := range ids {
		ids[i] = strconv.Itoa(i)
	}
	for _, entry := range j.Environ(part.Cores.Count(), ids, paths) {
		name, value, _ := strings.Cut(entry, "=")
		t.variable(name, value)
	}
	var command []string
	for i, arg := range j.Arguments(scheduler.Grant{Cores: part.Cores, GPUs: part.GPUs}) {
		text := Escape(arg)
		if secret.Hides(arg) {
			name := fmt.Sprintf("TFEXP_SENSITIVE_ARGUMENT_%d", i)
			t.variable(name, arg)
			text = "$(" + name + ")"
		}
		command = append(command, text)
	}
	c := tree{"command": command, "env": t.env, "resources": e.size(j, part), "volumeMounts": t.mounts}
	if j.Container != nil && j.Container.Dir != "" {
		c["workingDir"] = j.Container.Dir
	}
	t.spec = e.set.Pod(imageOf(j), c, t.volumes)
	shape, err := json.Marshal(t.spec)
	t.shape = string(shape)
	return t, err
}

// size returns the requests and limits of the pod of a program.
func (e *Engine) size(j *launch.Job, part scheduler.Part) api.Resources {
	limits := map[string]string{"cpu": strconv.Itoa(part.Cores.Count())}
	if j.Memory > 0 {
		limits["memory"] = strconv.FormatInt(j.Memory, 10)
	}
	if gpus := part.GPUs.Count(); gpus > 0 {
		limits[e.set.GPUResource] = strconv.Itoa(gpus)
	}
	requests := maps.Clone(limits)
	if slices.ContainsFunc(j.Roles, func(r scheduler.Role) bool { return r.Name == part.Role && r.Threads == 0 }) {
		requests["cpu"] = "0" // the part shares the cores that other parts request
	}
	return api.Resources{Requests: requests, Limits: limits}
}

// mountAll adds the volumes of a program: its control file, its checkpoints, and the volumes of the hardware. It
// returns where the program finds the first two.
func (e *Engine) mountAll(t *podTemplate, j *launch.Job) (paths launch.Paths) {
	if j.ControlPath != "" {
		paths.Control = controlDir + "/" + controlFile
		field := tree{"fieldPath": "metadata.annotations['" + annotationControl + "']"}
		t.mount(tree{"downwardAPI": tree{"items": []tree{{"path": controlFile, "fieldRef": field}}}}, "control", controlDir,
			"", true)
	}
	if e.set.Checkpoints != "" && j.CheckpointDir != "" {
		v, _, _ := ParseVolume(e.set.Checkpoints) // decode has reported errors
		paths.Checkpoint = checkpointDir
		t.mount(v, "checkpoints", checkpointDir, fmt.Sprintf("tfexp/%s/%s-%s", e.run, e.id, distinct(j.Name)), false)
	}
	for i, at := range slices.Sorted(maps.Keys(e.set.Volumes)) {
		v, readOnly, _ := ParseVolume(e.set.Volumes[at])
		t.mount(v, fmt.Sprintf("volume-%d", i), at, "", readOnly)
	}
	return paths
}

// mount adds a volume, or the folder within it, at a path of the container.
func (t *podTemplate) mount(volume tree, name, at, within string, readOnly bool) {
	volume["name"] = name
	t.volumes = append(t.volumes, volume)
	t.mounts = append(t.mounts, tree{"name": name, "mountPath": at, "subPath": within, "readOnly": readOnly})
}

// variable adds an environment variable. The value of a sensitive variable is in the Secret of the program.
func (t *podTemplate) variable(name, value string) {
	if !secret.Hides(value) {
		t.env = append(t.env, tree{"name": name, "value": Escape(value)})
		return
	}
	key := tree{"name": t.objectName(), "key": strconv.Itoa(len(t.hidden))}
	t.hidden = append(t.hidden, value)
	t.env = append(t.env, tree{"name": name, "valueFrom": tree{"secretKeyRef": key}})
}

// objectName returns the name of the Secret of the program, which also begins the name of its Job.
func (t *podTemplate) objectName() string { return objectPrefix + t.meta.Labels[labelStart] }

// objectPrefix begins the names of all objects of the engine.
const objectPrefix = "tfexp-"

// Pod returns the specification of a pod with one container, whose own part is given.
func (s *Settings) Pod(image string, container tree, volumes []tree) tree {
	container["name"], container["image"], container["imagePullPolicy"] = api.ContainerName, image, PullPolicies[s.Pull]
	container["securityContext"] = tree{"allowPrivilegeEscalation": false, "capabilities": tree{"drop": []string{"ALL"}}}
	safe, _ := Security(s.User) // decode has reported the error
	spec := tree{
		"securityContext":  safe,
		"imagePullSecrets": schema.Each(s.PullSecrets, func(name string) tree { return tree{"name": name} }),
		"restartPolicy":    "Never", "automountServiceAccountToken": false, "enableServiceLinks": false,
		"terminationGracePeriodSeconds": seconds(s.Grace), "tolerations": s.tolerations(),
		"containers": []tree{container}, "volumes": volumes,
	}
	if len(s.NodeSelector) > 0 {
		spec["nodeSelector"] = s.NodeSelector
	}
	if s.ServiceAccount != "" {
		spec["serviceAccountName"] = s.ServiceAccount
	}
	return spec
}

// Escape escapes a text for a container, since the cluster replaces $(NAME) by variables.
func Escape(text string) string { return strings.ReplaceAll(text, "$(", "$$(") }

// seconds returns a duration in whole seconds, as the API counts; at least 1.
func seconds(d time.Duration) int64 { return max(int64(d/time.Second), 1) }

// onNodes returns an affinity that allows only these nodes. The API takes one name for each term.
func onNodes(names ...string) tree {
	terms := schema.Each(names, func(name string) tree {
		return tree{"matchFields": []tree{{"key": "metadata.name", "operator": "In", "values": []string{name}}}}
	})
	return tree{"nodeAffinity": tree{"requiredDuringSchedulingIgnoredDuringExecution": tree{"nodeSelectorTerms": terms}}}
}

// labels returns the labels of the objects of a job.
func (e *Engine) labels(j *launch.Job) map[string]string {
	l := e.own()
	l[labelCell], l[labelJob] = e.cell, label(j.Name)
	return l
}

// label changes a text so that it may be the value of a label.
func label(text string) string {
	text = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' {
			return c
		}
		return '-'
	}, text)
	return strings.Trim(text[:min(len(text), 63)], "-._")
}

// distinct is like label, but returns different texts for different texts.
func distinct(text string) string { return withHash(label(text), text) }

// withHash returns a name that was made of a text. If they differ, it adds a hash of the text.
func withHash(name, text string) string {
	if name != text {
		sum := sha256.Sum256([]byte(text))
		name += "-" + hex.EncodeToString(sum[:6])
	}
	return name
}

// ObjectName returns a job's name in the form that names of objects allow.
func ObjectName(text string) string {
	text = strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(label(text)))
	return cmp.Or(strings.Trim(text[:min(len(text), 30)], "-"), "job")
}
