//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
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

// The moments at which tfexp is killed: a stage, and a function that reports whether it has begun.
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

// tfexp is killed at random moments, repeatedly. No finished work may be lost or done twice, and no process may remain.
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
		x := &torture{crash: newCrash(t, combination{engine: engine, kind: "torture"}, random),
			nobody: engine == "process" && os.Getuid() == 0 && folder%4 != 3}
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
	*crash
	nobody   bool            // whether the run has no privileges, and so no control groups
	finished map[string]bool // finished units according to the journal, before the last start
}

func (x *torture) journal() string {
	raw, err := os.ReadFile(filepath.Join(x.results(), record.JournalFile))
	if err != nil {
		return ""
	}
	return string(raw)
}

// kill starts the run, and kills it some time after a moment has begun. If both is set, it kills the guardian too. It
// reports whether the run was still active.
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

// command returns the command of the run.
func (x *torture) command() *started {
	s := x.tfexp("run", "x.hcl", "--quiet")
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

func (x *torture) nothingRuns() {
	x.Helper()
	for end := time.Now().Add(20 * time.Second); len(x.running()) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			x.Fatalf("left running: %q", x.running())
		}
	}
}

// check checks the journal from the byte `before` on: no cell or sample that had finished earlier may begin again.
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

// finish lets the run end. All results must exist, and no other files.
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
}
