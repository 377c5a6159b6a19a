package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// everyCommand has arguments for each command. The folder has the experiment shy.hcl and its results in sim and real.
// Commands that make files make them below written.
var everyCommand = [][]string{
	{"init", "written/new.hcl"}, {"init", "written/own.hcl", "--template", "simulated"},
	{"validate", "shy.hcl", "--json"}, {"fmt", "shy.hcl", "--diff"}, {"schema"}, {"language-server"}, {"policies"},
	{"plan", "shy.hcl", "--cells", "--out", "sim"}, {"plan", "shy.hcl", "--json", "--out", "real", "-var", "engine=process"},
	{"run", "shy.hcl", "--out", "sim", "--json"}, {"run", "shy.hcl", "--out", "sim", "--fresh"}, {"resume", "real/shy"},
	{"status", "sim"}, {"status", "real", "--json"}, {"top", "sim"}, {"top", "real"}, {"serve", "real"},
	{"logs", "real/shy", "w-h-fcfs-r1", "fetch-1"}, {"logs", "real", "--json"}, {"explain", "real/shy", "w-h-fcfs-r1", "--json"},
	{"explain", "real/shy", "w-h-fcfs-r1", "--job", "fetch-1"}, {"explain", "sim/shy", "w-h-fcfs-r1"},
	{"compare", "sim", "real", "--json"}, {"plot", "sim", "-o", "written/figures", "--format", "svg,pdf"}, {"report", "real"},
	{"export", "workload", "shy.hcl", "-o", "written/jobs.csv"}, {"export", "workload", "shy.hcl", "--json"},
	{"export", "table", "jobs", "--dir", "real", "--format", "parquet", "-o", "written/jobs.parquet"},
	{"export", "table", "summary", "--dir", "sim", "--format", "json"},
	{"export", "bundle", "real/shy", "-o", "written/bundle.tar.gz"}, {"export", "bundle", "sim/shy", "-o", "written/sim.tar.gz"},
	{"export", "platform", "shy.hcl", "-o", "written/platform.json"}, {"export", "statistics", "--dir", "real", "-o", "written/s.csv"},
	{"check", "sim"}, {"check", "real", "--json"}, {"estimate", "real"}, {"estimate", "real", "--json"}, {"results", "sim"},
	{"results", "rm", "gone/shy"}, {"import", "runs", "runs", "--out", "imported"}, {"when", "shy.hcl"}, {"doctor", "--out", "sim"},
	{"completion", "bash"}, {"version", "--json"}, {"help", "run"}, {"help", "language", "variable"}, {"task", "sim/shy", "0"},
	{"train", "softmax", "--help"},
}

// TestSensitiveInEveryCommand gives a random secret to every command. The secret must not be in any written or printed
// data, also not compressed, or in the command line of any process.
func TestSensitiveInEveryCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every command")
	}
	s := newSensitiveRuns(t)
	quiet := strings.NewReplacer("echo the token is $TOKEN; ", "", `    [var.token, local.header])`, `    ["arguments", "are", "seen"])`,
		`&& test "$1" = "$TOKEN" `, "", `&& test \"$1\" = \"$TOKEN\" `, "").Replace(shy)
	s.write("shy.hcl", quiet)
	var leaves []string
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Runnable() && c.HasParent() {
			leaves = append(leaves, strings.TrimPrefix(c.CommandPath(), "tfexp "))
		}
		for _, inner := range c.Commands() {
			walk(inner)
		}
	}
	walk(newApp(io.Discard, io.Discard).command())
	for _, name := range leaves {
		if !slices.ContainsFunc(everyCommand, func(args []string) bool { return strings.HasPrefix(strings.Join(args, " ")+" ", name+" ") }) {
			t.Errorf("the command %q is not tried", name)
		}
	}
	if err := os.Mkdir(filepath.Join(s.dir, "written"), 0o755); err != nil {
		t.Fatal(err)
	}
	seen := s.watchArguments()
	env := []string{"TFEXP_VAR_token=" + shyToken, "TFEXP_VAR_gap=10ms"}
	s.run(0, env, "run", "shy.hcl", "--out", "sim")
	s.run(0, env, "run", "shy.hcl", "--out", "gone")
	s.run(4, env, "run", "shy.hcl", "--out", "real", "-var", "engine=process", "--notify", "env >written/notified")
	for _, args := range everyCommand {
		if args[0] == "serve" {
			s.served(env, args[1])
			continue
		}
		s.any(env, args...)
	}
	if lines := seen(); len(lines) > 0 {
		t.Errorf("command lines have the value: %q", lines)
	}
	if s.printed.Len() < 20_000 {
		t.Errorf("the commands have printed %d bytes", s.printed.Len())
	}
	for line := range strings.SplitSeq(strings.ToLower(s.printed.String()), "\n") {
		if strings.Contains(line, shyToken) {
			t.Errorf("a command has printed %q", line)
		}
	}
	if found := s.leaks(".", shyToken); !slices.Equal(found, []string{"wanted.txt"}) {
		t.Errorf("files have the value: %q", found)
	}
	for _, name := range []string{"figures", "jobs.csv", "jobs.parquet", "bundle.tar.gz", "platform.json", "notified"} {
		if _, err := os.Stat(filepath.Join(s.dir, "written", name)); err != nil {
			t.Errorf("a command has not written its file: %v", err)
		}
	}
	packed, err := os.ReadFile(filepath.Join(s.dir, "written/bundle.tar.gz"))
	if err != nil || !bytes.Contains(bytes.Join(unpacked(packed), nil), []byte("(sensitive:")) {
		t.Error("the search does not look into archives")
	}
}

// refused lists commands that must refuse this experiment.
var refused = []string{"export statistics", "when shy.hcl", "task sim/shy", "run shy.hcl --out foreign"}

// any runs a command, and accepts every exit status except wrong usage.
func (s *sensitiveRuns) any(env []string, args ...string) {
	s.t.Helper()
	cmd := exec.Command(s.program, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), append([]string{noRaceSleep, "XDG_CONFIG_HOME=" + filepath.Join(s.dir, "config")}, env...)...)
	out, _ := cmd.CombinedOutput()
	s.printed.Write(out)
	if code := cmd.ProcessState.ExitCode(); code < 0 ||
		code == 2 && !slices.ContainsFunc(refused, func(r string) bool { return strings.HasPrefix(strings.Join(args, " "), r) }) {
		s.t.Errorf("tfexp %s: exit status %d\n%s", strings.Join(args, " "), code, out)
	}
}

// served runs the command that serves a folder, and returns its page and data.
func (s *sensitiveRuns) served(env []string, dir string) {
	s.t.Helper()
	cmd := exec.Command(s.program, "serve", dir, "--port", "0")
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), append(env, noRaceSleep)...)
	var said syncedBuffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	address := regexp.MustCompile(`http://[0-9a-z.:\[\]]+`)
	waitFor(s.t, "the page's address", func() bool { return address.MatchString(said.String()) })
	base := address.FindString(said.String())
	for _, path := range []string{"/", "/api/experiments", "/api/experiments/shy", "/api/experiments/shy/cell?cell=w-h-fcfs-r1",
		"/results/shy/report.html", "/results/shy/plan.json", "/metrics"} {
		answer, err := http.Get(base + path)
		if err != nil {
			s.t.Error(err)
			continue
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK || len(text) == 0 {
			s.t.Errorf("%s: %s", path, answer.Status)
		}
		s.printed.Write(text)
	}
	_ = cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait()
	s.printed.WriteString(said.String())
}

// syncedBuffer is a buffer that can be read while a program writes to it.
type syncedBuffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *syncedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *syncedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

// watchArguments reads the command lines of all processes repeatedly. The returned function ends this, and returns the
// command lines with the secret.
func (s *sensitiveRuns) watchArguments() func() []string {
	stop, ended := make(chan struct{}), make(chan []string)
	go func() {
		var found []string
		for {
			paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, path := range paths {
				if raw, _ := os.ReadFile(path); bytes.Contains(bytes.ToLower(raw), []byte(shyToken)) {
					found = append(found, string(raw))
				}
			}
			select {
			case <-stop:
				ended <- found
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() []string { close(stop); return <-ended }
}

// TestModes: only the user can read results that are not shared, even in a folder that others can read. With any umask,
// only the user can write to the files that commands make.
func TestModes(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many commands")
	}
	for _, umask := range []int{0, 0o022, 0o077} {
		t.Run(fmt.Sprintf("%03o", umask), func(t *testing.T) {
			s := newSensitiveRuns(t)
			s.write("shy.hcl", strings.Replace(shy, "echo the token is $TOKEN; ", "", 1))
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			// An existing file keeps its mode. A folder with other files is refused and stays unchanged.
			must(os.MkdirAll(filepath.Join(s.dir, "foreign/shy"), 0o755))
			must(os.WriteFile(filepath.Join(s.dir, "foreign/shy/experiment.hcl"), []byte("not of tfexp"), 0o644))
			must(os.MkdirAll(filepath.Join(s.dir, "old/shy"), 0o755))
			was := syscall.Umask(umask)
			defer syscall.Umask(was)
			env := []string{"TFEXP_VAR_token=" + shyToken, "TFEXP_VAR_gap=10ms"}
			must(os.Mkdir(filepath.Join(s.dir, "written"), 0o755))
			s.run(0, env, "run", "shy.hcl", "--out", "sim")
			if out := s.run(0, env, "run", "shy.hcl", "--out", "old"); !strings.Contains(out, "from now on only you can") {
				t.Errorf("not said:\n%s", out)
			}
			s.run(4, env, "run", "shy.hcl", "--out", "real", "-var", "engine=process", "--share")
			s.any(env, "run", "shy.hcl", "--out", "foreign")
			mode := func(path string) fs.FileMode {
				info, err := os.Stat(filepath.Join(s.dir, path))
				must(err)
				return info.Mode().Perm()
			}
			for path, want := range map[string]fs.FileMode{"sim/shy": 0o700, "old/shy": 0o700, "real/shy": 0o755} {
				if got := mode(path); got != want {
					t.Errorf("%s has the mode %v, want %v", path, got, want)
				}
			}
			s.run(4, env, "resume", "real/shy", "--share")
			if got := mode("real/shy"); got != 0o755 {
				t.Errorf("resumed with --share: %v", got)
			}
			for _, args := range everyCommand {
				if args[0] != "serve" && args[0] != "results" {
					s.any(env, args...)
				}
			}
			if got := mode("real/shy"); got != 0o700 {
				t.Errorf("resumed without --share: %v", got)
			}
			for path, want := range map[string]fs.FileMode{"written/bundle.tar.gz": 0o600, "imported/runs": 0o700, "config/tfexp/key": 0o600} {
				if mode(path) != want {
					t.Errorf("%s has the mode %v, want %v", path, mode(path), want)
				}
			}
			must(filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
				rel, _ := filepath.Rel(s.dir, path)
				if err != nil || rel == "." || rel == "shy.hcl" || rel == "wanted.txt" || strings.HasPrefix(rel, "runs") || e.Type() == fs.ModeSymlink {
					return err
				}
				info, err := e.Info()
				if err == nil && info.Mode().Perm()&0o022 != 0 {
					t.Errorf("others may write to %s: %v", rel, info.Mode())
				}
				return err
			}))
		})
	}
}
