package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
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

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/tfexp/tfexp/hardware/need"
)

// mostMemory bounds the memory of a command that reads a folder of results, in MiB.
const mostMemory = 200

// These damages cost much memory if a reader trusts the file.
var costly = []string{"huge", "repeated", "deep", "long names", "two billion", "nine quintillion", "e308", "binary", "ragged"}

// placeholders has a value for each argument name in the usage of commands.
var placeholders = map[string]string{
	"DIR": "R", "DIR_A": "R", "DIR_B": "UNDAMAGED", "NAME": "jobs", "CELL": "w-h-b-r1", "JOB": "say-1", "FILE": "W/e.hcl", "NUMBER": "1", "INDEX": "0",
	"COMMAND": "run", "NAME|FILE": "W/new.hcl", "FILE|-": "W/e.hcl",
}

var flagsOfUsage = regexp.MustCompile(`\[-[^\]]*\]|\([^)]*\)|\[flags\]`)

// argsOf returns arguments with which a command, by its usage, reads the folder R.
func argsOf(t *testing.T, c *cobra.Command) []string {
	t.Helper()
	line, _, _ := strings.Cut(c.Use, "\n")
	words := strings.Fields(flagsOfUsage.ReplaceAllString(line, ""))
	args := strings.Fields(c.CommandPath())[1:]
	for _, word := range words[1:] {
		word = strings.Trim(strings.ReplaceAll(word, "...", ""), "[]")
		value, ok := placeholders[word]
		if word == "NAME" && c.ValidArgsFunction != nil {
			names, _ := c.ValidArgsFunction(c, nil, "")
			if len(names) > 0 {
				value, _, _ = strings.Cut(names[0], "\t")
			}
		}
		if !ok && word == strings.ToLower(word) { // the usage lists the allowed words
			value, _, ok = strings.Cut(word, "|")
		}
		switch {
		case word == "", strings.HasPrefix(word, "--"):
		case !ok:
			t.Errorf("tfexp %s: placeholders has no value for %q", line, word)
		default:
			args = append(args, value)
		}
	}
	if c.Flags().Lookup("dir") != nil {
		args = append(args, "--dir", "R")
	}
	if c.Flags().Lookup("out") != nil {
		args = append(args, "--out", "W/"+cmp.Or(map[bool]string{true: "imported"}[slices.Contains(args, "R")], "results"))
	}
	return args
}

// leaves returns the commands below a command that can run.
func leaves(c *cobra.Command) (list []*cobra.Command) {
	for _, sub := range c.Commands() {
		list = append(list, leaves(sub)...)
	}
	if c.Runnable() && !c.HasSubCommands() {
		list = append(list, c)
	}
	return list
}

// Every command reads a damaged folder of results within the memory limit.
func TestMemoryOfCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real jobs, and looks at the memory of a program, of which the race detector needs more")
	}
	top := t.TempDir()
	clean := filepath.Join(top, "undamaged")
	if err := os.Mkdir(clean, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(clean, "e.hcl"), []byte(undamaged), 0o644); err != nil {
		t.Fatal(err)
	}
	outputOf(t, "run", "--quiet", "--out", filepath.Join(clean, "results"), filepath.Join(clean, "e.hcl"))
	commands := leaves(newApp(io.Discard, io.Discard).command())
	if len(commands) < 25 {
		t.Fatalf("%d commands", len(commands))
	}
	type trial struct {
		file string
		damage
	}
	var trials []trial
	for _, file := range slices.Concat(damaged, absent) {
		for _, d := range allDamages {
			if slices.Contains(costly, d.name) {
				trials = append(trials, trial{file, d})
			}
		}
	}
	random := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	each := len(trials)
	if *damages > 0 {
		each = (*damages + 19) / 20
	}
	tfexp := asTfexp(t)
	most := map[string]int{}
	runs := 0
	for _, c := range commands {
		name := c.CommandPath()
		for _, i := range random.Perm(len(trials))[:each] {
			x, work := trials[i], filepath.Join(top, "w")
			if err := os.RemoveAll(work); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(work, os.DirFS(clean)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(work, "results", "e", x.file)
			raw, _ := os.ReadFile(path)
			if x.do(path, raw, random) != nil {
				continue // this damage cannot be applied to this file
			}
			args := argsOf(t, c)
			for i, a := range args {
				a = strings.ReplaceAll(a, "UNDAMAGED", filepath.Join(clean, "results", "e"))
				if a == "R" {
					a = "W/results/e"
				}
				args[i] = strings.Replace(a, "W/", work+"/", 1)
			}
			runs++
			mib := peakOf(t, work, tfexp, args)
			most[name] = max(most[name], mib)
			if mib > mostMemory {
				t.Errorf("%s with %s %s takes %d MiB", strings.Join(args, " "), x.file, x.name, mib)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(most)) {
		t.Logf("%s: at most %d MiB", name, most[name])
	}
	t.Logf("%d runs, at most %d MiB", runs, slices.Max(slices.Collect(maps.Values(most))))
}

// peakOf runs a program to its end, and returns its peak memory in MiB. If the program serves a page, the page is
// loaded first.
func peakOf(t *testing.T, dir, program string, args []string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), noRaceSleep, "TERM=xterm-256color", "GOGC=100") // 100 is the default; make test sets another value
	var ready func()
	switch args[0] {
	case "serve":
		cmd.Args = append(cmd.Args, "--port", "0")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		ready = func() { lookAtPages(out); _ = cmd.Process.Signal(os.Interrupt) }
	case "top":
		screen, tty := terminal(t, unix.Winsize{Row: 50, Col: 160})
		defer tty.Close()
		cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		go io.Copy(io.Discard, screen)
		ready = func() { time.Sleep(time.Second); _, _ = screen.WriteString("q") }
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if ready != nil {
		go ready()
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	// The peak that Wait returns includes the memory of this program before exec, so the peak is read while the program
	// runs.
	for peak := 0; ; {
		raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		if _, rest, ok := strings.Cut(string(raw), "VmHWM:"); ok && strings.HasPrefix(string(raw), "Name:\ttfexp\n") {
			kib, _ := strconv.Atoi(strings.Fields(rest)[0])
			peak = max(peak, kib>>10)
		}
		select {
		case <-ended:
			if ctx.Err() != nil {
				t.Errorf("%q has no end", args)
			}
			return peak
		case <-time.After(time.Millisecond):
		}
	}
}

// lookAtPages requests the data of the pages of tfexp serve.
func lookAtPages(out io.Reader) {
	in := bufio.NewReader(out)
	for line, err := in.ReadString('\n'); err == nil; line, err = in.ReadString('\n') {
		at := strings.Index(line, "http://")
		if at < 0 {
			continue
		}
		url := strings.TrimSuffix(strings.Fields(line[at:])[0], "/")
		for _, path := range []string{"/", "/api/experiments", "/api/experiments/e", "/api/experiments/e/cell?cell=w-h-b-r1",
			"/api/experiments/e/log?cell=w-h-b-r1&job=say-1", "/metrics"} {
			if answer, err := http.Get(url + path); err == nil {
				_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, hugeBytes))
				answer.Body.Close()
			}
		}
		return
	}
}

// Commands read or refuse hostile experiments within the same memory limit.
func TestMemoryOfSources(t *testing.T) {
	if testing.Short() {
		t.Skip("looks at the memory of a program, of which the race detector needs more")
	}
	lines := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+"\n", i)
		}
		return b.String()
	}
	locals := func(text string) string { return undamaged + "locals {\n" + text + "}\n" }
	tfexp, clean := asTfexp(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(clean, "e.hcl"), []byte(undamaged), 0o644); err != nil {
		t.Fatal(err)
	}
	outputOf(t, "run", "--quiet", "--out", filepath.Join(clean, "results"), filepath.Join(clean, "e.hcl"))
	commands := func(results string) [][]string {
		all := [][]string{{"resume", results}, {"run", "--quiet", "e.hcl"}, {"validate", "e.hcl"}, {"plan", "e.hcl"},
			{"fmt", "--check", "e.hcl"}, {"explain", results}}
		if need.Long() {
			return all
		}
		return all[:2] // only these commands, since all read an experiment in the same way
	}
	for name, source := range map[string]string{
		"dense":        locals("x = [" + strings.Repeat("1,", 70_000) + "1]\n"),
		"too dense":    locals("x = [" + strings.Repeat("1,", 2_000_000) + "1]\n"),
		"chain":        locals("x = 1" + strings.Repeat("+1", 2_000_000) + "\n"),
		"templates":    locals("x = \"" + strings.Repeat("${a}", 1_000_000) + "\"\n"),
		"blocks":       undamaged + lines(16_000, "job \"a%d\" {}"),
		"more blocks":  undamaged + lines(100_000, "job \"a%d\" {}"),
		"values":       locals(lines(60, "x%d = [for i in range(1000) : [for j in range(200) : j]]")),
		"texts":        locals("x = \"" + strings.Repeat("x", 100_000) + "\"\n" + lines(60, "x%d = \""+strings.Repeat("${local.x}", 70)+"\"")),
		"divided text": locals("x = \"" + strings.Repeat("1,", 50_000) + "\"\ny = length(split(\",\", \"" + strings.Repeat("${local.x}", 80) + "\"))\n"),
		"JSON":         locals("x = \"" + strings.Repeat("1,", 50_000) + "\"\ny = length(jsondecode(\"[" + strings.Repeat("${local.x}", 80) + "1]\"))\n"),
		"comment":      undamaged + "#" + strings.Repeat("x", 4_000_000) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			results := filepath.Join(dir, "results", "e")
			if err := os.CopyFS(dir, os.DirFS(clean)); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{"e.hcl", "results/e/experiment.hcl"} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(source), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for _, args := range commands(results) {
				if mib := peakOf(t, dir, tfexp, args); mib > mostMemory {
					t.Errorf("tfexp %s takes %d MiB", strings.Join(args, " "), mib)
				} else {
					t.Logf("tfexp %s: %d MiB", args[0], mib)
				}
			}
		})
	}
}
