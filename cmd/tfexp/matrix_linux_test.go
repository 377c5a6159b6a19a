package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/pipeline/history"
	"github.com/tfexp/tfexp/results/record"
)

var (
	crashes     = flag.Int("crashes", 0, "the percentage of its combinations that TestCrashAndResume tries, drawn; 0: none")
	crashesSeed = flag.Uint64("crashes-seed", uint64(time.Now().UnixNano()), "what TestCrashAndResume draws from")
	crashesOf   = flag.String("crashes-of", "", "a regular expression: which combinations TestCrashAndResume tries")
)

// combination is a fault, an engine and a kind of experiment.
type combination struct{ engine, fault, kind string }

func (c combination) String() string { return c.engine + "/" + c.fault + "/" + c.kind }

var (
	enginesOfMatrix = []string{"process", "docker", "slurm", "simulated"}
	kindsOfMatrix   = []string{"plain", "search", "shards", "policy", "deepening"}
	faultsOfMatrix  = []string{"tfexp", "guardian", "both", "daemon", "clock", "full", "moved"}
)

// senseless returns why a combination is impossible; empty if it is possible.
func (c combination) senseless() string {
	real := c.engine != "simulated"
	switch {
	case c.fault == "daemon" && (c.engine == "process" || !real):
		return "the engine has no daemon"
	case c.kind == "shards" && real:
		return "cells that run for real have files of their own"
	case (c.fault == "guardian" || c.fault == "both") && c.engine != "process" && c.kind != "policy":
		return "the guardian starts jobs of the engine process and external policies: this run has none"
	}
	return ""
}

// missing lists what this machine lacks for a combination; empty if it lacks nothing.
func (c combination) missing(t *testing.T) string {
	if c.fault == "clock" && !ownClock() {
		if c.engine == "docker" || c.engine == "slurm" {
			return "the machine whose clock is set has no daemons"
		}
		if _, err := exec.LookPath(ownMachine); err != nil {
			return "no " + ownMachine + " of Debian's user-mode-linux, a machine whose clock can be set"
		}
	}
	if c.kind == "policy" {
		if _, err := exec.LookPath("python3"); err != nil {
			return "no python3, in which the policy is written"
		}
	}
	switch c.engine {
	case "docker":
		if err := exec.Command("docker", "image", "inspect", "tfexp/builtin:latest").Run(); err != nil {
			return "no Docker daemon with the image tfexp/builtin (.ci/docker, stages/builtin/build-image.sh)"
		}
		if c.fault == "daemon" && daemonOfTests() == 0 {
			return "the Docker daemon was not started by .ci/docker: tests do not kill it"
		}
	case "slurm":
		if err := exec.Command("sinfo", "-h").Run(); err != nil {
			return "no Slurm cluster (hardware/slurm/cluster.sh start)"
		}
		if c.fault == "daemon" && os.Getenv("SLURM_CONF") == "" {
			return "the Slurm cluster was not started by cluster.sh: tests do not kill its controller"
		}
	}
	return ""
}

// daemonOfTests is the Docker daemon that .ci/docker has started; 0 if it has not.
func daemonOfTests() int {
	raw, _ := os.ReadFile("/run/tfexp-dockerd.pid")
	pid, _ := strconv.Atoi(strings.TrimSpace(string(raw)))
	if comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); pid <= 0 || strings.TrimSpace(string(comm)) != "dockerd" {
		return 0
	}
	return pid
}

// crash is a run of a combination.
type crash struct {
	*testing.T
	combination
	random *rand.Rand
	dir    string // has the file x.hcl and results
	out    string
}

func newCrash(t *testing.T, c combination, random *rand.Rand) *crash {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	x := &crash{T: t, combination: c, random: random, dir: dir, out: filepath.Join(dir, "results")}
	class, image := "real ", ""
	if c.engine == "simulated" {
		class = ""
		c.kind = "simulated " + c.kind
	}
	if c.engine == "docker" {
		image = `image = "tfexp/builtin:latest"`
	}
	away := ""
	if c.engine == "process" {
		away = fmt.Sprintf("(env -i setsid sh -c 'while :; do sleep 0.5; done; : %s' </dev/null >/dev/null 2>&1 &) ; ", dir)
	}
	threads := min(2, len(hardware.AllowedCPUs()))
	changes, malleable := "changes {\n at = \"300ms\"\n threads = 2\n }", "true"
	if c.engine == "slurm" || threads == 1 {
		changes, malleable = "", "false"
	}
	policy, err := filepath.Abs("../../jobs/tfexp_policy/examples/easy.py")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("ENGINE", c.engine, "IMAGE", image, "AWAY", away, "POLICY", policy, "CHANGES", changes,
		"MALLEABLE", malleable, "THREADS", strconv.Itoa(threads)).Replace(experimentsOfMatrix[class+c.kind])
	var table strings.Builder
	table.WriteString("batch,rate,time,accuracy\n")
	for i := range 64 {
		fmt.Fprintf(&table, "%d,%d,%d,0.9\n", i/8+1, i%8+1, 100+(i/8-4)*(i/8-4)+2*(i%8-3)*(i%8-3))
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "x.hcl"), []byte(text), 0o644),
		os.WriteFile(filepath.Join(dir, "table.csv"), []byte(table.String()), 0o644),
		writeScenario(filepath.Join(dir, "cnn1.csv"), "early")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.endAll() })
	return x
}

// writeScenario writes the trainings of a scenario that were measured for a paper.
func writeScenario(path, scenario string) error {
	raw, err := os.ReadFile("../../experiments/papers/adaptation/cnn1.csv")
	head, rows, _ := strings.Cut(string(raw), "\n")
	text := head + "\n"
	for row := range strings.Lines(rows) {
		if strings.Contains(row, scenario) {
			text += row
		}
	}
	return errors.Join(err, os.WriteFile(path, []byte(text), 0o644))
}

// results is the folder of the experiment's results.
func (x *crash) results() string { return filepath.Join(x.out, "x") }

// tfexp is the command, with its arguments.
func (x *crash) tfexp(args ...string) *started {
	s := tfexp(x.dir, args...)
	s.Env = os.Environ()
	return s
}

// runs runs the command to its end, within some minutes, and returns its exit status.
func (x *crash) runs(s *started) int {
	x.Helper()
	if s.Process == nil {
		if err := s.Start(); err != nil {
			x.Fatal(err)
		}
	}
	most := 5 * time.Minute
	if ownClock() { // a machine that runs as a program is many times slower
		most = 25 * time.Minute
	}
	late := time.AfterFunc(most, func() {
		x.Errorf("%s: %q has no end", x.combination, s.Args)
		_ = s.Process.Kill()
	})
	defer late.Stop()
	_ = s.Wait()
	return s.ProcessState.ExitCode()
}

// befall starts the run and causes the fault at the change of results with the number from. If the fault needs a
// guardian and none exists yet, a later change is used. It returns false if the run ended before.
func (x *crash) befall(from int) bool {
	x.Helper()
	s := x.tfexp("run", "--quiet", "x.hcl")
	f := fault{"halt", from, filepath.Join(x.dir, "halted")}
	if x.fault == "full" {
		f.do = "full"
		s.Env = append(s.Env, f.String())
		return x.runs(s) != command.ExitOK
	}
	s.Env = append(s.Env, f.String())
	if err := s.Start(); err != nil {
		x.Fatal(err)
	}
	ended, status := make(chan struct{}), 0
	go func() { status = x.runs(s); close(ended) }()
	var guardians []int
	for f.awaitHalt(ended) {
		guardians = childrenNamed(s.Process.Pid, "job-guardian")
		if len(guardians) > 0 || x.fault != "guardian" && x.fault != "both" {
			break
		}
		f.release(x.T, false)
	}
	select {
	case <-ended:
		return false
	default:
	}
	kill := func(pids ...int) {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	killed := false
	switch x.fault {
	case "tfexp":
		killed = true
	case "guardian":
		kill(guardians...)
	case "both":
		for _, pid := range guardians { // a halted guardian cannot notice the end of tfexp
			_ = syscall.Kill(pid, syscall.SIGSTOP)
		}
		kill(append([]int{s.Process.Pid}, guardians...)...)
		killed = true
	case "daemon":
		x.killDaemon()
	case "clock":
		killed = x.random.IntN(2) == 0
		x.setClock()
	case "moved":
		to := filepath.Join(x.dir, "moved")
		if killed = x.random.IntN(2) == 0; killed {
			kill(s.Process.Pid)
			<-ended
		}
		if err := os.Rename(x.out, to); err != nil && !errors.Is(err, fs.ErrNotExist) { // the folder may not exist yet
			x.Fatal(err)
		} else if err == nil {
			x.out = to
		}
	}
	if killed {
		kill(s.Process.Pid)
	} else {
		f.release(x.T, true)
	}
	if x.fault == "daemon" {
		time.Sleep(time.Second)
		x.startDaemon()
	}
	<-ended
	switch {
	case x.fault == "moved":
		_ = os.Rename(filepath.Join(x.dir, "results"), filepath.Join(x.dir, "made-again")) // made by the run
	case x.fault == "clock" && !killed && status != command.ExitOK:
		x.Errorf("%s: the run ended with %d: %s", x.combination, status, s.stderr.String())
	}
	return true
}

// killDaemon kills the engine's daemon.
func (x *crash) killDaemon() {
	x.Helper()
	if x.engine == "docker" {
		_ = syscall.Kill(daemonOfTests(), syscall.SIGKILL)
	} else if out, err := exec.Command("../../hardware/slurm/cluster.sh", "kill", "slurmctld").CombinedOutput(); err != nil {
		x.Fatalf("%v: %s", err, out)
	}
}

// startDaemon starts the engine's daemon again.
func (x *crash) startDaemon() {
	x.Helper()
	again := exec.Command("../../hardware/slurm/cluster.sh", "daemon", "slurmctld")
	if x.engine == "docker" {
		again = exec.Command("../../.ci/docker")
	}
	if out, err := again.CombinedOutput(); err != nil {
		x.Fatalf("start the daemon again: %v: %s", err, out)
	}
}

// resume resumes the run in the folder where the results are now.
func (x *crash) resume() {
	x.Helper()
	args := []string{"resume", "--quiet", x.results()}
	if _, err := os.Stat(filepath.Join(x.results(), record.PlanFile)); err != nil { // the run had not begun
		args = []string{"run", "--quiet", "--out", x.out, "x.hcl"}
	}
	s := x.tfexp(args...)
	if code := x.runs(s); code != command.ExitOK {
		x.Errorf("%s: %q ended with %d: %s", x.combination, args, code, s.stderr.String())
	}
}

// running returns the processes, containers and cluster jobs that still belong to the combination's folder.
func (x *crash) running() (left []string) {
	for _, what := range []string{"cmdline", "environ"} {
		paths, _ := filepath.Glob("/proc/[0-9]*/" + what)
		for _, path := range paths {
			if raw, _ := os.ReadFile(path); bytes.Contains(raw, []byte(x.dir)) && filepath.Base(filepath.Dir(path)) != strconv.Itoa(os.Getpid()) {
				line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
				left = append(left, filepath.Dir(path)+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
			}
		}
	}
	switch x.engine {
	case "docker":
		out, _ := exec.Command("docker", "ps", "-a", "--format", `{{.ID}} {{.Label "tfexp.folder"}}`).Output()
		left = append(left, containing(string(out), x.dir)...)
	case "slurm":
		out, _ := exec.Command("squeue", "-h", "-t", "PENDING,RUNNING,SUSPENDED", "-o", "%A %Z %o").Output()
		left = append(left, containing(string(out), x.dir)...)
	}
	return left
}

// containing returns the lines of a text that contain part.
func containing(text, part string) (lines []string) {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// endAll kills the processes that a failed test left running.
func (x *crash) endAll() {
	for _, left := range x.running() {
		id, _, _ := strings.Cut(left, " ")
		switch pid, err := strconv.Atoi(filepath.Base(id)); {
		case strings.HasPrefix(id, "/proc/") && err == nil:
			_ = syscall.Kill(pid, syscall.SIGKILL)
		case x.engine == "docker":
			_ = exec.Command("docker", "rm", "-f", id).Run()
		case x.engine == "slurm":
			_ = exec.Command("scancel", id).Run()
		}
	}
}

// csvs reads the tables of the results, by their names.
func (x *crash) csvs() map[string]string {
	x.Helper()
	all := map[string]string{}
	paths, _ := filepath.Glob(filepath.Join(x.results(), "*.csv"))
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			x.Fatal(err)
		}
		all[filepath.Base(path)] = string(raw)
	}
	return all
}

// outcome describes the end of a real run: how each job of each cell ended, and the existing tables.
func (x *crash) outcome() []string {
	x.Helper()
	var all []string
	for name, text := range x.csvs() {
		all = append(all, name)
		if name != "jobs.csv" {
			continue
		}
		rows := readTable(x.T, filepath.Join(x.results(), name))
		for _, row := range rows {
			all = append(all, fmt.Sprint(row["cell"], " ", row["job"], " ", row["state"]))
		}
		if len(rows) != strings.Count(text, "\n")-1 {
			x.Errorf("%s has %d rows", name, len(rows))
		}
	}
	slices.Sort(all)
	return all
}

// unrecorded returns files of the results that belong to no record.
func (x *crash) unrecorded() (left []string) {
	x.Helper()
	e, err := record.Open(x.results())
	if err != nil {
		x.Errorf("%s: %v", x.combination, err)
		return nil
	}
	known := map[string]bool{}
	for _, c := range slices.Concat(e.Cells, e.Beyond) {
		known[c.Cell] = true
		if c.State != record.CellFinished {
			left = append(left, fmt.Sprintf("%s is %s: %s", c.Cell, c.State, c.Error))
		}
	}
	if len(e.Missing) > 0 {
		left = append(left, fmt.Sprintf("%d cells are missing", len(e.Missing)))
	}
	err = filepath.WalkDir(x.results(), func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(x.results(), path)
		switch base := filepath.Base(path); {
		case err != nil:
			return err
		case strings.HasPrefix(base, ".") && path != x.results(), strings.HasPrefix(base, "processes"), strings.HasSuffix(base, ".tmp"):
			left = append(left, name)
		case d.IsDir() && filepath.Dir(name) == record.CellsDir && !known[base]:
			left = append(left, name+" is of no cell")
		}
		return nil
	})
	if err != nil {
		x.Error(err)
	}
	return left
}

// finishedUnits returns the units that have finished according to the journal, and how often each has begun.
func (x *crash) finishedUnits() (finished map[string]bool, began map[string]int) {
	finished, began = map[string]bool{}, map[string]int{}
	entries, _ := history.ReadJournal(x.results())
	for _, e := range entries {
		switch {
		case e.Event == "cell_start":
			began[e.Unit]++
		case e.Event == "cell_end" && e.State == record.CellFinished:
			finished[e.Unit] = true
		}
	}
	return finished, began
}

// unbroken is the result of a run without a fault.
type unbroken struct {
	changes int               // number of changes of files of results
	tables  map[string]string // tables of simulations that do not differ between runs
	outcome []string          // of real runs
}

func runUnbroken(t *testing.T, c combination) unbroken {
	t.Helper()
	var u unbroken
	for again := range 2 {
		x := newCrash(t, c, nil)
		s := x.tfexp("run", "--quiet", "x.hcl")
		f := fault{"count", 0, filepath.Join(x.dir, "changes")}
		s.Env = append(s.Env, f.String())
		if code := x.runs(s); code != command.ExitOK {
			t.Fatalf("unbroken %s ended with %d: %s", c, code, s.stderr.String())
		}
		raw, err := os.ReadFile(f.file)
		if err != nil {
			t.Fatal(err)
		}
		if u.changes, err = strconv.Atoi(string(raw)); err != nil || u.changes < 10 {
			t.Fatalf("unbroken %s made %q changes", c, raw)
		}
		if left := x.unrecorded(); len(left) > 0 {
			t.Fatalf("unbroken %s leaves %q", c, left)
		}
		if c.engine != "simulated" {
			u.outcome = x.outcome()
			return u
		}
		tables := x.csvs()
		if again == 0 {
			u.tables = tables
			continue
		}
		maps.DeleteFunc(u.tables, func(name, text string) bool { return tables[name] != text })
	}
	if len(u.tables) < 2 || u.tables["metrics.csv"] == "" && u.tables["ranking.csv"] == "" {
		t.Fatalf("unbroken runs of %s agree on %q alone", c, slices.Sorted(maps.Keys(u.tables)))
	}
	return u
}

// After any fault and a resume, the results equal the results of a run without a fault. Nothing still runs, and each
// output has its record. Simulations give identical tables; in real runs the same jobs finish.
func TestCrashAndResume(t *testing.T) {
	if *crashes == 0 {
		t.Skip("make chaos lets everything befall runs on all engines")
	}
	random := rand.New(rand.NewPCG(*crashesSeed, 0))
	want := map[combination]unbroken{}
	counts := map[string]int{}
	skipped := map[string]int{}
	only := regexp.MustCompile(*crashesOf)
	for _, engine := range enginesOfMatrix {
		for _, fault := range faultsOfMatrix {
			for _, kind := range kindsOfMatrix {
				c := combination{engine, fault, kind}
				counts["combinations"]++
				if c.senseless() != "" {
					counts["of them senseless"]++
					continue
				}
				if random.IntN(100) >= *crashes || !only.MatchString(c.String()) {
					counts["of them not drawn"]++
					continue
				}
				if why := c.missing(t); why != "" {
					counts["of them skipped"]++
					skipped[why]++
					continue
				}
				counts["of them tried"]++
				if !t.Run(c.String(), func(t *testing.T) {
					if fault == "clock" && !ownClock() {
						inOwnMachine(t, c)
						return
					}
					of := combination{engine, "", kind}
					if _, ok := want[of]; !ok {
						want[of] = runUnbroken(t, of)
					}
					newCrash(t, c, rand.New(rand.NewPCG(*crashesSeed, uint64(counts["combinations"])))).tries(want[of])
				}) {
					counts["failures"]++
				}
			}
		}
	}
	t.Logf("seed %d: %v", *crashesSeed, counts)
	for why, n := range skipped {
		t.Logf("%d skipped: %s", n, why)
	}
}

// tries causes the fault in a run, resumes the run, and checks the results.
func (x *crash) tries(want unbroken) {
	x.Helper()
	// The number of changes differs between runs, so a fault at the last change may have no effect. A fault at the
	// first change always has an effect.
	for from := 1 + x.random.IntN(want.changes); !x.befall(from); from /= 2 {
		if from == 1 {
			x.Fatalf("%s: nothing befalls the run, which has %d changes", x.combination, want.changes)
		}
		x.Logf("%s: the run ended before change %d", x.combination, from)
		if err := errors.Join(os.RemoveAll(x.out), os.RemoveAll(filepath.Join(x.dir, "made-again"))); err != nil {
			x.Fatal(err)
		}
	}
	finished, before := x.finishedUnits()
	x.resume()
	_, after := x.finishedUnits()
	for cell := range finished {
		if after[cell] > before[cell] {
			x.Errorf("%s: the cell %s had finished and was run again", x.combination, cell)
		}
	}
	if x.engine == "simulated" {
		got := x.csvs()
		for _, name := range slices.Sorted(maps.Keys(want.tables)) {
			if got[name] != want.tables[name] {
				x.Errorf("%s: %s differs:\n%.2000s\nwant\n%.2000s", x.combination, name, got[name], want.tables[name])
			}
		}
	} else if got := x.outcome(); !slices.Equal(got, want.outcome) {
		x.Errorf("%s: there are\n%s\nwant\n%s", x.combination, strings.Join(got, "\n"), strings.Join(want.outcome, "\n"))
	}
	if left := x.unrecorded(); len(left) > 0 {
		x.Errorf("%s: without a record: %q", x.combination, left)
	}
	if left := x.running(); len(left) > 0 {
		x.Errorf("%s: left running: %q", x.combination, left)
	}
}
