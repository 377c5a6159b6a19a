package kubernetes

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

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

// containerName is the name of the only container of each pod.
const containerName = "job"

// pulls has the pull policy of the API for each value of image_pull.
var PullPolicies = map[string]string{"missing": "IfNotPresent", "always": "Always", "never": "Never"}

// template returns the specification of the pod of a program, without its node. start is the value of labelStart of the
// pod. hidden has the sensitive values of the program.
func (e *Engine) template(j *launch.Job, part scheduler.Part, start string) (spec tree, hidden []string, err error) {
	cores, gpus := part.Cores.Count(), part.GPUs.Count()
	size := map[string]string{"cpu": strconv.Itoa(cores)}
	if j.Memory > 0 {
		size["memory"] = strconv.FormatInt(j.Memory, 10)
	}
	if gpus > 0 {
		size[e.set.GPUResource] = strconv.Itoa(gpus)
	}
	requests := maps.Clone(size)
	if slices.ContainsFunc(j.Roles, func(r scheduler.Role) bool { return r.Name == part.Role && r.Threads == 0 }) {
		requests["cpu"] = "0" // the part shares the cores that other parts request
	}
	var paths launch.Paths
	var volumes, mounts []tree
	mounted := func(volume tree, name, at, within string, readOnly bool) {
		volume["name"] = name
		volumes = append(volumes, volume)
		mounts = append(mounts, tree{"name": name, "mountPath": at, "subPath": within, "readOnly": readOnly})
	}
	if j.ControlPath != "" {
		paths.Control = controlDir + "/" + controlFile
		field := tree{"fieldPath": "metadata.annotations['" + annotationControl + "']"}
		mounted(tree{"downwardAPI": tree{"items": []tree{{"path": controlFile, "fieldRef": field}}}}, "control", controlDir,
			"", true)
	}
	if e.set.Checkpoints != "" && j.CheckpointDir != "" {
		v, _, err := ParseVolume(e.set.Checkpoints)
		if err != nil {
			return nil, nil, err
		}
		paths.Checkpoint = checkpointDir
		mounted(v, "checkpoints", checkpointDir, fmt.Sprintf("tfexp/%s/%s-%s", e.run, e.id, label(j.Name)), false)
	}
	for i, at := range slices.Sorted(maps.Keys(e.set.Volumes)) {
		v, readOnly, err := ParseVolume(e.set.Volumes[at])
		if err != nil {
			return nil, nil, err
		}
		mounted(v, fmt.Sprintf("volume-%d", i), at, "", readOnly)
	}
	ids := make([]string, gpus) // a container sees its own GPUs, counted from 0
	for i := range ids {
		ids[i] = strconv.Itoa(i)
	}
	var env []tree
	variable := func(name, value string) {
		if !secret.Hides(value) {
			env = append(env, tree{"name": name, "value": Literally(value)})
			return
		}
		hidden = append(hidden, value)
		key := tree{"name": objectPrefix + start, "key": secretKey(value)}
		env = append(env, tree{"name": name, "valueFrom": tree{"secretKeyRef": key}})
	}
	for _, entry := range j.Environ(cores, ids, paths) {
		name, value, _ := strings.Cut(entry, "=")
		variable(name, value)
	}
	var command []string
	for i, arg := range j.Arguments(scheduler.Grant{Cores: part.Cores, GPUs: part.GPUs}) {
		text := Literally(arg)
		if secret.Hides(arg) {
			name := fmt.Sprintf("TFEXP_SENSITIVE_ARGUMENT_%d", i)
			variable(name, arg)
			text = "$(" + name + ")"
		}
		command = append(command, text)
	}
	c := tree{"command": command, "env": env, "resources": api.Resources{Requests: requests, Limits: size}, "volumeMounts": mounts}
	if j.Container != nil && j.Container.Dir != "" {
		c["workingDir"] = j.Container.Dir
	}
	return e.set.Pod(imageOf(j), c, volumes), hidden, nil
}

// Pod returns the specification of a pod with one container, whose own part is given.
func (s *Settings) Pod(image string, container tree, volumes []tree) tree {
	container["name"], container["image"], container["imagePullPolicy"] = containerName, image, PullPolicies[s.Pull]
	container["securityContext"] = tree{"allowPrivilegeEscalation": false, "capabilities": tree{"drop": []string{"ALL"}}}
	spec := tree{
		"restartPolicy": "Never", "automountServiceAccountToken": false, "enableServiceLinks": false,
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

// literally escapes a text, since the cluster replaces $(NAME) by variables.
func Literally(text string) string { return strings.ReplaceAll(text, "$(", "$$(") }

// seconds returns a duration in whole seconds, as the API counts; at least 1.
func seconds(d time.Duration) int64 { return max(int64(d/time.Second), 1) }

// labels returns the labels of the objects of a job.
func (e *Engine) labels(j *launch.Job) map[string]string {
	l := e.own()
	l[labelCell], l[labelJob] = e.cell, label(j.Name)
	return l
}

// release starts a pod of a program on its node. It reuses the suspended Job of the job if its pod template is equal.
// Otherwise it creates a suspended Job. Then it resumes the Job.
func (e *Engine) release(p *program) error {
	if ok, err := e.adopt(p); ok {
		return err
	}
	last := p.now()
	part, control := last.part, last.control
	e.mu.Lock()
	start := e.newStart()
	old, node := e.objects[p.key], e.nodes[part.Node]
	delete(e.started, last.start)
	e.started[start] = p
	e.mu.Unlock()
	p.set(func(s *state) { s.start, s.pod, s.gone = start, nil, false })
	spec, hidden, err := e.template(&p.Job, part, start)
	if err != nil {
		return err
	}
	shape, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	pods, place := e.podMeta(&p.Job, start, control), onNodes(node)
	if p.service != "" {
		spec["hostname"], spec["subdomain"], pods.Labels[labelService] = p.host, p.service, p.service
	}
	if old != nil && old.shape == string(shape) {
		now, err := e.patchJob(old.name, tree{"suspend": false,
			"template": tree{"metadata": pods, "spec": tree{"affinity": place}}})
		fixed := api.Refused(err, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity)
		if !fixed && (err != nil || now.Status.Conditions.True("Failed") == nil) {
			return err
		}
	}
	spec["affinity"] = place
	o, err := e.create(p.key, &p.Job, pods, spec, hidden, "") // the pod template of a Job cannot be changed
	if err != nil {
		return err
	}
	e.mu.Lock()
	o.shape = string(shape)
	e.mu.Unlock()
	if p.service != "" && p.Lead {
		if err := e.serve(p, o); err != nil {
			return err
		}
	}
	_, err = e.patchJob(o.name, tree{"suspend": false})
	return err
}

// newStart returns the value of labelStart for the next pod of a program. mu must be held.
func (e *Engine) newStart() string {
	e.starts++
	return fmt.Sprintf("%s-%d", e.id, e.starts)
}

// podMeta returns the metadata of a pod: its labels, and the content of its control file.
func (e *Engine) podMeta(j *launch.Job, start, control string) api.Meta {
	m := api.Meta{Labels: e.labels(j), Annotations: map[string]string{annotationControl: control}}
	m.Labels[labelStart] = start
	return m
}

// onNodes returns an affinity that allows only these nodes.
func onNodes(names ...string) tree {
	return tree{"nodeAffinity": tree{"requiredDuringSchedulingIgnoredDuringExecution": tree{"nodeSelectorTerms": []tree{{
		"matchFields": []tree{{"key": "metadata.name", "operator": "In", "values": names}}}}}}}
}

// create creates a suspended Job in place of an earlier Job of the same job. queue is a LocalQueue of Kueue; empty for
// none.
func (e *Engine) create(key programKey, j *launch.Job, pods api.Meta, spec tree, hidden []string, queue string) (*madeJob,
	error) {
	e.discard(key)
	name := objectPrefix + pods.Labels[labelStart]
	if err := e.keep(name, j, hidden); err != nil {
		return nil, err
	}
	m := api.Meta{Name: name + "-" + ObjectName(j.Name), Labels: e.labels(j),
		Annotations: map[string]string{AnnotationFolder: e.folder}}
	if queue != "" {
		m.Labels[api.QueueLabel] = queue
	}
	var made api.Job
	err := e.Create(e.ctx, "jobs", tree{"apiVersion": api.BatchGroup, "kind": "Job", "metadata": m,
		"spec": tree{"suspend": true, "backoffLimit": 0, "activeDeadlineSeconds": seconds(e.set.Deadline),
			"template": tree{"metadata": pods, "spec": spec}}}, &made)
	if err == nil && made.Metadata.UID == "" { // a repeated call has no answer
		err = e.Get(e.ctx, "jobs", m.Name, &made)
	}
	if err != nil {
		return nil, err
	}
	o := &madeJob{name: m.Name, uid: made.Metadata.UID}
	e.mu.Lock()
	e.objects[key] = o
	e.mu.Unlock()
	if hidden != nil {
		err = e.Patch(e.ctx, "secrets", name, tree{"metadata": api.Meta{Owners: ownedBy(o)}}, nil)
	}
	return o, err
}

// objectPrefix begins the names of all objects of the engine.
const objectPrefix = "tfexp-"

// ownedBy returns the owner of objects that are to be deleted with a Job.
func ownedBy(o *madeJob) []api.Owner {
	return []api.Owner{{APIVersion: api.BatchGroup, Kind: "Job", Name: o.name, UID: o.uid}}
}

// secretKey returns the key of a sensitive value in a Secret.
func secretKey(hidden string) string {
	sum := sha256.Sum256([]byte(hidden))
	return hex.EncodeToString(sum[:16])
}

// keep creates a Secret with the sensitive values of a program; none if it has no such values.
func (e *Engine) keep(name string, j *launch.Job, hidden []string) error {
	if hidden == nil {
		return nil
	}
	values := map[string]string{}
	for _, text := range hidden {
		shown, err := secret.Reveal([]string{text})
		if err != nil {
			return err
		}
		values[secretKey(text)] = shown[0]
	}
	return e.Create(e.ctx, "secrets", tree{"apiVersion": "v1", "kind": "Secret",
		"metadata": api.Meta{Name: name, Labels: e.labels(j)}, "stringData": values}, nil)
}

// patchJob changes fields of the specification of a Job.
func (e *Engine) patchJob(name string, spec tree) (now api.Job, err error) {
	err = e.Patch(e.ctx, "jobs", name, tree{"spec": spec}, &now)
	return now, err
}

// object returns the Job of a program, or nil.
func (e *Engine) object(key programKey) *madeJob {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.objects[key]
}

// suspend suspends the Job of a program: the cluster then ends its pod.
func (e *Engine) suspend(key programKey) error {
	o := e.object(key)
	if o == nil {
		return nil
	}
	_, err := e.patchJob(o.name, tree{"suspend": true})
	return api.Except(err, http.StatusNotFound, http.StatusUnprocessableEntity) // the Job is deleted, or has ended
}

// read reads the Job of a program from the cluster; nil if it is deleted.
func (e *Engine) read(key programKey) (*api.Job, error) {
	o, now := e.object(key), &api.Job{}
	if o == nil {
		return nil, nil
	}
	err := e.Get(e.ctx, "jobs", o.name, now)
	if api.Refused(err, 404) {
		return nil, nil
	}
	return now, err
}

// suspended reports whether the Job of a program is suspended and has no pod.
func (e *Engine) suspended(key programKey) (bool, error) {
	now, err := e.read(key)
	return err == nil && (now == nil || now.Status.Active == 0 && now.Status.Conditions.True("Suspended") != nil), err
}

// expired reports whether the Job of a program has reached its deadline.
func (e *Engine) expired(key programKey) bool {
	now, _ := e.read(key) // without an answer, the Job has no conditions
	return now != nil && slices.ContainsFunc(now.Status.Conditions, func(c api.Condition) bool {
		return c.Status == "True" && c.Reason == "DeadlineExceeded"
	})
}

// detach removes the Job of a program from the engine's list, and returns it; nil if there is none.
func (e *Engine) detach(key programKey) *madeJob {
	e.mu.Lock()
	defer e.mu.Unlock()
	o := e.objects[key]
	delete(e.objects, key)
	return o
}

// drop deletes a Job from the cluster; nil is ignored. If the call fails, Close deletes the Job.
func (e *Engine) drop(o *madeJob) {
	if o == nil {
		return
	}
	ctx, cancel := context.WithTimeout(e.ctx, closePatience)
	defer cancel()
	_ = e.Delete(ctx, "jobs", o.name)
}

// discard deletes the Job of a program.
func (e *Engine) discard(key programKey) { e.drop(e.detach(key)) }

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

// nameOf returns a job's name in the form that names of objects allow.
func ObjectName(text string) string {
	text = strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(label(text)))
	return cmp.Or(strings.Trim(text[:min(len(text), 30)], "-"), "job")
}
