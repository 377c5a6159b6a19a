package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/kubernetes/api"
	"github.com/tfexp/tfexp/hardware/kubernetes/api/apitest"
)

// arrayOf returns an array of tasks in a folder that its pods see.
func arrayOf(t *testing.T, f *apitest.Cluster, tasks ...int) engine.Array {
	dir := filepath.Join(t.TempDir(), "array")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return engine.Array{Dir: dir, Name: "tfexp-Sweep", Command: []string{"/bin/tfexp", "task", filepath.Dir(dir)}, Tasks: tasks,
		Threads: 1, Args: map[string]string{"kubeconfig": f.Kubeconfig(t), "image": "tfexp:1", "volume": "claim:results",
			"folder": filepath.Dir(filepath.Dir(dir))}}
}

// containerOf is the container of a pod.
func containerOf(pod tree) tree {
	return apitest.Elements(apitest.Child(pod, "spec")["containers"])[0].(tree)
}

// taskOf returns the command of a task. $(JOB_COMPLETION_INDEX) is replaced as a node does it.
func taskOf(pod tree) string {
	index, _ := apitest.Child(apitest.Meta(pod), "annotations")[api.IndexAnnotation].(string)
	var words []string
	for _, word := range apitest.Elements(containerOf(pod)["command"]) {
		words = append(words, strings.ReplaceAll(word.(string), "$(JOB_COMPLETION_INDEX)", index))
	}
	return strings.Join(words, " ")
}

// An array becomes an indexed Job. Each task runs once, with the requested number at once. A failed task writes the
// reason into its file.
func TestTasks(t *testing.T) {
	f := apitest.New(t)
	var mu sync.Mutex
	var commands []string
	running, most := 0, 0
	gate := make(chan bool)
	f.Run = func(ctx context.Context, pod tree, out io.Writer) int {
		mu.Lock()
		commands, running = append(commands, taskOf(pod)), running+1
		most = max(most, running)
		mu.Unlock()
		if index := apitest.Child(apitest.Meta(pod), "annotations")[api.IndexAnnotation]; !strings.HasSuffix(taskOf(pod), " look") {
			select {
			case <-gate:
			case <-ctx.Done():
			}
			mu.Lock()
			running--
			mu.Unlock()
			if index == "1" {
				fmt.Fprint(out, "Error: no space\nfree some\n")
				return 1
			}
			return 0
		}
		mu.Lock()
		running--
		mu.Unlock()
		return 0
	}
	a := arrayOf(t, f, 0, 4, 7)
	a.AtOnce = 2
	var b BatchSystem
	if waits, err := b.Check(t.Context(), a); waits != "" || err != nil {
		t.Fatal(waits, err)
	}
	id, err := b.Submit(t.Context(), a)
	if err != nil || !strings.HasPrefix(id, "tfexp-") || !strings.Contains(id, "-sweep -n research --context x --kubeconfig ") {
		t.Fatal(id, err)
	}
	alive := func() string {
		all, err := b.UnfinishedTasks(t.Context(), []string{id})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(all[id])
	}
	if got := alive(); got != "[0 4 7]" {
		t.Errorf("alive %s", got)
	}
	gate <- true
	apitest.Eventually(t, "a task less", func() bool { return len(strings.Fields(alive())) == 2 })
	gate <- true
	gate <- true
	apitest.Eventually(t, "no task", func() bool { return alive() == "[]" })
	slices.Sort(commands)
	own := "/bin/tfexp task " + filepath.Dir(a.Dir) + " 0,4,7 "
	if want := []string{own + "0", own + "1", own + "2", own + "look"}; !slices.Equal(commands, want) || most > 2 {
		t.Errorf("%q, %d at once", commands, most)
	}
	if text, err := os.ReadFile(filepath.Join(a.Dir, "task-4.out")); string(text) != "Error: no space; free some\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := b.Forget(t.Context(), []string{id}); err != nil {
		t.Fatal(err)
	}
	apitest.Eventually(t, "nothing is left", func() bool { return len(f.All("jobs"))+len(f.All("pods")) == 0 })
}

// The cluster replaces an evicted pod. If a pod of a Job can never start, the tasks of the Job are lost, with the
// reason. Cancelled tasks end.
func TestTasksAreLost(t *testing.T) {
	f := apitest.New(t)
	started := make(chan tree, 10)
	f.Run = func(ctx context.Context, pod tree, _ io.Writer) int {
		started <- pod
		<-ctx.Done()
		return 143
	}
	a := arrayOf(t, f, 3)
	var b BatchSystem
	submit := func() string {
		id, err := b.Submit(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	alive := func(id string) int {
		all, err := b.UnfinishedTasks(t.Context(), []string{id})
		if err != nil {
			t.Fatal(err)
		}
		return len(all[id])
	}
	id := submit()
	f.Evict("research", apitest.Meta(<-started)["name"].(string))
	<-started
	if alive(id) != 1 {
		t.Error("the evicted task is lost")
	}
	if err := b.Cancel(t.Context(), []string{id}); err != nil {
		t.Fatal(err)
	}
	apitest.Eventually(t, "the end of cancelled tasks", func() bool { return alive(id) == 0 && len(f.All("pods")) == 0 })

	f.Wait = func(tree) (string, string) { return "ErrImageNeverPull", "the image is not on the node" }
	id = submit()
	apitest.Eventually(t, "the loss of the task", func() bool { return alive(id) == 0 })
	if text, _ := os.ReadFile(filepath.Join(a.Dir, "task-3.out")); !strings.Contains(string(text), "ErrImageNeverPull: the image") {
		t.Errorf("%q", text)
	}
}

// If no node has room, Check says so and leaves nothing behind. If a task has written output, the reason of its end is
// added to the output once.
func TestTasksWait(t *testing.T) {
	before := roomPatience
	roomPatience = 100 * time.Millisecond
	t.Cleanup(func() { roomPatience = before })
	f := apitest.New(t)
	f.Place = func(tree) (string, string) { return "", "0/2 nodes are available: 2 Insufficient cpu." }
	a := arrayOf(t, f, 5)
	var b BatchSystem
	waits, err := b.Check(t.Context(), a)
	if want := "Unschedulable: 0/2 nodes are available: 2 Insufficient cpu."; err != nil || waits != want {
		t.Errorf("%q, %v", waits, err)
	}
	apitest.Eventually(t, "nothing is left", func() bool { return len(f.All("jobs"))+len(f.All("pods")) == 0 })

	f.Place = func(pod tree) (string, string) { return "n1", "" }
	path := filepath.Join(a.Dir, "task-5.out")
	f.Run = func(context.Context, tree, io.Writer) int {
		os.WriteFile(path, []byte("begins\n"), 0o644)
		return 137
	}
	id, err := b.Submit(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	ended := func() bool {
		alive, err := b.UnfinishedTasks(t.Context(), []string{id})
		return err == nil && len(alive[id]) == 0
	}
	apitest.Eventually(t, "the task has ended", ended)
	again, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0) // as the next pod of the task does
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for _, text := range []string{"begins again\n", "ends\n"} {
		again.WriteString(text)
		if !ended() {
			t.Error("the task runs again")
		}
	}
	if text, _ := os.ReadFile(path); string(text) != "begins\nkilled by signal 9 (killed)\nbegins again\nends\n" {
		t.Errorf("%q", text)
	}
}

// Mistakes in an array are reported before it is submitted, with a remedy.
func TestTasksThatCannotRun(t *testing.T) {
	forbidden := func(what, _ string) *apitest.Refusal {
		if what != "create jobs" {
			return nil
		}
		return &apitest.Refusal{Code: 403, Reason: "Forbidden", Message: "User cannot create resource jobs"}
	}
	for _, c := range []struct {
		name, want string
		change     func(f *apitest.Cluster, a *engine.Array)
	}{
		{"no image", "--with image=NAME", func(_ *apitest.Cluster, a *engine.Array) { delete(a.Args, "image") }},
		{"no volume", "--with volume=claim:NAME", func(_ *apitest.Cluster, a *engine.Array) { delete(a.Args, "volume") }},
		{"wrong volume", "write claim:NAME or host:/folder", func(_ *apitest.Cluster, a *engine.Array) { a.Args["volume"] = "nfs" }},
		{"elsewhere", "is not on the volume", func(_ *apitest.Cluster, a *engine.Array) { a.Args["folder"] = "/other" }},
		{"unknown", `arguments are "context", "folder"`, func(_ *apitest.Cluster, a *engine.Array) { a.Args["partition"] = "gpu" }},
		{"pull", `use "always", "missing" or "never"`, func(_ *apitest.Cluster, a *engine.Array) { a.Args["image_pull"] = "x" }},
		{"memory", "not a size like 4Gi", func(_ *apitest.Cluster, a *engine.Array) { a.Args["memory"] = "much" }},
		{"large", "no node of the cluster is as large as a task: map[cpu:1 memory:9Gi]", func(_ *apitest.Cluster, a *engine.Array) {
			a.Args["memory"] = "9Gi"
		}},
		{"labels", "not like pool=cpu", func(_ *apitest.Cluster, a *engine.Array) { a.Args["node_selector"] = "pool" }},
		{"user", `--with user: "root" is not like "1000"`, func(_ *apitest.Cluster, a *engine.Array) { a.Args["user"] = "root" }},
		{"processes", "only simulated cells", func(_ *apitest.Cluster, a *engine.Array) { a.Whole = true }},
		{"no permission", "no permission to create jobs", func(f *apitest.Cluster, _ *engine.Array) { f.Refuse = forbidden }},
		{"image is missing", "the pods of the tasks cannot start: ErrImageNeverPull", func(f *apitest.Cluster, _ *engine.Array) {
			f.Wait = func(tree) (string, string) { return "ErrImageNeverPull", "not there" }
		}},
		{"folder is another one", "a test pod cannot use the results folder: Error: read the cells", func(f *apitest.Cluster, _ *engine.Array) {
			f.Run = func(_ context.Context, _ tree, out io.Writer) int {
				fmt.Fprintln(out, "Error: read the cells of a task: no such file")
				return 1
			}
		}},
		{"no tfexp", `has no program that can be executed as "/bin/tfexp"`, func(f *apitest.Cluster, _ *engine.Array) {
			f.Run = func(context.Context, tree, io.Writer) int { return 127 }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := apitest.New(t)
			a := arrayOf(t, f, 0)
			a.Args = maps.Clone(a.Args)
			c.change(f, &a)
			_, err := BatchSystem{}.Check(t.Context(), a)
			var missing *engine.Unavailable
			if !errors.As(err, &missing) || !strings.Contains(err.Error(), c.want) || missing.Hint == "" {
				t.Errorf("%v", err)
			}
			apitest.Eventually(t, "nothing is left", func() bool { return len(f.All("jobs"))+len(f.All("pods")) == 0 })
		})
	}
}

// Pods of tasks run as the owner of the results folder, or as the given user, and can run in namespaces under the Pod
// Security Standard "restricted". They fetch images with the given Secrets.
func TestTasksInRestrictedNamespaces(t *testing.T) {
	f := apitest.New(t)
	own := ""
	if id := os.Getuid(); id > 0 {
		own = fmt.Sprintf(`"runAsGroup":%d,"runAsNonRoot":true,"runAsUser":%d,"seccompProfile":{"type":"RuntimeDefault"}`,
			os.Getgid(), id)
	}
	for _, c := range []struct{ user, secrets, pod, pull string }{
		{"", "", own, `null`},
		{"1001", "a", `"runAsNonRoot":true,"runAsUser":1001,"seccompProfile":{"type":"RuntimeDefault"}`, `[{"name":"a"}]`},
		{"1001:7", "a,b", `"fsGroup":7,"runAsGroup":7,"runAsNonRoot":true,"runAsUser":1001,` +
			`"seccompProfile":{"type":"RuntimeDefault"}`, `[{"name":"a"},{"name":"b"}]`},
	} {
		a := arrayOf(t, f, 0)
		a.Args["user"], a.Args["pull_secrets"] = c.user, c.secrets
		p, err := readTaskPods(a)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(p.job("x", "0", 1))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"imagePullSecrets":` + c.pull + `,`, `"securityContext":{` + c.pod + `}`,
			`"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}`} {
			if !strings.Contains(string(got), want) {
				t.Errorf("user %q: %s, want %s", c.user, got, want)
			}
		}
	}
}

// The indexes in the status of a Job are numbers and ranges.
func TestIndexes(t *testing.T) {
	if got := fmt.Sprint(indexes("0,3-5,")); got != "map[0:true 3:true 4:true 5:true]" {
		t.Error(got)
	}
}
