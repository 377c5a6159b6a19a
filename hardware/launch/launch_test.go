package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// The environment of a job has the variables of the contract and then its own, which override them. Variables that an
// outer tfexp set for tfexp itself are removed.
func TestEnviron(t *testing.T) {
	inherited := []string{"HOME=/home/ada", "TFEXP_JOB=outer", "TFEXP_STEPS=9", "TFEXP_CONTROL=/outer",
		"OMP_NUM_THREADS=64"}
	j := Job{Name: "inner", Env: []string{"TFEXP_EPOCHS=2", "HOME=/tmp", "HOME=/data"}, Threads: 4}
	got := Merge(Inherited(inherited), j.Environ(2, []string{"0", "GPU-8f1b"}, Paths{}))
	want := []string{
		"HOME=/data", "TFEXP_JOB=inner", "OMP_NUM_THREADS=2",
		"TFEXP_INTER_THREADS=1", "TFEXP_INTRA_THREADS=2", "TFEXP_NUM_GPUS=2", "CUDA_VISIBLE_DEVICES=0,GPU-8f1b",
		"CUDA_DEVICE_ORDER=PCI_BUS_ID", "TFEXP_EPOCHS=2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestArguments(t *testing.T) {
	j := Job{Argv: []string{"./run.sh"}, Flags: true}
	grant := scheduler.Grant{Cores: scheduler.CoreSet{{Lo: 0, Hi: 2}}}
	if got := strings.Join(j.Arguments(grant), " "); got != "./run.sh --cpu --numThreads 2" {
		t.Error(got)
	}
	grant.GPUs = scheduler.CoreSet{{Lo: 1, Hi: 3}}
	if got := strings.Join(j.Arguments(grant), " "); got != "./run.sh --gpu --numGPUs 2" {
		t.Error(got)
	}
}

func TestPools(t *testing.T) {
	for _, test := range []struct {
		threads, inter, intra, given int
		wantInter, wantIntra         int
	}{
		{0, 0, 0, 1, 1, 1},
		{4, 0, 0, 4, 1, 4},
		{4, 1, 4, 2, 1, 2},
		{4, 1, 4, 6, 1, 6},
		{2, 1, 1, 2, 1, 1},
		{2, 1, 1, 1, 1, 1},
		{6, 2, 4, 6, 2, 4},
		{6, 2, 4, 3, 1, 2},
		{6, 2, 4, 2, 1, 1},
		{5, 2, 3, 4, 2, 2},
		{6, 2, 4, 1, 1, 1},
		{6, 2, 4, 12, 4, 8},
		{4, 2, 2, 3, 1, 2},
	} {
		j := Job{Threads: test.threads, Inter: test.inter, Intra: test.intra}
		if inter, intra := j.Pools(test.given); inter != test.wantInter || intra != test.wantIntra {
			t.Errorf("%d (%d, %d) given %d: %d, %d, want %d, %d",
				test.threads, test.inter, test.intra, test.given, inter, intra, test.wantInter, test.wantIntra)
		}
	}
}

// Output that is repeated after a broken stream is written once. The limit ends the job once. The reason of the end is
// the last line.
func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs", "a.log")
	var failed []string
	var seen strings.Builder
	l, err := OpenLog(path, 1<<10, false, func(reason string) { failed = append(failed, reason) },
		func(b []byte) { seen.Write(b) })
	if err != nil {
		t.Fatal(err)
	}
	l.Write([]byte("one\ntw"))
	l.Reread()
	l.Write([]byte("one\n"))
	l.Write([]byte("two\n"))
	if got := seen.String(); got != "one\ntwo\n" {
		t.Errorf("seen %q", got)
	}
	l.Write(make([]byte, 1<<10))
	l.Write([]byte("more"))
	if len(failed) != 1 || failed[0] != "output above the limit of 1 KiB" || l.Err() == nil {
		t.Errorf("failed %q, %v", failed, l.Err())
	}
	l.Close("stopped")
	log, err := os.ReadFile(path)
	if err != nil || len(log) != 1<<10+len("tfexp: stopped\n") || !strings.HasPrefix(string(log), "one\ntwo\n") {
		t.Errorf("a log of %d bytes, %v", len(log), err)
	}
	again, err := OpenLog(path, 1<<20, true, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	again.Write([]byte("next"))
	again.Close("")
	if more, _ := os.ReadFile(path); string(more) != string(log)+"next" {
		t.Errorf("the log that goes on has %d bytes", len(more))
	}
}

// TestPrograms checks that each part of a job with roles is a separate program. A part without cores shares the cores
// of its node.
func TestPrograms(t *testing.T) {
	cores := func(lo, hi int32) scheduler.CoreSet { return scheduler.CoreSet{{Lo: lo, Hi: hi}} }
	for _, g := range []scheduler.Grant{{}, {Layout: &cluster.Layout{}},
		{Layout: &cluster.Layout{Parts: []scheduler.Part{{Cores: cores(0, 1)}}}}} {
		if got := Programs(g); got != nil {
			t.Errorf("%+v has the programs %v", g, got)
		}
	}
	parts := []scheduler.Part{
		{Role: "worker", Node: 0, Cores: cores(0, 2)}, {Role: "worker", Task: 1, Node: 0, Cores: cores(2, 3)},
		{Role: "ps", Node: 0}, {Role: "worker", Task: 2, Node: 1, Cores: cores(4, 6)}, {Role: "ps", Task: 1, Node: 1},
	}
	got := Programs(scheduler.Grant{Layout: &cluster.Layout{Parts: parts}})
	for i, want := range []scheduler.CoreSet{cores(0, 2), cores(2, 3), cores(0, 3), cores(4, 6), cores(4, 6)} {
		if diff := cmp.Diff(want, got[i].Cores); diff != "" {
			t.Errorf("%s on node %d (-want +got):\n%s", PartName(got[i]), got[i].Node, diff)
		}
	}
	if parts[2].Cores != nil {
		t.Error("the grant itself has changed")
	}
}

// TestFilesOfParts checks that the lead of a job has the job's log and event files. Other parts have logs next to it.
// Each controlled part has its own control file.
func TestFilesOfParts(t *testing.T) {
	cluster := contract.Cluster{"ps": {"127.0.0.1:7001"}, "worker": {"127.0.0.1:7002", "127.0.0.1:7003"}}
	for _, c := range []struct {
		job          Job
		lead         bool
		log, control string
	}{
		{Job{LogPath: "a/j.log", ControlPath: "c"}, true, "a/j.log", "c.worker-1"},
		{Job{LogPath: "a/j.log", ControlPath: "c"}, false, "a/j.worker-1.log", "c.worker-1"},
		{Job{LogPath: "a/j"}, false, "a/j.worker-1", ""},
		{Job{}, false, "", ""},
	} {
		c.job.Progress, c.job.Threads, c.job.Inter, c.job.Intra = otherProgress{}, 6, 2, 3
		c.job.Env = []string{"A=b"}
		part, err := c.job.OfPart(scheduler.Part{Role: "worker", Task: 1, Cores: scheduler.CoreSet{{Lo: 1, Hi: 3}},
			GPUs: scheduler.CoreSet{{Lo: 0, Hi: 1}}}, c.lead, cluster)
		if err != nil {
			t.Fatal(err)
		}
		if part.LogPath != c.log || part.ControlPath != c.control || (part.Progress != nil) != c.lead {
			t.Errorf("lead %v: log %q, control file %q, events %v", c.lead, part.LogPath, part.ControlPath, part.Progress)
		}
		if part.Threads != 2 || part.Inter != 0 || part.Intra != 0 || part.GPUs != 1 {
			t.Errorf("it asks for %+v", part)
		}
		const config = `TF_CONFIG={"cluster":{"ps":["127.0.0.1:7001"],"worker":["127.0.0.1:7002","127.0.0.1:7003"]},` +
			`"task":{"type":"worker","index":1}}`
		if env := strings.Join(part.Env, "\n"); !strings.Contains(env, config) || !strings.HasSuffix(env, "A=b") {
			t.Errorf("its environment is\n%s", env)
		}
	}
}

// TestAddressesDiffer checks that each part has its own port, at the index of its task.
func TestAddressesDiffer(t *testing.T) {
	got, err := Addresses("127.0.0.1", []scheduler.Part{{Role: "worker", Task: 1}, {Role: "worker"}, {Role: "ps"}})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{"": true}
	for _, a := range append(got["worker"], got["ps"]...) {
		if seen[a] || !strings.HasPrefix(a, "127.0.0.1:") {
			t.Errorf("the address %q is none, or of another part as well", a)
		}
		seen[a] = true
	}
	if len(got["worker"]) != 2 || len(got["ps"]) != 1 {
		t.Errorf("the cluster is %v", got)
	}
}

func TestAlternatives(t *testing.T) {
	j := Job{Threads: 1}
	if !j.Choose(0) || j.Choose(1) || j.Threads != 1 {
		t.Errorf("a job without alternatives starts with %+v", j)
	}
	j.Alternatives = []Request{{Threads: 2, Inter: 1, Intra: 2, Memory: 3}, {Threads: 4, Inter: 2, Intra: 2, Memory: 5}}
	if j.Choose(-1) || j.Choose(2) || j.Threads != 1 {
		t.Errorf("an alternative that there is not: %+v", j)
	}
	for i, want := range j.Alternatives {
		if !j.Choose(i) || (Request{j.Threads, j.Inter, j.Intra, j.Memory}) != want {
			t.Errorf("alternative %d: %+v", i, j)
		}
	}
}

// TestPrepare checks that Prepare creates missing folders, a control file and a checkpoint folder, and returns an error
// if it cannot.
func TestPrepare(t *testing.T) {
	dir := t.TempDir()
	j := Job{Threads: 2, ControlPath: filepath.Join(dir, "a", "control"), CheckpointDir: filepath.Join(dir, "b", "c")}
	if err := j.Prepare(1, 0); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(j.ControlPath); string(got) != "1 1\n" {
		t.Errorf("%q, %v", got, err)
	}
	if st, err := os.Stat(j.CheckpointDir); err != nil || !st.IsDir() {
		t.Errorf("the checkpoint folder: %v", err)
	}
	if err := (&Job{}).Prepare(1, 0); err != nil {
		t.Errorf("a job without files: %v", err)
	}
	inFile := filepath.Join(j.ControlPath, "x") // a path below a file, where no folder can be created
	for _, j := range []Job{{ControlPath: inFile}, {CheckpointDir: inFile}} {
		if err := j.Prepare(1, 0); err == nil {
			t.Errorf("%+v is made below a file", j)
		}
	}
}

// Errors are shown without path and operation, because their callers add these.
func TestUnderlying(t *testing.T) {
	_, noFile := os.Open(filepath.Join(t.TempDir(), "a"))
	noProgram := exec.Command("./no such program").Run()
	_, notInPath := exec.LookPath("no such program")
	for _, err := range []error{noFile, noProgram, notInPath, fmt.Errorf("start: %w", noFile)} {
		got := Underlying(err)
		var path *fs.PathError
		var program *exec.Error
		if errors.As(got, &path) || errors.As(got, &program) ||
			!errors.Is(got, fs.ErrNotExist) && !errors.Is(got, exec.ErrNotFound) {
			t.Errorf("of %q there is left %q", err, got)
		}
	}
	other := errors.New("another")
	if Underlying(other) != other {
		t.Error("another error is not left as it is")
	}
}

func TestSizes(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1 << 10: "1 KiB", 1536: "1536 bytes",
		1 << 20: "1 MiB", 3 << 19: "1536 KiB", 5 << 30: "5 GiB"} {
		if got := size(bytes); got != want {
			t.Errorf("%d: %s, want %s", bytes, got, want)
		}
	}
}

// otherProgress is another way in which programs report their progress.
type otherProgress struct{ ProgressSource }
