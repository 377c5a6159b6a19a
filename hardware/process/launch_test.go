package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	if log := read(t, e.jobs[0].LogPath); log != want {
		t.Errorf("log %q, want %q", log, want)
	}
}

func TestEnviron(t *testing.T) {
	inherited := []string{"HOME=/home/ada", "TFEXP_JOB=outer", "TFEXP_STEPS=9", "TFEXP_CONTROL=/outer", "OMP_NUM_THREADS=64", "TFEXP_RUN=outer.1.0"}
	j := Job{Name: "inner", Env: []string{"TFEXP_EPOCHS=2", "HOME=/tmp", "HOME=/data"}, Threads: 4}
	got := j.environ(inherited, 2, scheduler.CoreSet{{Lo: 0, Hi: 1}, {Lo: 2, Hi: 4}}, "run.1.7")
	want := []string{
		"HOME=/data", "TFEXP_JOB=inner", "OMP_NUM_THREADS=2", "TFEXP_RUN=run.1.7",
		"TFEXP_INTER_THREADS=1", "TFEXP_INTRA_THREADS=2", "TFEXP_NUM_GPUS=3", "CUDA_VISIBLE_DEVICES=0,2,3", "TFEXP_EPOCHS=2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	j = Job{Argv: []string{"./run.sh"}, Flags: true}
	grant := cores(0, 1)
	if got := strings.Join(j.arguments(grant), " "); got != "./run.sh --cpu --numThreads 2" {
		t.Error(got)
	}
	grant.GPUs = scheduler.CoreSet{{Lo: 1, Hi: 3}}
	if got := strings.Join(j.arguments(grant), " "); got != "./run.sh --gpu --numGPUs 2" {
		t.Error(got)
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
		{"tool", "", dir + "/plain", `program "tool": permission denied`},
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

func TestSplit(t *testing.T) {
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
		{6, 2, 4, 1, 1, 1},
		{6, 2, 4, 12, 4, 8},
		{4, 2, 2, 3, 1, 2},
	} {
		j := Job{Threads: test.threads, Inter: test.inter, Intra: test.intra}
		if inter, intra := j.Split(test.given); inter != test.wantInter || intra != test.wantIntra {
			t.Errorf("%d (%d, %d) given %d: %d, %d, want %d, %d",
				test.threads, test.inter, test.intra, test.given, inter, intra, test.wantInter, test.wantIntra)
		}
	}
}
