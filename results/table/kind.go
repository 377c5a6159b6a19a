// Picture is the registry of the kinds of pictures: their contents, their
// arguments, and where they appear. The language, the report and the
// documentation read it. Package stages/plot draws them, one file per kind.

package table

import (
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
)

// PictureKind describes a kind of picture.
type PictureKind struct {
	// Rank is its place among the kinds, the lowest first: they are drawn and shown
	// in this order.
	Rank int
	// Name selects it: plot "gantt" {}.
	Name string
	// Doc describes it, without a full stop: "cores in use".
	Doc string
	// Args are the arguments that it takes, of "metric" (the name of a metric), "x"
	// and "y" (names of axes of the matrix), and "by" (a way to divide jobs). Required ones must be given; x and y
	// that are not are given both or neither.
	Args []schema.Arg
	// OnRequest is the reason that only a plot block draws it: "its axis must be
	// named"; empty when it is drawn by default.
	OnRequest string
	// Section names the part of the results (see analysis.Part) whose section shows it; empty for the section of
	// all pictures.
	Section string
	// Always reports that it is drawn also where plot blocks ask for other pictures.
	Always bool
	// OfCells names its pictures, in the plural, if each shows one cell: the report
	// has only some of these. Empty for pictures of the whole experiment.
	OfCells string
	// AllCells reports that the report shows pictures of other cells than the first
	// replicates, too.
	AllCells bool
	// Schedule reports that its pictures show the schedule of their cell, which readers
	// of the report can look into.
	Schedule bool
}

var pictures = schema.NewRegistry("table: kind of pictures", func(k PictureKind) string { return k.Name },
	func(k PictureKind) int { return k.Rank })

// RegisterPicture adds a kind of picture. It panics when one of that name exists.
func RegisterPicture(k PictureKind) PictureKind { return pictures.Add(k) }

// Pictures lists the kinds in their order.
func Pictures() []PictureKind { return pictures.All() }

// PictureByName finds a kind.
func PictureByName(name string) (PictureKind, bool) { return pictures.Find(name) }

// PictureNames lists the names of the kinds.
func PictureNames() []string { return pictures.Names(nil) }

// Arg returns an argument that the kind takes.
func (k PictureKind) Arg(name string) (schema.Arg, bool) {
	i := slices.IndexFunc(k.Args, func(a schema.Arg) bool { return a.Name == name })
	if i < 0 {
		return schema.Arg{}, false
	}
	return k.Args[i], true
}

// PicturesTaking lists the names of the kinds that take an argument.
func PicturesTaking(arg string) []string {
	return pictures.Names(func(k PictureKind) bool {
		_, takes := k.Arg(arg)
		return takes
	})
}
