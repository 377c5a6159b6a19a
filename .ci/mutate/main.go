// Mutate changes a package in one place at a time, at random: a comparison, an operator, a condition. It runs the
// package's own tests on each of these mutants and lists those that no test notices: each is a missing case, code
// that does nothing, or a change that makes no difference, which equivalent.txt lists with the reason.
//
//	go run ./.ci/mutate [-n 20] [-seed 1] [-at file.go:12] [-tests FOLDERS] [-least 85] FOLDER…
//
// The tree is not changed: the compiler is given the mutants in place of the files. Exit status 1: fewer are
// noticed than -least asks for.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	count := flag.Int("n", 20, "mutants of each package")
	seed := flag.Uint64("seed", 1, "what the mutants are drawn from")
	least := flag.Float64("least", 0, "the least percentage that is to be noticed")
	at := flag.String("at", "", "only mutants at this `FILE:LINE`, all of them")
	tests := flag.String("tests", "", "the `FOLDERS` whose tests run, separated by commas; by default the package's own")
	all := flag.Bool("all-tests", false, "also run the tests that -short leaves out")
	flag.Parse()
	known, err := equivalents(filepath.Join(".ci", "mutate", "equivalent.txt"))
	if err != nil {
		fail(err)
	}
	total := score{}
	for _, dir := range flag.Args() {
		s, err := mutate(dir, options{*count, *seed, *at, *tests, *all, known})
		if err != nil {
			fail(fmt.Errorf("%s: %w", dir, err))
		}
		fmt.Printf("%s: %s\n", dir, s)
		total.noticed, total.tried = total.noticed+s.noticed, total.tried+s.tried
	}
	if flag.NArg() > 1 {
		fmt.Printf("all: %s\n", total)
	}
	if total.percent() < *least {
		fmt.Printf("less than %g%%\n", *least)
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "mutate:", err)
	os.Exit(2)
}

type options struct {
	count int
	seed  uint64
	at    string
	tests string
	all   bool
	known map[string]bool
}

// score counts the mutants, and those that a test noticed.
type score struct{ noticed, tried int }

func (s score) percent() float64 { return 100 * float64(s.noticed) / float64(max(s.tried, 1)) }

func (s score) String() string {
	return fmt.Sprintf("%d of %d mutants noticed (%.0f%%)", s.noticed, s.tried, s.percent())
}

// mutant is a change of a file: with replaces the bytes from and to.
type mutant struct {
	path     string
	line     int
	from, to int
	with     string
	was      string
}

// String is "policy/easy.go:12: == → !=", as equivalent.txt has it.
func (m mutant) String() string {
	return fmt.Sprintf("%s:%d: %s → %s", filepath.ToSlash(m.path), m.line, m.was, m.with)
}

// mutate tries mutants of the package in a folder.
func mutate(dir string, o options) (s score, err error) {
	mutants, err := mutantsOf(dir)
	if err != nil {
		return s, err
	}
	tests := []string{dir}
	if o.tests != "" {
		tests = strings.Split(o.tests, ",")
	}
	began := time.Now()
	if out, err := test(tests, "", 10*time.Minute, o.all); err != nil {
		return s, fmt.Errorf("its tests fail as it is: %w\n%s", err, out)
	}
	limit := 3*time.Since(began) + 30*time.Second
	random := rand.New(rand.NewPCG(o.seed, 0))
	random.Shuffle(len(mutants), func(i, j int) { mutants[i], mutants[j] = mutants[j], mutants[i] })
	for _, m := range mutants {
		if o.at != "" && fmt.Sprintf("%s:%d", filepath.ToSlash(m.path), m.line) != o.at || o.known[m.String()] {
			continue
		}
		if o.at == "" && s.tried == o.count {
			break
		}
		noticed, compiles, err := try(tests, m, limit, o.all)
		if err != nil {
			return s, err
		}
		if !compiles {
			continue
		}
		s.tried++
		if noticed {
			s.noticed++
		} else {
			fmt.Printf("not noticed: %s\n", m)
		}
	}
	return s, nil
}

// try tests a mutant.
func try(tests []string, m mutant, limit time.Duration, all bool) (noticed, compiles bool, err error) {
	work, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return false, false, err
	}
	defer os.RemoveAll(work)
	text, err := os.ReadFile(m.path)
	if err != nil {
		return false, false, err
	}
	text = append(text[:m.from:m.from], append([]byte(m.with), text[m.to:]...)...)
	path, err := filepath.Abs(m.path)
	if err != nil {
		return false, false, err
	}
	changed, overlay := filepath.Join(work, "mutant.go"), filepath.Join(work, "overlay.json")
	raw, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err = errors.Join(err, os.WriteFile(changed, text, 0o644), os.WriteFile(overlay, raw, 0o644)); err != nil {
		return false, false, err
	}
	out, err := test(tests, overlay, limit, all)
	return err != nil, !bytes.Contains(out, []byte("[build failed]")), nil
}

// test runs the tests of packages.
func test(dirs []string, overlay string, limit time.Duration, all bool) ([]byte, error) {
	args := []string{"test", "-vet=off", "-count=1", "-failfast", "-timeout", limit.String()}
	if !all {
		args = append(args, "-short")
	}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	for _, dir := range dirs {
		args = append(args, "./"+filepath.ToSlash(filepath.Clean(dir)))
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit+5*time.Minute) // compiling takes its time as well
	defer cancel()
	return exec.CommandContext(ctx, "go", args...).CombinedOutput()
}

// swaps are what an operator is changed into.
var swaps = map[token.Token][]token.Token{
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL},
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN},
	token.INC: {token.DEC}, token.DEC: {token.INC},
}

// mutantsOf lists all mutants of the package in a folder, but for those of its tests and of other systems.
func mutantsOf(dir string) ([]mutant, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_darwin.go") ||
			strings.HasSuffix(path, "_other.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files := token.NewFileSet()
		tree, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		add := func(pos token.Pos, length int, with string) {
			at := files.Position(pos)
			was := string(text[at.Offset : at.Offset+length])
			all = append(all, mutant{path, at.Line, at.Offset, at.Offset + length, with, strings.Join(strings.Fields(was), " ")})
		}
		operator := func(pos token.Pos, op token.Token) {
			for _, other := range swaps[op] {
				add(pos, len(op.String()), other.String())
			}
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				operator(n.OpPos, n.Op)
			case *ast.AssignStmt:
				operator(n.TokPos, n.Tok)
			case *ast.IncDecStmt:
				operator(n.TokPos, n.Tok)
			case *ast.IfStmt:
				at, end := files.Position(n.Cond.Pos()).Offset, files.Position(n.Cond.End()).Offset
				add(n.Cond.Pos(), end-at, "!("+string(text[at:end])+")")
			}
			return true
		})
	}
	return all, nil
}

// equivalents reads the mutants that make no difference: a line each, with the reason behind a tab.
func equivalents(path string) (map[string]bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	known := map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if what, reason, ok := strings.Cut(lines.Text(), "\t"); ok && reason != "" {
			known[what] = true
		}
	}
	return known, nil
}
