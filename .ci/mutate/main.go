// Mutate changes a package in one place at a time, at random: a comparison, an operator, a condition. It runs tests
// on each of these mutants and lists those that no test notices: each is a missing case, code that does nothing, or a
// change that makes no difference, which equivalent.txt lists with the reason.
//
//	go run ./.ci/mutate [-n 20] [-seed 1] [-at file.go:12] [-tests FOLDERS] [-least 85] FOLDER…
//
// A folder's tests are its own and those that tests.txt names for it. The same seed on the same source draws the same
// mutants.
//
// The tree is not changed: the compiler is given other files in place of the package's. It compiles once, with all
// mutants behind a switch (instrument.go). Each test runs once without a mutant, which shows the mutants that it
// reaches; a mutant is then tried by the tests that reach it, the quick ones first. What takes five times as long as
// before, or more than 4 GiB of memory, counts as noticed; a mutant that does not compile is none.
//
// Exit status 1: fewer are noticed than -least asks for.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	o := options{}
	flag.IntVar(&o.count, "n", 20, "mutants of each package; 0: all")
	flag.Uint64Var(&o.seed, "seed", 1, "what the mutants are drawn from")
	flag.StringVar(&o.at, "at", "", "only mutants at this `FILE:LINE`, all of them")
	flag.StringVar(&o.tests, "tests", "", "the `FOLDERS` whose tests run, separated by commas")
	flag.BoolVar(&o.all, "all-tests", false, "also run the tests that -short leaves out")
	least := flag.Float64("least", 0, "the least percentage that is to be noticed")
	flag.Parse()
	lists := filepath.Join(".ci", "mutate")
	var err error
	if o.known, err = table(filepath.Join(lists, "equivalent.txt")); err != nil {
		fail(err)
	}
	if o.testsOf, err = table(filepath.Join(lists, "tests.txt")); err != nil {
		fail(err)
	}
	total := score{}
	for _, dir := range flag.Args() {
		s, err := mutate(filepath.Clean(dir), o)
		if err != nil {
			fail(fmt.Errorf("%s: %w", dir, err))
		}
		fmt.Printf("%s: %s\n", dir, s)
		total.add(s)
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
	count          int
	seed           uint64
	at             string
	tests          string
	all            bool
	known, testsOf map[string]string
}

// score counts the mutants, those that a test noticed, and those that no test reached.
type score struct{ noticed, tried, unreached, equivalent int }

func (s *score) add(o score) {
	s.noticed, s.tried, s.unreached = s.noticed+o.noticed, s.tried+o.tried, s.unreached+o.unreached
	s.equivalent += o.equivalent
}

func (s score) percent() float64 { return 100 * float64(s.noticed) / float64(max(s.tried, 1)) }

func (s score) String() string {
	text := fmt.Sprintf("%d of %d mutants noticed (%.0f%%)", s.noticed, s.tried, s.percent())
	if s.unreached > 0 {
		text += fmt.Sprintf(", %d reached by no test", s.unreached)
	}
	if s.equivalent > 0 {
		text += fmt.Sprintf("; %d left out that make no difference", s.equivalent)
	}
	return text
}

// mutate tries mutants of the package in a folder.
func mutate(dir string, o options) (s score, err error) {
	p, err := read(dir)
	if err != nil {
		return s, err
	}
	tests := []string{dir}
	if more := o.testsOf[filepath.ToSlash(dir)]; more != "" {
		tests = append(tests, strings.Split(more, ",")...)
	}
	if o.tests != "" {
		tests = strings.Split(o.tests, ",")
	}
	bench, err := build(p, tests, o.all)
	if err != nil {
		return s, err
	}
	defer bench.close()
	order := rand.New(rand.NewPCG(o.seed, 0)).Perm(len(p.mutants))
	for _, i := range order {
		m := p.mutants[i]
		if o.at != "" && fmt.Sprintf("%s:%d", filepath.ToSlash(m.path), m.line) != o.at {
			continue
		}
		if o.at == "" && o.count > 0 && s.tried == o.count {
			break
		}
		if o.known[m.key()] != "" {
			s.equivalent++
			continue
		}
		verdict, err := bench.try(m)
		if err != nil {
			return s, err
		}
		switch verdict {
		case broken:
			continue
		case noticed:
			s.noticed++
		case unreached:
			s.unreached++
			fmt.Printf("not reached: %s\n", m)
		case unnoticed:
			fmt.Printf("not noticed: %s\n", m)
		}
		s.tried++
	}
	return s, nil
}

// table reads a file of lines "name, tab, text"; lines without a text say nothing.
func table(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if name, text, ok := strings.Cut(lines.Text(), "\t"); ok {
			all[name] = strings.TrimSpace(text)
		}
	}
	return all, lines.Err()
}
