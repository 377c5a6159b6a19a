package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
)

// studied is an experiment whose log and policy program are in the folder above.
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

// An archive of an experiment is unpacked on a machine without the original files, simulated by a mount namespace. With
// its results, nothing runs again; without them, all cells run.
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
	writeStudy(t, here, studied)
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
[ "$(stat -c %a results/studied)" = 700 ] || { echo "others can read the results"; exit 1; }
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

// writeStudy writes an experiment with the files that it reads below a folder.
func writeStudy(t *testing.T, here, experiment string) {
	t.Helper()
	for name, text := range map[string]string{
		"exp/studied.hcl": experiment,
		"data/log.csv":    "submit_time,run_time,threads\n0,100,3\n10,50,2\n20,10,1\n",
		"exp/policies/mine.py": "from tfexp_policy import policy, run\nimport ordering as o\n\n\n@policy\n" +
			"def decide(now, waiting, running, cluster):\n    for job in sorted(waiting, key=o.key):\n" +
			"        if cluster.free >= job.cores:\n            yield job.start()\n\n\nrun()\n",
		"exp/policies/ordering.py": "def key(job):\n    return job.cores\n",
	} {
		path := filepath.Join(here, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A copied folder of results is resumed on a machine without the original files, and its experiment file is run there.
// The copy has the log, the policy's program, and the module that the program imports.
func TestResultsRunElsewhere(t *testing.T) {
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
	writeStudy(t, here, strings.ReplaceAll(studied, "../data/log.csv", filepath.Join(here, "data/log.csv")))
	at := filepath.Join(here, "exp")
	if c := tfexp(at, "run", "studied.hcl"); c.status(t) != command.ExitOK {
		t.Fatal(c.stderr.String())
	}
	script := `set -e
cp -r "$1/exp/results/studied" "$2/kept"
rm -r "$2/kept/cells"/*mine*/ "$2/kept/cache.db"
mount -t tmpfs none "$1"
test ! -e "$1/exp"
cd "$2"
tfexp resume kept >resume.txt 2>&1
tfexp run kept/experiment.hcl --out fresh >fresh.txt 2>&1
tfexp check kept >check.txt 2>&1
`
	out, err := exec.Command("unshare", "-m", "sh", "-c", script, "sh", here, there).CombinedOutput()
	said := func(name string) string {
		raw, _ := os.ReadFile(filepath.Join(there, name))
		return string(raw)
	}
	if err != nil {
		t.Fatalf("%v: %s\n%s\n%s\n%s", err, out, said("resume.txt"), said("fresh.txt"), said("check.txt"))
	}
	if !strings.Contains(said("resume.txt"), "1 cell ran, 1 reused") || !strings.Contains(said("fresh.txt"), "2 cells ran") {
		t.Errorf("%s\n%s", said("resume.txt"), said("fresh.txt"))
	}
	for _, name := range []string{"metrics.csv", "comparisons.csv"} {
		was, err := os.ReadFile(filepath.Join(at, "results", "studied", name))
		if again := said("fresh/studied/" + name); err != nil || again != string(was) || said("kept/"+name) != string(was) {
			t.Errorf("%s elsewhere:\n%s\nresumed:\n%s\nhere:\n%s", name, again, said("kept/"+name), was)
		}
	}
}

// Input files larger than keep_inputs are listed with their digest, and a warning names them.
func TestInputsLeftOut(t *testing.T) {
	here := t.TempDir()
	writeStudy(t, here, strings.Replace(studied, "{ replicates = 1 }", "{\nreplicates = 1\nkeep_inputs = \"60B\"\n}", 1))
	c := tfexp(filepath.Join(here, "exp"), "run", "studied.hcl")
	var said bytes.Buffer
	c.Stdout = &said
	if c.status(t) != command.ExitOK || !strings.Contains(said.String()+c.stderr.String(), "have no copy of 2 input files (") {
		t.Errorf("%s\n%s", said.String(), c.stderr.String())
	}
	raw, err := os.ReadFile(filepath.Join(here, "exp/results/studied/inputs.json"))
	if n := strings.Count(string(raw), `"sha256": "`); err != nil || n != 3 ||
		strings.Count(string(raw), "the copies would be larger than keep_inputs") != 2 {
		t.Errorf("%v: %s", err, raw)
	}
	if _, err := os.Stat(filepath.Join(here, "exp/results/studied/inputs/exp/policies/ordering.py")); err != nil {
		t.Error("the smallest is copied: ", err)
	}
}
