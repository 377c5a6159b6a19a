package main

import (
	"fmt"
	"os"
	"slices"
	"testing"
)

const text = `package p

import "time"

const hour = 60 * 60

type counts map[string]uint8

func first[T int | float64](a, b T) bool { return a < b }

func f(a, b int, c counts, d time.Duration, e error) (string, time.Duration) {
	if a == b &&
		b < 3 && !first(2.5, float64(b)) {
		c["x"] += 2
	}
	for i := 0; i < len(c); i++ {
		d -= 2 * time.Second / time.Duration(a+1)
	}
	if e != nil || first(a, hour) {
		return "x" + "y", d*2 + 1<<2
	}
	return "z", d
}
`

const itsTest = `package p

import (
	"testing"
	"time"
)

func TestF(t *testing.T) {
	c := counts{"x": 1}
	if s, d := f(2, 2, c, 3*time.Second, nil); s != "xy" || d != 4666666672 || c["x"] != 3 {
		t.Fatal(s, d, c)
	}
}
`

// Every comparison, operator and condition of a package has its mutants, which stand or fall alike behind a switch and
// compiled by themselves.
func TestMutants(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"go.mod": "module p\n\ngo 1.26\n", "p.go": text, "p_test.go": itsTest} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := read(".")
	if err != nil {
		t.Fatal(err)
	}
	b, err := build(p, []string{"."}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	var got []string
	word := map[verdict]string{noticed: "noticed", unnoticed: "unnoticed", unreached: "unreached", broken: "broken"}
	for _, m := range p.mutants {
		v, err := b.try(m)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d %s %s %s", m.line, m.was, m.with, word[v]))
		if m.single || m.number%8 > 0 { // to compile takes its time
			continue
		}
		if alone, err := b.trySingle(m); err != nil || alone != v {
			t.Errorf("%s: %v behind a switch, %v by itself (%v)", m, v, alone, err)
		}
	}
	want := []string{
		"5 * / noticed",
		"9 < <= unnoticed", "9 < >= noticed",
		"12 a == b && b < 3 && !first(2.5, float64(b)) !(a == b &&\n\t\tb < 3 && !first(2.5, float64(b))) noticed",
		"13 && || unnoticed", "12 && || unnoticed", "12 == != noticed", "13 < <= unnoticed", "13 < >= noticed",
		"14 += -= noticed",
		"16 < <= noticed", "16 < >= noticed", "16 ++ -- noticed",
		"17 -= += noticed", "17 / * noticed", "17 * / noticed", "17 + - noticed",
		"19 e != nil || first(a, hour) !(e != nil || first(a, hour)) noticed", "19 || && noticed", "19 != == unnoticed",
		"20 + - noticed", "20 * / noticed",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
