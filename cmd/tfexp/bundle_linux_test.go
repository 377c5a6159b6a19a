package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
)

// studied is an experiment with a log and a policy's program beside its folder.
const studied = `
experiment "studied" { replicates = 1 }

workload "log" {
  trace {
    file    = "../data/log.csv"
    format  = "table"
    columns = { arrival = "submit_time", run_time = "run_time", threads = "threads" }
  }
}

hardware "h" {
  engine  = "simulated"
  threads = 4
}

policy "fcfs" { order = "fcfs" }

policy "mine" {
  order   = "external"
  command = ["python3", "policies/mine.py"]
}

compare "mean_jct" { baseline = policy.fcfs }
`

// An archive of an experiment runs on a machine without the originals, simulated by a mount namespace: nothing runs again
// from its results, and all runs without them.
func TestBundleRunsElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a study three times")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	if err := exec.Command("unshare", "-m", "true").Run(); err != nil {
		t.Skip("a mount namespace is not permitted here: ", err)
	}
	t.Parallel()
	here, there := filepath.Join(t.TempDir(), "study"), t.TempDir()
	for name, text := range map[string]string{
		"exp/studied.hcl": studied,
		"data/log.csv":    "submit_time,run_time,threads\n0,100,3\n10,50,2\n20,10,1\n",
		"exp/policies/mine.py": "from tfexp_policy import policy, run\n\n\n@policy\ndef decide(now, waiting, running, cluster):\n" +
			"    for job in sorted(waiting, key=lambda j: j.cores):\n        if cluster.free >= job.cores:\n" +
			"            yield job.start()\n\n\nrun()\n",
	} {
		path := filepath.Join(here, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	at := filepath.Join(here, "exp")
	archive := filepath.Join(there, "studied.tar.gz")
	for _, args := range [][]string{{"run", "studied.hcl"}, {"export", "bundle", "results/studied", "-o", archive}} {
		if c := tfexp(at, args...); c.status(t) != command.ExitOK {
			t.Fatalf("%q: %s", args, c.stderr.String())
		}
	}
	if c := tfexp(at, "export", "bundle", "results/studied", "-o", filepath.Join(there, "x.tar.gz"), "--most", "1KiB"); c.status(t) !=
		command.ExitUsage || !strings.Contains(c.stderr.String(), "--most") {
		t.Errorf("an archive above --most: %s", c.stderr.String())
	}
	script := `set -e
mount -t tmpfs none "$1"
test ! -e "$1/exp"
cd "$2" && tar xzf studied.tar.gz && cd studied
tfexp run exp/studied.hcl >run.txt 2>&1
tfexp resume results/studied >resume.txt 2>&1
tfexp run exp/studied.hcl --out fresh >fresh.txt 2>&1
tfexp check results/studied >check.txt 2>&1
`
	out, err := exec.Command("unshare", "-m", "sh", "-c", script, "sh", here, there).CombinedOutput()
	said := func(name string) string {
		raw, _ := os.ReadFile(filepath.Join(there, "studied", name))
		return string(raw)
	}
	if err != nil {
		t.Fatalf("%v: %s\n%s\n%s\n%s\n%s", err, out, said("run.txt"), said("resume.txt"), said("fresh.txt"), said("check.txt"))
	}
	if !strings.Contains(said("run.txt"), "0 cells ran, 2 reused") || !strings.Contains(said("fresh.txt"), "2 cells ran") {
		t.Errorf("%s\n%s", said("run.txt"), said("fresh.txt"))
	}
	for _, name := range []string{"metrics.csv", "comparisons.csv"} {
		was, err := os.ReadFile(filepath.Join(there, "studied", "results", "studied", name))
		if again := said("fresh/studied/" + name); err != nil || again != string(was) {
			t.Errorf("%s elsewhere:\n%s\nhere:\n%s", name, again, was)
		}
	}
}
