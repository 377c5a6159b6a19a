//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
)

var (
	kills         = flag.Int("kills", 0, "how often TestTorture kills tfexp")
	killsInDocker = flag.Bool("docker", false, "whether every third experiment of TestTorture runs in containers")
	killsSeed     = flag.Uint64("kills-seed", 1, "what the moments of TestTorture are drawn from")
)

// tortured is an experiment whose stages each take a moment. Its jobs are recognized by their environment.
const tortured = `
experiment "tortured" {
  replicates = 3
}
job "short" {
  %[1]s
  epochs  = 3
}
job "forks" {
  %[2]s
  epochs  = 2
}
workload "w" {
  submit {
    job   = job.short
    count = 2
  }
  submit { job = job.forks }
}
hardware "h" {
  engine  = "%[3]s"
  threads = 2
}
policy "fcfs" { order = "fcfs" }
policy "rr" {
  order   = "round_robin"
  quantum = "100ms"
}
compare "mean_jct" { baseline = policy.fcfs }
plot "gantt" {}
plot "jct" {}
`

// torturedFile is the experiment for an engine; token is in the arguments of all its processes.
func torturedFile(engine, token string) string {
	short := fmt.Sprintf(`command = ["sh", "-c", "sleep 0.$TFEXP_EPOCHS; : %s"]`, token)
	// It starts a process that leaves its session, has no environment, and loses its parent.
	away := fmt.Sprintf(`(env -i setsid sh -c 'sleep 1000; : away %s' &) ; `, token)
	if engine == "docker" {
		away = ""
	}
	forks := fmt.Sprintf(`command = ["sh", "-c", "%[2]s(sleep 0.2; : %[1]s) & sh -c 'sleep 0.$TFEXP_EPOCHS; : %[1]s'; wait"]`, token, away)
	if engine == "docker" {
		const image = "\n  image   = \"tfexp/builtin:latest\""
		short, forks = short+image, forks+image
	}
	return fmt.Sprintf(tortured, short, forks, engine)
}

// The moments at which tfexp is killed: in a stage, with the sign that it has begun.
var moments = []struct {
	name  string
	begun func(dir, journal string) bool
}{
	{"start", func(string, string) bool { return true }},
	{"profile", func(dir, journal string) bool {
		return command.Exists(filepath.Join(dir, record.SamplesDir)) && !strings.Contains(journal, `"cell_start"`)
	}},
	{"execute", func(_, journal string) bool { return strings.Contains(journal, `"cell_start"`) }},
	{"fidelity", func(_, journal string) bool { return strings.Contains(journal, `"cell_simulated"`) }},
	{"plot", func(_, journal string) bool { return strings.Contains(journal, `"unit":"tables"`) }},
	{"report", func(_, journal string) bool { return strings.Contains(journal, `"unit":"plot"`) }},
}

// tfexp is killed at random moments, again and again: nothing that had finished is lost or done twice, and nothing
// runs on.
func TestTorture(t *testing.T) {
	if *kills == 0 {
		t.Skip("make torture kills tfexp again and again")
	}
	random := rand.New(rand.NewPCG(*killsSeed, 0))
	at := map[string]int{}
	for done, folder := 0, 0; done < *kills; folder++ {
		engine := "process"
		if *killsInDocker && folder%3 == 2 {
			engine = "docker"
		}
		x := &torture{T: t, engine: engine, dir: t.TempDir(), nobody: engine == "process" && os.Getuid() == 0 && folder%4 != 3, token: fmt.Sprintf("tortured-%d-%d", os.Getpid(), folder)}
		if err := os.WriteFile(filepath.Join(x.dir, "tortured.hcl"), []byte(torturedFile(engine, x.token)),
			0o644); err != nil {
			t.Fatal(err)
		}
		if x.nobody {
			if err := errors.Join(os.Chmod(filepath.Dir(x.dir), 0o755), os.Chown(x.dir, 65534, 65534),
				need.Copy("/proc/self/exe", filepath.Join(x.dir, "tfexp"))); err != nil {
				t.Fatal(err)
			}
			engine += " as nobody"
		}
		for killed := true; killed && done < *kills; {
			m := moments[random.IntN(len(moments))]
			wait := time.Duration(random.Int64N(int64(300 * time.Millisecond)))
			if killed = x.kill(m.begun, wait, random.IntN(4) == 0); killed {
				at[engine+" in "+m.name]++
				done++
			}
		}
		x.finish()
		if t.Failed() {
			t.Fatalf("after %d kills of seed %d", done, *killsSeed)
		}
	}
	t.Logf("%d kills: %v", *kills, at)
}

// torture is one experiment that is killed.
type torture struct {
	*testing.T
	engine, dir, token string
	nobody             bool            // run by a user without rights, and so without control groups
	finished           map[string]bool // units finished by the journal, before the last start
}

func (x *torture) results() string { return filepath.Join(x.dir, "results", "tortured") }

func (x *torture) journal() string {
	raw, err := os.ReadFile(filepath.Join(x.results(), record.JournalFile))
	if err != nil {
		return ""
	}
	return string(raw)
}

// kill starts the run and kills it, with its guardian as well if both is set, some time after a moment. It reports
// whether it was still running.
func (x *torture) kill(begun func(dir, journal string) bool, wait time.Duration, both bool) bool {
	before := len(x.journal())
	s := x.command()
	if err := s.Start(); err != nil {
		x.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Wait() }()
	for !begun(x.results(), x.journal()[min(before, len(x.journal())):]) {
		select {
		case <-ended:
			x.check(before)
			return false
		case <-time.After(2 * time.Millisecond):
		}
	}
	select {
	case <-ended:
		x.check(before)
		return false
	case <-time.After(wait):
	}
	guardians := childrenNamed(s.Process.Pid, "job-guardian")
	_ = s.Process.Kill()
	if both {
		for _, pid := range guardians {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	<-ended
	if !both && x.engine == "process" {
		x.nothingRuns()
	}
	x.check(before)
	return true
}

// command is the run.
func (x *torture) command() *started {
	s := tfexp(x.dir, "run", "tortured.hcl", "--quiet")
	if x.nobody {
		s.Path = filepath.Join(x.dir, "tfexp")
		s.Env = append(os.Environ(), "HOME="+x.dir, "PATH=/usr/local/bin:/usr/bin:/bin")
		s.SysProcAttr = &syscall.SysProcAttr{Credential: need.Nobody}
	}
	return s
}

// childrenNamed returns the children of a process with a name.
func childrenNamed(parent int, name string) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		raw, _ := os.ReadFile(path)
		_, rest, ok := strings.Cut(string(raw), "("+name+") ")
		if fields := strings.Fields(rest); ok && len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// running lists the processes and containers of the experiment.
func (x *torture) running() (left []string) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		raw, _ := os.ReadFile(path)
		if bytes.Contains(raw, []byte(x.token)) {
			left = append(left, filepath.Dir(path)+" "+string(bytes.ReplaceAll(raw, []byte{0}, []byte{' '})))
		}
	}
	return left
}

func (x *torture) nothingRuns() {
	x.Helper()
	for end := time.Now().Add(20 * time.Second); len(x.running()) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			x.Fatalf("left running: %q", x.running())
		}
	}
}

// check checks the journal after its first before bytes: no cell or sample that had finished before was begun
// again.
func (x *torture) check(before int) {
	x.Helper()
	if x.finished == nil {
		x.finished = map[string]bool{}
	}
	for line := range strings.Lines(x.journal()[min(before, len(x.journal())):]) {
		var e store.JournalEntry
		if json.Unmarshal([]byte(line), &e) != nil {
			continue // torn by the kill
		}
		switch e.Event {
		case "cell_start":
			if x.finished[e.Unit] {
				x.Errorf("the cell %s had finished and was run again: %s", e.Unit, e.Text)
			}
		case "cell_end":
			if e.State != record.CellFinished {
				x.Errorf("the cell %s ended as %s: %s", e.Unit, e.State, e.Text)
			}
			x.finished[e.Unit] = true
		case "sample":
			if x.finished["sample "+e.Unit] {
				x.Errorf("the sample %s was there and was taken again", e.Unit)
			}
			x.finished["sample "+e.Unit] = true
		}
	}
}

// finish lets the run end: all results exist, and nothing else remains.
func (x *torture) finish() {
	x.Helper()
	before := len(x.journal())
	s := x.command()
	if code := s.status(x.T); code != command.ExitOK {
		x.Fatalf("the last run ended with %d: %s", code, s.stderr.String())
	}
	x.check(before)
	x.nothingRuns()
	e, err := record.Open(x.results())
	if err != nil || len(e.Cells) != 6 || len(e.Missing) > 0 {
		x.Fatalf("%d cells, %d missing, %v", len(e.Cells), len(e.Missing), err)
	}
	for _, c := range e.Cells {
		if c.State != record.CellFinished {
			x.Errorf("the cell %s is %s: %s", c.Cell, c.State, c.Error)
		}
	}
	for _, name := range []string{record.ReportFile, "metrics.csv", "plots/jct.svg"} {
		if info, err := os.Stat(filepath.Join(x.results(), name)); err != nil || info.Size() == 0 {
			x.Errorf("%s is not there: %v", name, err)
		}
	}
	left, _ := filepath.Glob(filepath.Join(x.results(), ".scratch-*"))
	if len(left) > 0 {
		x.Errorf("left behind: %q", left)
	}
	if x.engine == "docker" {
		out, err := exec.Command("docker", "ps", "-aq", "--filter", "label=tfexp.folder="+x.results()).Output()
		if err != nil || len(out) > 0 {
			x.Errorf("containers are left: %s %v", out, err)
		}
	}
}
