package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"
)

// shy passes a sensitive value to jobs in every possible way.
const shy = `
experiment "shy" {
  description = "A token that nobody sees"
  replicates  = 1
}
variable "token" {
  type      = string
  sensitive = true
  validation {
    condition     = strlen(var.token) > 8
    error_message = "the token ${var.token} is too short"
  }
}
variable "engine" { default = "simulated" }
variable "creds" {
  sensitive = true
  type      = map(string)
  default   = {}
}
variable "gap" { default = "1s" }
locals {
  header = "Bearer ${upper(var.token)}"
  words  = concat(["sh", "-c", "test \"$TOKEN\" = \"$(cat $WANTED)\" && test \"$1\" = \"$TOKEN\" && echo got $2; $SAY", "sh"],
    [var.token, local.header])
}
job "fetch" {
  command = local.words
  env     = { TOKEN = var.token, HEADER = "Authorization: ${local.header}", WANTED = "wanted.txt", SAY = "true" }
  epochs  = 1
  runtime { epoch = "2s" }
}
job "loud" {
  command = ["sh", "-c", "echo the token is $TOKEN; case $TFEXP_JOB in *sample*) exit 0; esac; exit 3"]
  env     = { TOKEN = var.token }
  epochs  = 1
  runtime { epoch = "2s" }
}
workload "w" {
  submit {
    job = job.fetch
    at  = "0s"
  }
  submit {
    job = job.loud
    at  = var.gap
  }
}
hardware "h" {
  engine  = var.engine
  threads = 1
}
policy "fcfs" { order = "fcfs" }
`

// The values are random, so that no text contains them by chance.
var (
	shyToken = fmt.Sprintf("x%016x", rand.Uint64())
	shyOther = fmt.Sprintf("y%016x", rand.Uint64())
)

// sensitiveRuns runs tfexp in a folder with its own configuration, and collects its output.
type sensitiveRuns struct {
	t       *testing.T
	program string
	dir     string
	printed bytes.Buffer
}

func (s *sensitiveRuns) run(status int, env []string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command(s.program, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), append([]string{noRaceSleep, "XDG_CONFIG_HOME=" + filepath.Join(s.dir, "config")}, env...)...)
	out, _ := cmd.CombinedOutput()
	s.printed.Write(out)
	if code := cmd.ProcessState.ExitCode(); code != status {
		s.t.Fatalf("tfexp %s: exit status %d, want %d\n%s", strings.Join(args, " "), code, status, out)
	}
	return string(out)
}

func (s *sensitiveRuns) write(name, text string) {
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o666); err != nil {
		s.t.Fatal(err)
	}
}

// keys returns the keys of the cells in a folder of results.
func (s *sensitiveRuns) keys(out string) string {
	var all []string
	found, _ := filepath.Glob(filepath.Join(s.dir, out, "shy/cells/*/key.txt"))
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, string(text))
	}
	if len(all) == 0 {
		s.t.Fatalf("%s has no key", out)
	}
	return strings.Join(all, "\n")
}

// leaks lists the files of results that contain a text, in any form in which jobs get it. It also searches the freed
// pages of the database.
func (s *sensitiveRuns) leaks(out string, texts ...string) (found []string) {
	err := filepath.WalkDir(filepath.Join(s.dir, out), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		rel, _ := filepath.Rel(s.dir, path)
		for _, form := range unpacked(raw) {
			for _, text := range texts {
				if bytes.Contains(bytes.ToLower(form), []byte(text)) && !slices.Contains(found, rel) {
					found = append(found, rel)
				}
			}
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// unpacked returns the bytes of a file, and the uncompressed form of all compressed parts, such as values of a database
// and archives.
func unpacked(raw []byte) (forms [][]byte) {
	forms = append(forms, raw)
	for magic, open := range map[string]func([]byte) (io.Reader, error){
		"\x1f\x8b\x08":     func(b []byte) (io.Reader, error) { return gzip.NewReader(bytes.NewReader(b)) },
		"\xff\x06\x00\x00": func(b []byte) (io.Reader, error) { return s2.NewReader(bytes.NewReader(b)), nil },
		"\x28\xb5\x2f\xfd": func(b []byte) (io.Reader, error) { return zstd.NewReader(bytes.NewReader(b)) },
	} {
		for at := 0; ; at++ {
			next := bytes.Index(raw[at:], []byte(magic))
			if next < 0 {
				break
			}
			at += next
			if from, err := open(raw[at:]); err == nil {
				inner, _ := io.ReadAll(io.LimitReader(from, 64<<20)) // read until the end of the compressed part
				if len(inner) > 0 {
					forms = append(forms, unpacked(inner)...)
				}
			}
		}
	}
	return forms
}

func newSensitiveRuns(t *testing.T) *sensitiveRuns {
	s := &sensitiveRuns{t: t, program: asTfexp(t), dir: t.TempDir()}
	s.write("shy.hcl", shy)
	s.write("wanted.txt", shyToken)
	if err := os.MkdirAll(filepath.Join(s.dir, "runs/demand"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.write("runs/demand/train.csv", "Wall Time,Step,Accuracy,Zone,Run\n1000,0,0.1,east,1\n1100,50,0.5,east,1\n1200,100,0.7,east,1\n")
	return s
}

// TestSensitiveVariables searches results and output for the value of a sensitive variable.
func TestSensitiveVariables(t *testing.T) {
	s := newSensitiveRuns(t)
	given := "token=" + shyToken
	s.run(0, nil, "validate", "shy.hcl", "-var", given)
	s.run(0, nil, "validate", "shy.hcl", "--json", "-var", given)
	s.run(0, nil, "plan", "shy.hcl", "-var", given, "--out", "sim")
	s.run(0, nil, "run", "shy.hcl", "--var="+given, "--out", "sim")
	s.run(0, nil, "plan", "shy.hcl", "--json", "-var", given, "--out", "sim")
	if out := s.run(0, nil, "run", "shy.hcl", "-var="+given, "--out", "sim", "--json"); !strings.Contains(out, `"reused": 1`) {
		t.Errorf("the same value has run again:\n%s", out)
	}
	s.run(0, []string{"TFEXP_VAR_token=" + shyToken}, "run", "shy.hcl", "--out", "env")
	s.write("vars.hcl", "token = \""+shyToken+"\"\ncreds = { user = \""+shyOther+"\" }\n")
	s.run(0, nil, "run", "shy.hcl", "--out", "file", "-var-file", "vars.hcl")
	if s.keys("sim") != s.keys("env") || s.keys("sim") != s.keys("file") {
		t.Error("the same value has different keys")
	}
	s.run(0, nil, "run", "shy.hcl", "--out", "other", "-var", "token="+shyOther, "--share")

	// Real jobs get the value. A job that prints the value has it in its log.
	s.run(4, nil, "run", "shy.hcl", "-var", "engine=process", "-var", given, "--out", "real")
	out := s.run(4, nil, "resume", "real/shy", "-var", given)
	if strings.Contains(out, "Variable without") {
		t.Errorf("resume has not taken the value:\n%s", out)
	}
	out = s.run(3, nil, "resume", "real/shy")
	for _, way := range []string{"-var token=", "TFEXP_VAR_token", "-var-file"} {
		if !strings.Contains(out, way) {
			t.Errorf("resume does not say %q:\n%s", way, out)
		}
	}
	s.run(1, nil, "resume", "real/shy", "-var", given, "-var", "gap=2s")
	logs, _ := filepath.Glob(filepath.Join(s.dir, "real/shy/cells/*/logs/fetch-1.log"))
	if len(logs) != 1 {
		t.Fatalf("no log of the job: %q", logs)
	}
	if log, _ := os.ReadFile(logs[0]); !strings.Contains(string(log), "got Bearer "+strings.ToUpper(shyToken)) {
		t.Errorf("the job was not given the values: its log is %q", log)
	}
	if info, err := os.Stat(filepath.Join(s.dir, "config/tfexp/key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v, %v", info, err)
	}
	for dir, mode := range map[string]fs.FileMode{"real/shy": 0o700, "sim/shy": 0o700, "other/shy": 0o755} {
		if info, err := os.Stat(filepath.Join(s.dir, dir)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has the mode %v, %v; want %v", dir, info.Mode(), err, mode)
		}
	}

	// Error messages do not contain the value.
	s.run(3, nil, "validate", "shy.hcl", "-var", "token="+shyToken[:8])
	s.run(3, nil, "validate", "shy.hcl", "-var", "tokn="+shyToken)
	s.run(3, nil, "validate", "shy.hcl", "-var", shyToken)
	s.run(3, nil, "validate", "shy.hcl", "-var", given, "-var", "creds="+shyToken)
	s.run(3, nil, "validate", "shy.hcl", "-var", given, "-var", "creds={ a = "+shyToken+" }")
	s.write("broken.hcl", "token = "+shyToken+"\n")
	s.run(3, nil, "validate", "shy.hcl", "-var-file", "broken.hcl")
	s.write("broken.hcl", "token = \""+shyToken+"\n")
	s.run(3, nil, "validate", "shy.hcl", "-var-file", "broken.hcl")
	s.write("broken.hcl", "tokn = \""+shyToken+"\"\n")
	s.run(3, nil, "validate", "shy.hcl", "-var-file", "broken.hcl")
	for _, edit := range [][2]string{
		{`"A token that nobody sees"`, `var.token`},
		{`epochs  = 1`, `epochs  = tonumber(var.token)`},
		{`epochs  = 1`, `epochs  = strlen(var.token)`},
		{`replicates  = 1`, "replicates  = 1\n  seed = parseint(var.token, 36)"},
		{`local.words`, `[var.token, "x"]`},
		{`local.words`, `["${var.token.name}"]`},
		{`local.words`, `var.token`},
		{`local.words`, `["sh", [var.token]]`},
		{`{ TOKEN = var.token }`, `{ (var.token) = "x" }`},
		{`{ TOKEN = var.token }`, `var.token`},
		{`{ TOKEN = var.token }`, `{ X = var.creds.` + "unknown }"},
		{`engine  = var.engine`, `engine  = var.token`},
		{`threads = 1`, `threads = length(var.token)`},
		{`policy "fcfs" { order = "fcfs" }`, `policy "fcfs" { order = var.token }`},
		{`policy "fcfs" { order = "fcfs" }`, "policy \"fcfs\" { order = each.o }\nmatrix {\n  o = [var.token]\n}"},
		{`policy "fcfs" { order = "fcfs" }`,
			"policy \"fcfs\" { order = \"fcfs\" }\nmatrix {\n  exclude { when = var.token == \"a\" }\n}"},
		{"type      = string\n  sensitive = true", "default = \"" + shyToken + "\"\n  sensitive = true"},
		{"default   = {}", "default   = { a = \"" + shyToken + "\" }"},
	} {
		text := strings.Replace(shy, edit[0], edit[1], 1)
		if text == shy {
			continue
		}
		s.write("wrong.hcl", text)
		out := s.run(3, nil, "validate", "wrong.hcl", "-var", given, "-var", `creds={ user = "`+shyToken+`" }`)
		if strings.Contains(out, "panic") || strings.Contains(out, "goroutine") {
			t.Errorf("with %s:\n%s", edit[1], out)
		}
	}

	cell := "w-h-fcfs-r1"
	for _, dir := range []string{"sim", "real"} {
		s.run(0, nil, "status", dir)
		s.run(0, nil, "status", dir, "--json")
		s.run(0, nil, "explain", dir+"/shy", cell)
		s.run(0, nil, "export", "table", "jobs", "--dir", dir, "--format", "csv")
	}
	for line := range strings.SplitSeq(strings.ToLower(s.printed.String()), "\n") {
		if strings.Contains(line, shyToken) || strings.Contains(line, shyOther) {
			t.Errorf("a command has printed %q", line)
		}
	}
	for _, out := range []string{"sim", "env", "file", "other", "real"} {
		found := s.leaks(out, shyToken, shyOther)
		found = slices.DeleteFunc(found, func(name string) bool { return strings.HasSuffix(name, ".log") })
		if len(found) > 0 {
			t.Errorf("results have the value: %q", found)
		}
	}
	// Another value changes the keys of real cells, but not of simulated cells, which do not run programs.
	s.run(4, nil, "run", "shy.hcl", "-var", "engine=process", "-var", "token="+shyOther, "--out", "otherreal")
	if s.keys("real") == s.keys("otherreal") {
		t.Error("another value has the same key")
	}
	if !strings.Contains(s.keys("real"), "(sensitive:") {
		t.Errorf("the key has no hash of the value:\n%s", s.keys("real"))
	}
}

// TestExportOnATerminal: an export to a terminal has no control characters; an export to a pipe has all of them.
func TestExportOnATerminal(t *testing.T) {
	s := newSensitiveRuns(t)
	s.run(0, nil, "run", "shy.hcl", "-var", "token="+shyToken)
	path := filepath.Join(s.dir, "results/shy/jobs.csv")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s.write("results/shy/jobs.csv", strings.ReplaceAll(string(raw), "fetch-1", "fetch\x1b]0;owned\x07\x1b[2J"))
	for _, format := range []string{"csv", "markdown", "latex", "jsonl"} {
		screen, tty := terminal(t, unix.Winsize{Row: 50, Col: 400})
		cmd := exec.Command(s.program, "export", "table", "jobs", "--format", format)
		cmd.Dir, cmd.Env = s.dir, append(os.Environ(), noRaceSleep)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		err := cmd.Start()
		tty.Close()
		if err != nil {
			t.Fatal(err)
		}
		shown, _ := io.ReadAll(screen)
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, shown)
		}
		if !bytes.Contains(shown, []byte("owned")) || bytes.ContainsAny(shown, "\x1b\x07") {
			t.Errorf("%s: the terminal was sent %q", format, shown)
		}
		piped := s.run(0, nil, "export", "table", "jobs", "--format", format)
		if format == "csv" && !strings.Contains(piped, "\x1b]0;owned\x07") {
			t.Errorf("the pipe was sent %q", piped)
		}
	}
}
