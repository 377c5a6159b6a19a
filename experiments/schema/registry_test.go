package schema_test

import (
	"slices"
	"testing"

	"github.com/tfexp/tfexp/experiments/schema"
)

func TestRegistry(t *testing.T) {
	type kind struct {
		name string
		rank int
	}
	r := schema.NewRegistry("kind", func(k kind) string { return k.name }, func(k kind) int { return k.rank })
	for _, k := range []kind{{"last", 0}, {"second", 2}, {"also second", 2}, {"first", 1}} {
		if r.Add(k) != k {
			t.Errorf("%v is not returned", k)
		}
	}
	if names := r.Names(nil); !slices.Equal(names, []string{"first", "also second", "second", "last"}) {
		t.Errorf("they are listed as %q", names)
	}
	if names := r.Names(func(k kind) bool { return k.rank == 2 }); len(names) != 2 || len(r.All()) != 4 {
		t.Errorf("of rank 2 are %q", names)
	}
	if k, ok := r.Find("second"); !ok || k.rank != 2 {
		t.Errorf("second: %v, %v", k, ok)
	}
	for _, name := range []string{"", "first"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q is registered", name)
				}
			}()
			r.Add(kind{name: name})
		}()
	}
}
