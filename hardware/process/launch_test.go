//go:build unix

package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
)

func TestContract(t *testing.T) {
	dir := t.TempDir()
	j := sh(`echo "$TFEXP_JOB|$TFEXP_INTER_THREADS|$TFEXP_INTRA_THREADS|$OMP_NUM_THREADS|$TFEXP_NUM_GPUS|$CUDA_VISIBLE_DEVICES|$TFEXP_EPOCHS|$MINE"
		cat "$TFEXP_CONTROL"; test -d "$TFEXP_CHECKPOINT_DIR" && pwd; echo "$@"`)
	j.Name = "short-3"
	j.Argv = append(j.Argv, "train")
	j.Flags = true
	j.Env = []string{"TFEXP_EPOCHS=7", "MINE=a=b", "CUDA_VISIBLE_DEVICES=9"}
	j.Dir = dir
	j.ControlPath = filepath.Join(t.TempDir(), "scratch", "control")
	j.CheckpointDir = filepath.Join(t.TempDir(), "scratch", "checkpoint")
	j.Threads, j.Inter, j.Intra = 3, 1, 2
	e := open(t, Options{}, j)
	start(t, e, 0)
	if end := next(t, e); end.State != scheduler.Finished {
		t.Fatal(end)
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := "short-3|1|1|1|0|9|7|a=b\n1 1\n" + dir + "\n--cpu --numThreads 1\n"
	if log := read(t, e.Job(0).LogPath); log != want {
		t.Errorf("log %q, want %q", log, want)
	}
}

// Jobs see only the GPUs of their grant, by the names that the engine uses. The GPUs that tfexp sees are hidden from a
// job without GPUs.
func TestGPUs(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "5,6,7")
	say := `echo "$CUDA_VISIBLE_DEVICES|$TFEXP_NUM_GPUS|$@"`
	with, without, beyond := sh(say), sh(say), sh(say)
	for _, j := range []*launch.Job{&with, &without} {
		j.Argv, j.Flags = append(j.Argv, "run.sh"), true
	}
	e := open(t, Options{GPUs: []string{"GPU-a", "GPU-b", "GPU-c"}}, with, without, beyond)
	grant := cores(0)
	grant.GPUs = scheduler.CoreSet{{Lo: 1, Hi: 3}}
	if err := e.Start(0, grant); err != nil {
		t.Fatal(err)
	}
	next(t, e)
	start(t, e, 1)
	next(t, e)
	for job, want := range []string{"GPU-b,GPU-c|2|--gpu --numGPUs 2\n", "|0|--cpu --numThreads 1\n"} {
		if log := read(t, e.Job(job).LogPath); log != want {
			t.Errorf("job %d says %q, want %q", job, log, want)
		}
	}
	grant.GPUs = scheduler.CoreSet{{Lo: 2, Hi: 4}}
	if err := e.Start(2, grant); err == nil || !strings.Contains(err.Error(), "there is no GPU 3") {
		t.Errorf("a GPU beyond those of the engine: %v", err)
	}
}

func TestLookup(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"bin/tool": 0o755, "other/tool": 0o755, "plain/tool": 0o644} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ name, dir, path, want string }{
		{"tool", "", dir + "/plain:" + dir + "/bin:" + dir + "/other", dir + "/bin/tool"},
		{"tool", dir, "other", dir + "/other/tool"},
		{"tool", "", dir + "/plain", `program "tool": permission denied: chmod +x makes it executable`},
		{"tool", "", "", `program "tool" not found`},
		{"./tool", dir + "/bin", "", dir + "/bin/tool"},
		{"bin", "", dir, `program "bin" not found`},
		{dir + "/bin", "", "", fmt.Sprintf("program %q: is a directory", dir+"/bin")},
	} {
		got, err := lookup(test.name, test.dir, []string{"PATH=" + test.path})
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("lookup(%q, %q, %q): %s, want %s", test.name, test.dir, test.path, got, test.want)
		}
	}
}
