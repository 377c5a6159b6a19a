package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// verdict is what became of a mutant.
type verdict int

const (
	noticed verdict = iota
	unnoticed
	unreached
	broken // does not compile
)

// bench is an instrumented package with the tests that try its mutants.
type bench struct {
	code     *code
	work     string
	binaries []binary
	all      bool
	tests    []measured
}

// binary is a compiled test binary, which runs in its package's folder. Whether it has random tests decides
// what it must be told.
type binary struct {
	path, dir string
	random    bool
}

// measured is a test as it ran without a mutant.
type measured struct {
	binary  binary
	name    string
	took    time.Duration
	reached []byte
}

func (b *bench) close() { os.RemoveAll(b.work) }

// build compiles the tests of folders with an instrumented package, and runs each of them once.
func build(p *code, dirs []string, all bool) (b *bench, err error) {
	b = &bench{code: p, all: all}
	if b.work, err = os.MkdirTemp("", "mutate"); err != nil {
		return nil, err
	}
	made := b
	defer func() {
		if err != nil {
			made.close()
		}
	}()
	if err = b.compileAll(dirs); err != nil {
		return nil, err
	}
	if err = b.measure(); err != nil {
		return nil, err
	}
	return b, nil
}

// compileAll compiles the instrumented package. Lines on which the compiler cannot infer a type lose their switches.
func (b *bench) compileAll(dirs []string) error {
	for range 8 {
		instead := map[string][]byte{}
		for _, f := range b.code.files {
			instead[f.full] = b.code.instrument(f)
		}
		added := filepath.Join(filepath.Dir(b.code.files[0].full), "mutate_switches.go")
		instead[added] = fmt.Appendf(nil, switches, b.code.name, len(b.code.mutants)+2)
		overlay, err := b.overlay(instead)
		if err != nil {
			return err
		}
		out, err := exec.Command("go", "build", "-gcflags=-e", "-overlay", overlay, "./"+filepath.ToSlash(b.code.dir)).CombinedOutput()
		if err != nil {
			if !b.exclude(string(out)) {
				return fmt.Errorf("cannot compile the instrumented package: %s", out)
			}
			continue
		}
		b.binaries, out, err = b.compile(dirs, overlay, "all")
		if err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	}
	return errors.New("cannot compile the instrumented package")
}

// place is where the compiler has found an error.
var place = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):`)

// exclude has the mutants at the places of errors compiled by themselves, and reports whether there are any.
func (b *bench) exclude(out string) (any bool) {
	for _, at := range place.FindAllStringSubmatch(out, -1) {
		line, _ := strconv.Atoi(at[2])
		for i := range b.code.mutants {
			m := &b.code.mutants[i]
			first := m.line
			last := first + strings.Count(m.was, "\n")
			if filepath.Base(m.path) == filepath.Base(at[1]) && first-1 <= line && line <= last+1 && !m.single {
				m.single, any = true, true
			}
		}
	}
	return any
}

// overlay writes the texts of files, and the file that tells the compiler of them.
func (b *bench) overlay(instead map[string][]byte) (string, error) {
	files := map[string]string{}
	for path, text := range instead {
		files[path] = filepath.Join(b.work, filepath.Base(path))
		if err := os.WriteFile(files[path], text, 0o644); err != nil {
			return "", err
		}
	}
	raw, err := json.Marshal(map[string]map[string]string{"Replace": files})
	if err != nil {
		return "", err
	}
	path := filepath.Join(b.work, "overlay.json")
	return path, os.WriteFile(path, raw, 0o644)
}

// compile makes the test binaries of folders; those without tests have none.
func (b *bench) compile(dirs []string, overlay, name string) (all []binary, out []byte, err error) {
	for i, dir := range dirs {
		if tests, _ := filepath.Glob(filepath.Join(dir, "*_test.go")); len(tests) == 0 {
			continue
		}
		path := filepath.Join(b.work, fmt.Sprintf("%s%d.test", name, i))
		args := []string{"test", "-c", "-vet=off", "-overlay", overlay, "-o", path, "./" + filepath.ToSlash(dir)}
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return nil, out, err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, binary{path, dir, bytes.Contains(text, []byte("rapid.nofailfile"))})
	}
	return all, nil, nil
}

// measure runs each test once, and leaves out those that fail as it is.
func (b *bench) measure() error {
	file := filepath.Join(b.work, "reached")
	for _, bin := range b.binaries {
		list := exec.Command(bin.path, "-test.list", "^(Test|Example|Fuzz)")
		list.Dir = bin.dir
		out, err := list.Output()
		if err != nil {
			return fmt.Errorf("the tests of %s: %w", bin.dir, err)
		}
		for _, name := range strings.Fields(string(out)) {
			if err := os.WriteFile(file, make([]byte, len(b.code.mutants)+2), 0o644); err != nil {
				return err
			}
			began := time.Now()
			err := b.run(bin, []string{name}, 5*time.Minute, "MUTATE_REACHED="+file)
			took := time.Since(began)
			if err != nil {
				fmt.Printf("left out: %s of %s fails as it is\n", name, bin.dir)
				continue
			}
			reached, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			b.tests = append(b.tests, measured{bin, name, took, reached})
		}
	}
	slices.SortStableFunc(b.tests, func(x, y measured) int { return cmp.Compare(x.took, y.took) })
	return nil
}

// memory bounds what a mutant may allocate, in KiB: a loop without an end must not take the machine with it.
const memory = 4 << 20

// run runs tests of a binary; an error is a failure, or a limit that was passed.
func (b *bench) run(bin binary, names []string, limit time.Duration, env ...string) error {
	args := []string{"-c", fmt.Sprintf(`ulimit -d %d; exec "$0" "$@"`, memory), bin.path, "-test.failfast", "-test.count=1",
		"-test.timeout", limit.String()}
	if len(names) > 0 {
		args = append(args, "-test.run", "^("+strings.Join(names, "|")+")$")
	}
	if !b.all {
		args = append(args, "-test.short")
	}
	if bin.random { // the same cases each time, and none that an earlier mutant has left
		args = append(args, "-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=1ns")
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit+10*time.Second)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", args...)
	c.Dir, c.Env = bin.dir, append(os.Environ(), env...)
	c.WaitDelay = time.Second
	return c.Run()
}

// try runs the tests that reach a mutant, in growing groups from the quickest to the slowest.
func (b *bench) try(m mutant) (verdict, error) {
	if m.single {
		return b.trySingle(m)
	}
	reached := func(t measured) bool {
		// The mutants of an operator share the byte of the first.
		for n := m.number; ; n-- {
			if t.reached[n] != 0 {
				return true
			}
			if n == 1 || b.code.mutants[n-2].from != m.from || b.code.mutants[n-2].was != m.was || b.code.mutants[n-2].path != m.path {
				return false
			}
		}
	}
	result := unreached
	groups := map[string][]measured{}
	flush := func(bin binary) bool {
		group := groups[bin.path]
		delete(groups, bin.path)
		if len(group) == 0 {
			return false
		}
		var names []string
		limit := 20 * time.Second
		for _, t := range group {
			names = append(names, t.name)
			limit += 5 * t.took
		}
		return b.run(bin, names, limit, fmt.Sprintf("MUTATE=%d", m.number)) != nil
	}
	took, bound := map[string]time.Duration{}, 500*time.Millisecond
	for _, t := range b.tests {
		if !reached(t) {
			continue
		}
		result = unnoticed
		path := t.binary.path
		if len(groups[path]) > 0 && took[path]+t.took > bound {
			if flush(t.binary) {
				return noticed, nil
			}
			took[path], bound = 0, 4*bound
		}
		groups[path] = append(groups[path], t)
		took[path] += t.took
	}
	for _, bin := range b.binaries {
		if flush(bin) {
			return noticed, nil
		}
	}
	return result, nil
}

// trySingle compiles a mutant by itself and runs all tests.
func (b *bench) trySingle(m mutant) (verdict, error) {
	var f *source
	for _, file := range b.code.files {
		if file.path == m.path {
			f = file
		}
	}
	text := slices.Concat(f.text[:m.from], []byte(m.with), f.text[m.to:])
	overlay, err := b.overlay(map[string][]byte{f.full: text})
	if err != nil {
		return broken, err
	}
	var dirs []string
	for _, bin := range b.binaries {
		dirs = append(dirs, bin.dir)
	}
	binaries, _, err := b.compile(dirs, overlay, "single")
	if err != nil {
		return broken, nil
	}
	for i, bin := range binaries {
		limit := 20 * time.Second
		var names []string
		for _, t := range b.tests {
			if t.binary == b.binaries[i] {
				names = append(names, t.name)
				limit += 5 * t.took
			}
		}
		if b.run(bin, names, limit) != nil {
			return noticed, nil
		}
	}
	return unnoticed, nil
}
