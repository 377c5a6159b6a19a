// Package tasks runs arrays of tasks as indexed Jobs of a Kubernetes cluster: the cells of tfexp run --on kubernetes.
package tasks

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/kubernetes"
	"github.com/tfexp/tfexp/hardware/kubernetes/api"
	"github.com/tfexp/tfexp/results/folder"
)

func init() {
	kubernetes.Kind.Batch = func() engine.Batch { return BatchSystem{} }
}

// BatchSystem is the batch system of a cluster: an array of tasks is an indexed Job.
type BatchSystem struct{}

var _ engine.Batch = BatchSystem{}

const (
	// labelTasks has the name of an array, on its Job and pods. annotationTasks has the task number of each index, and
	// annotationTaskDir the folder for the output of tasks.
	labelTasks        = "tfexp.dev/tasks"
	annotationTasks   = "tfexp.dev/task-numbers"
	annotationTaskDir = "tfexp.dev/task-folder"
	// endedLife is how long the cluster keeps an ended Job if tfexp does not remove it.
	endedLife = 10 * time.Minute
)

// roomPatience is how long Check waits for a node with enough room. Tests change it.
var roomPatience = 10 * time.Second

// openArray reads the arguments of an array and connects to its cluster.
func openArray(a engine.Array) (*taskPods, api.Namespace, error) {
	p, err := readTaskPods(a)
	if err != nil {
		return nil, api.Namespace{}, &engine.Unavailable{Engine: kubernetes.Name, Err: err, Hint: tasksHint}
	}
	k, err := p.Connect()
	return p, k, kubernetes.Unavailable(err)
}

// tasksHint is the remedy for wrong arguments of arrays.
const tasksHint = "docs/kubernetes.md has an example: \"Simulated cells as tasks\""

// Check implements engine.Batch. It runs a pod that reads the cells of the first task and writes into the folder.
func (BatchSystem) Check(ctx context.Context, a engine.Array) (waits string, err error) {
	p, k, err := openArray(a)
	if err != nil {
		return "", err
	}
	defer k.Close()
	if err := holds(ctx, k, p); err != nil {
		return "", err
	}
	name := arrayName(a)
	var made api.Job
	if err := k.Create(ctx, "jobs", p.job(name, "look", 1), &made); err != nil {
		return "", kubernetes.UnavailableOrDone(ctx, fmt.Errorf("start a test pod for the results folder: %w", err))
	}
	defer k.Delete(context.WithoutCancel(ctx), "jobs", name)
	for began := time.Now(); ; time.Sleep(lookPause) {
		pods, err := api.Labelled[api.Pod](ctx, k, "pods", map[string]string{labelTasks: name})
		if err != nil {
			return "", kubernetes.UnavailableOrDone(ctx, err)
		}
		why, vain, placed := "", false, len(pods) > 0 && pods[0].Spec.NodeName != ""
		switch {
		case len(pods) == 0:
			why, vain = k.Refusal(made.Metadata.UID)
		case pods[0].Over():
			return "", p.looked(&pods[0])
		case pods[0].State().Running == nil:
			why, vain = k.Obstacle(&pods[0])
		}
		busy := why == "" || strings.Contains(why, "Insufficient") || strings.Contains(why, "exceeded quota")
		switch waited := time.Since(began); {
		case vain || !busy && waited > roomPatience || waited > p.Patience:
			return "", &engine.Unavailable{Engine: kubernetes.Name, Err: fmt.Errorf("the pods of the tasks cannot start: %s",
				why), Hint: tasksHint}
		case busy && !placed && waited > roomPatience:
			return cmp.Or(why, "the cluster gives no reason (a queue may hold the Job back)"), nil
		}
	}
}

// looked returns an error if the test pod of Check has failed.
func (p *taskPods) looked(pod *api.Pod) error {
	if t := pod.State().Terminated; t != nil && t.ExitCode == 0 {
		return nil
	}
	return &engine.Unavailable{Engine: kubernetes.Name,
		Err: errors.New("a test pod cannot use the results folder: " + taskEnd(pod, p.program, p.Image)),
		Hint: "the volume must have the files that this machine has in " + p.folder + ", and the image (or the volume) " +
			"this version of tfexp at " + p.program + " (--with program=/path)"}
}

// holds returns an error if a task requests more than every node of the cluster has.
func holds(ctx context.Context, k api.Namespace, p *taskPods) error {
	nodes, _, err := api.List[api.Node](ctx, k.Client, api.Call{Verb: "list", Resource: "nodes"})
	if err != nil {
		return kubernetes.UnavailableOrDone(ctx, err)
	}
	large := func(n api.Node) bool {
		for name, text := range p.size {
			has, err := api.Quantity(n.Status.Allocatable[name])
			if needs, _ := api.Quantity(text); err != nil || has < needs { // needs was checked
				return false
			}
		}
		return true
	}
	if slices.ContainsFunc(nodes, large) {
		return nil
	}
	return &engine.Unavailable{Engine: kubernetes.Name,
		Err:  fmt.Errorf("no node of the cluster is as large as a task: %v", p.size),
		Hint: "kubectl describe nodes shows their size; set a smaller --with memory=…"}
}

// lookPause is the time between two looks at the pod of Check.
const lookPause = 300 * time.Millisecond

// taskEnd describes why the pod of a task failed: the last lines of its output, or the reason of the cluster.
func taskEnd(pod *api.Pod, program, image string) string {
	if t := pod.State().Terminated; t != nil && t.Reason == "Error" && t.Message != "" {
		return strings.Join(strings.Split(strings.TrimSpace(t.Message), "\n"), "; ")
	}
	return pod.Failure(program, image)
}

// Submit implements engine.Batch. The returned text consists of arguments for kubectl.
func (BatchSystem) Submit(ctx context.Context, a engine.Array) (string, error) {
	p, k, err := openArray(a)
	if err != nil {
		return "", err
	}
	defer k.Close()
	name := arrayName(a)
	if err := k.Create(ctx, "jobs", p.job(name, "$(JOB_COMPLETION_INDEX)", len(a.Tasks)), nil); err != nil {
		return "", kubernetes.UnavailableOrDone(ctx, fmt.Errorf("submit the tasks: %w", err))
	}
	id := name + " -n " + k.Name
	if k.Access.Context != "" {
		id += contextFlag + k.Access.Context
	}
	if p.Kubeconfig != "" {
		id += configFlag + p.Kubeconfig
	}
	return id, nil
}

const contextFlag, configFlag = " --context ", " --kubeconfig "

// onJob calls a function with the cluster and the name of the Job that Submit has returned.
func onJob(id string, f func(k api.Namespace, name string) error) error {
	rest, file, _ := strings.Cut(id, configFlag)
	rest, context, _ := strings.Cut(rest, contextFlag)
	name, namespace, ok := strings.Cut(rest, " -n ")
	if !ok {
		return fmt.Errorf("%q is not the number of an array of tasks on Kubernetes", id)
	}
	k, err := (&kubernetes.Settings{Kubeconfig: file, Context: context, Namespace: namespace}).Connect()
	if err != nil {
		return kubernetes.Unavailable(err)
	}
	defer k.Close()
	return f(k, name)
}

// UnfinishedTasks implements engine.Batch. It also adds why a task failed to task-N.out, where the task has written its
// output.
func (BatchSystem) UnfinishedTasks(ctx context.Context, jobs []string) (map[string][]int, error) {
	alive := map[string][]int{}
	for _, id := range jobs {
		err := onJob(id, func(k api.Namespace, name string) (err error) {
			alive[id], err = unfinished(ctx, k, name)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return alive, nil
}

// unfinished returns the tasks of an array that wait or run.
func unfinished(ctx context.Context, k api.Namespace, name string) (alive []int, err error) {
	var now api.Job
	err = k.Get(ctx, "jobs", name, &now)
	if err != nil && !api.Refused(err, http.StatusNotFound) {
		return nil, err
	}
	there := err == nil
	pods, err := api.Labelled[api.Pod](ctx, k, "pods", map[string]string{labelTasks: name})
	if err != nil {
		return nil, err
	}
	open := map[int]bool{} // unfinished tasks, by number
	if there && now.Status.Conditions.True("Complete") == nil {
		over := indexes(now.Status.CompletedIndexes + "," + now.Status.FailedIndexes)
		failed := now.Status.Conditions.True("Failed")
		for i, n := range taskNumbers(&now.Metadata) {
			switch {
			case over[i]:
			case failed != nil:
				leave(&now.Metadata, n, failed.Message)
			default:
				open[n] = true
			}
		}
	}
	for i := range pods {
		p := &pods[i]
		numbers := taskNumbers(&p.Metadata)
		index, err := strconv.Atoi(p.Metadata.Annotations[api.IndexAnnotation])
		if err != nil || index < 0 || index >= len(numbers) {
			continue
		}
		n := numbers[index]
		if p.Over() {
			if t := p.State().Terminated; t == nil || t.ExitCode != 0 {
				leave(&p.Metadata, n, taskEnd(p, "tfexp", "of the tasks"))
			}
			continue
		}
		open[n] = true
		if p.State().Running != nil || p.Metadata.Deleted != nil {
			continue
		}
		if why, vain := k.Obstacle(p); vain && there {
			leave(&p.Metadata, n, why)
			if err := k.Delete(ctx, "jobs", name); err != nil { // tfexp submits its tasks again, perhaps to other nodes
				return nil, err
			}
		}
	}
	return slices.Sorted(maps.Keys(open)), nil
}

// leave appends why a task failed to its output file, unless the file has that line. The file is not replaced, because
// another pod of the task may be writing to it.
func leave(m *api.Meta, task int, why string) {
	dir, name := m.Annotations[annotationTaskDir], fmt.Sprintf("task-%d.out", task)
	old, _ := folder.ReadFile(dir, name) // without the file, only the reason is lost
	if bytes.Contains(old, []byte(why+"\n")) {
		return
	}
	out, err := folder.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err == nil {
		fmt.Fprintln(out, why)
		out.Close()
	}
}

// taskNumbers returns the task number of each index of an array.
func taskNumbers(m *api.Meta) (numbers []int) {
	for text := range strings.SplitSeq(m.Annotations[annotationTasks], ",") {
		if n, err := strconv.Atoi(text); err == nil {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// indexes parses indexes in the status of a Job: "1,3-5".
func indexes(text string) map[int]bool {
	all := map[int]bool{}
	for part := range strings.SplitSeq(text, ",") {
		var lo, hi int
		n, _ := fmt.Sscanf(part, "%d-%d", &lo, &hi)
		if n == 1 {
			hi = lo
		}
		for i := lo; i <= hi && n > 0; i++ {
			all[i] = true
		}
	}
	return all
}

// Cancel implements engine.Batch.
func (BatchSystem) Cancel(ctx context.Context, jobs []string) error {
	for _, id := range jobs {
		err := onJob(id, func(k api.Namespace, name string) error { return k.Delete(ctx, "jobs", name) })
		if err != nil {
			return kubernetes.Unavailable(err)
		}
	}
	return nil
}

// Forget removes the Jobs of arrays whose cells are collected.
func (b BatchSystem) Forget(ctx context.Context, jobs []string) error { return b.Cancel(ctx, jobs) }

// tree is an object of the API, or a part of an object, that is only written.
type tree = map[string]any
