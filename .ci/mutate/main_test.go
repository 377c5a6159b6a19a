package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Every comparison, operator and condition of a package has its mutants; its tests have none.
func TestMutants(t *testing.T) {
	dir := t.TempDir()
	const text = "package p\n\nfunc f(a, b int) int {\n\tif a == b && b < 3 {\n\t\ta += 2\n\t}\n\treturn a - b\n}\n"
	for _, name := range []string{"a.go", "a_test.go"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mutants, err := mutantsOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range mutants {
		if filepath.Base(m.path) != "a.go" {
			t.Errorf("a mutant of %s", m.path)
		}
		got = append(got, text[:m.from][max(0, m.from-2):]+m.with)
	}
	want := []string{"f !(a == b && b < 3)", "b ||", "a !=", "b <=", "b >=", "a -=", "a +"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
