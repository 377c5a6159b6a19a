package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// A job's environment has the contract's variables, then its own, which win; what an outer tfexp said about its own
// job is gone.
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

// What comes again after a broken stream is not written again; the limit ends the job once; the reason is the last
// line.
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

// TestAPartThatJoinsLater has an address of its own beside those that the job began with, which stay as they were.
func TestAPartThatJoinsLater(t *testing.T) {
	cluster := contract.Cluster{"ps": {"127.0.0.1:7001"}, "worker": {"127.0.0.1:7002"}}
	j := Job{Name: "j"}
	part, err := j.OfPart(scheduler.Part{Role: "worker", Task: 1}, false, cluster)
	if err != nil {
		t.Fatal(err)
	}
	env := strings.Join(part.Env, "\n")
	if !strings.Contains(env, `"127.0.0.1:7001"`) || !strings.Contains(env, `"worker":["127.0.0.1:7002","127.0.0.1:`) {
		t.Errorf("its environment is\n%s", env)
	}
	if len(cluster["worker"]) != 1 {
		t.Errorf("the others now know %v", cluster["worker"])
	}
}
