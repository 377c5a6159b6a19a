package tasks

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/kubernetes"
	"github.com/tfexp/tfexp/hardware/kubernetes/api"
)

// taskPods describes the pods of an array, by the arguments --with NAME=VALUE.
type taskPods struct {
	kubernetes.Settings
	engine.Array
	volume                 tree
	folder, program, queue string
	size                   map[string]string
	group                  int // of programs; 0 for the one that User has
}

// readTaskPods decodes and checks the arguments of an array.
func readTaskPods(a engine.Array) (*taskPods, error) {
	p := &taskPods{Array: a, program: a.Command[0], size: map[string]string{"cpu": strconv.Itoa(max(a.Threads, 1))}}
	p.NodeSelector = map[string]string{}
	p.Pull, p.Grace, p.Deadline, p.Patience = "missing", 10*time.Second, 24*time.Hour, 5*time.Minute
	var volume, memory, selected, secrets string
	texts := map[string]*string{"kubeconfig": &p.Kubeconfig, "context": &p.Context, "namespace": &p.Namespace,
		"image": &p.Image, "image_pull": &p.Pull, "service_account": &p.ServiceAccount, "volume": &volume,
		"folder": &p.folder, "program": &p.program, "queue": &p.queue, "memory": &memory, "node_selector": &selected,
		"user": &p.User, "pull_secrets": &secrets}
	for _, name := range slices.Sorted(maps.Keys(a.Args)) {
		if texts[name] == nil {
			return nil, fmt.Errorf("--with %s is not known: arguments are %s", name,
				schema.AllOf(slices.Sorted(maps.Keys(texts))))
		}
		*texts[name] = a.Args[name]
	}
	switch {
	case a.Whole:
		return nil, errors.New("only simulated cells run as tasks on Kubernetes: leave cells of real jobs out, " +
			"or run them here")
	case p.Image == "":
		return nil, errors.New("the image of the tasks is missing: --with image=NAME")
	case volume == "":
		return nil, errors.New("the volume with the folder of results is missing: --with volume=claim:NAME")
	case kubernetes.PullPolicies[p.Pull] == "":
		return nil, fmt.Errorf("--with image_pull=%s: use %s", p.Pull,
			schema.OneOf(slices.Sorted(maps.Keys(kubernetes.PullPolicies))))
	}
	v, readOnly, err := kubernetes.ParseVolume(volume)
	if p.volume = v; err != nil || readOnly {
		return nil, fmt.Errorf("--with volume=%s: write claim:NAME or host:/folder, without :ro", volume)
	}
	if host, ok := v["hostPath"].(tree); ok && p.folder == "" {
		p.folder = host["path"].(string)
	}
	if within, err := filepath.Rel(p.folder, a.Dir); p.folder == "" || err != nil || !filepath.IsLocal(within) {
		return nil, fmt.Errorf("the folder of results %s is not on the volume: name the folder at which this machine has "+
			"the volume (--with folder=/path), and a folder below it for results (--out)", filepath.Dir(a.Dir))
	}
	if memory != "" {
		if n, err := api.Quantity(memory); err != nil || n <= 0 {
			return nil, fmt.Errorf("--with memory=%s is not a size like 4Gi", memory)
		}
		p.size["memory"] = memory
	}
	if user := os.Getuid(); p.User == "" && user > 0 { // the owner of the results folder
		p.User = strconv.Itoa(user)
		p.group = os.Getgid()
	}
	if _, err := kubernetes.Security(p.User); err != nil {
		return nil, fmt.Errorf("--with user: %w", err)
	}
	comma := func(c rune) bool { return c == ',' }
	p.PullSecrets = strings.FieldsFunc(secrets, comma)
	for label := range strings.FieldsFuncSeq(selected, comma) {
		name, value, ok := strings.Cut(label, "=")
		if !ok {
			return nil, fmt.Errorf("--with node_selector=%s is not like pool=cpu", selected)
		}
		p.NodeSelector[name] = value
	}
	return p, nil
}

// job returns a Job that runs the command of the array with two more arguments: the list of task numbers, and
// "$(JOB_COMPLETION_INDEX)", or "look" to check the folder only.
func (p *taskPods) job(name, argument string, pods int) tree {
	numbers := strings.Join(schema.Each(p.Tasks, strconv.Itoa), ",")
	command := schema.Each(append([]string{p.program}, p.Command[1:]...), kubernetes.Escape)
	p.volume["name"] = "results"
	spec := p.Pod(p.Image, tree{
		"command": append(command, numbers, argument), "terminationMessagePolicy": "FallbackToLogsOnError",
		"resources":    api.Resources{Requests: p.size, Limits: p.size},
		"volumeMounts": []tree{{"name": "results", "mountPath": p.folder}},
	}, []tree{p.volume})
	if p.group > 0 {
		spec["securityContext"].(tree)["runAsGroup"] = p.group
	}
	m := api.Meta{Name: name, Labels: map[string]string{kubernetes.LabelManager: "tfexp", labelTasks: name},
		Annotations: map[string]string{kubernetes.AnnotationFolder: filepath.Dir(p.Dir), annotationTasks: numbers,
			annotationTaskDir: p.Dir}}
	inner := api.Meta{Labels: maps.Clone(m.Labels), Annotations: m.Annotations}
	if p.queue != "" {
		m.Labels[api.QueueLabel] = p.queue
	}
	atOnce := cmp.Or(min(pods, p.AtOnce), pods)
	// If the cluster takes a pod away, the Job replaces it.
	taken := []tree{{"type": "DisruptionTarget", "status": "True"}}
	return tree{"apiVersion": api.BatchGroup, "kind": "Job", "metadata": m, "spec": tree{
		"completionMode": "Indexed", "completions": pods, "parallelism": atOnce, "suspend": p.queue != "",
		"backoffLimitPerIndex": 0, "activeDeadlineSeconds": int(p.Deadline.Seconds()),
		"ttlSecondsAfterFinished": int(endedLife.Seconds()),
		"podFailurePolicy":        tree{"rules": []tree{{"action": "Ignore", "onPodConditions": taken}}},
		"template":                tree{"metadata": inner, "spec": spec},
	}}
}

// arrayName returns a new name for the Job of an array.
func arrayName(a engine.Array) string {
	return "tfexp-" + strings.ToLower(rand.Text()[:8]) + "-" + kubernetes.ObjectName(strings.TrimPrefix(a.Name, "tfexp-"))
}
