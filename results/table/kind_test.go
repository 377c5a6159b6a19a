package table

import (
	"slices"
	"testing"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Picture kinds are sorted by rank and name. They are found by name, and by the arguments that they accept.
func TestKinds(t *testing.T) {
	defer func(before schema.Registry[PictureKind]) { *pictures = before }(*pictures)
	*pictures = *schema.NewRegistry("kind", func(k PictureKind) string { return k.Name }, func(k PictureKind) int { return k.Rank })
	RegisterPicture(PictureKind{Rank: 2, Name: "c", Args: []schema.Arg{{Name: "x"}, {Name: "by"}}})
	RegisterPicture(PictureKind{Rank: 1, Name: "z", Args: []schema.Arg{{Name: "metric"}}})
	RegisterPicture(PictureKind{Rank: 2, Name: "a", Args: []schema.Arg{{Name: "y", Doc: "why"}, {Name: "x"}}})
	if got := PictureNames(); !slices.Equal(got, []string{"z", "a", "c"}) || len(Pictures()) != 3 || Pictures()[1].Name != "a" {
		t.Errorf("%q", got)
	}
	for name, rank := range map[string]int{"z": 1, "c": 2, "none": 0} {
		if k, ok := PictureByName(name); ok != (rank > 0) || k.Rank != rank {
			t.Errorf("%s: %+v, %v", name, k, ok)
		}
	}
	for arg, want := range map[string][]string{"x": {"a", "c"}, "y": {"a"}, "metric": {"z"}, "none": nil} {
		if got := PicturesTaking(arg); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", arg, got, want)
		}
	}
	k, _ := PictureByName("a")
	if a, ok := k.Arg("y"); !ok || a.Doc != "why" {
		t.Errorf("%+v, %v", a, ok)
	}
	if a, ok := k.Arg("by"); ok || a.Name != "" {
		t.Errorf("%+v, %v", a, ok)
	}
	defer func() {
		if recover() == nil {
			t.Error("two kinds have one name")
		}
	}()
	RegisterPicture(PictureKind{Name: "a"})
}
