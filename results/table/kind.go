// This file has the registry of picture kinds: the contents of each kind, its arguments, and where its pictures appear.
// The language, the report and the documentation use it. Package stages/plot draws the pictures.

package table

import (
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
)

// PictureKind describes a kind of picture.
type PictureKind struct {
	// Rank determines the order of the kinds. Pictures of a kind with a lower rank are drawn and shown first.
	Rank int
	// Name is the kind's name in the language: plot "gantt" {}.
	Name string
	// Doc describes the kind, without a full stop: "cores in use".
	Doc string
	// Args are the arguments that the kind accepts. Possible ones are "metric" (the name of a metric), "x" and "y"
	// (names of axes of the matrix), and "by" (a way to divide jobs into groups). If x and y are optional, an
	// experiment gives both or neither.
	Args []schema.Arg
	// OnRequest is the reason why the kind is drawn only for a plot block, such as "its axis must be named". It is
	// empty for kinds that are drawn by default.
	OnRequest string
	// Section is the part of the results (see analysis.Part) in whose section the pictures appear. If it is empty, they
	// appear in the section of all pictures.
	Section string
	// Always reports whether the kind is drawn even if plot blocks name other kinds.
	Always bool
	// OfCells is the plural name of the pictures if each shows one cell; the report then has only some of them. It is
	// empty if each picture shows the whole experiment.
	OfCells string
	// AllCells reports whether the report has pictures of all cells, instead of first replicates only.
	AllCells bool
	// Schedule reports whether the pictures show the schedule of a cell. Readers can explore such a schedule in the
	// report.
	Schedule bool
}

var pictures = schema.NewRegistry("table: kind of pictures", func(k PictureKind) string { return k.Name },
	func(k PictureKind) int { return k.Rank })

// RegisterPicture adds a kind of picture. It panics if the name is taken.
func RegisterPicture(k PictureKind) PictureKind { return pictures.Add(k) }

// Pictures lists the kinds, sorted by rank.
func Pictures() []PictureKind { return pictures.All() }

// PictureByName returns the kind of that name, and whether it exists.
func PictureByName(name string) (PictureKind, bool) { return pictures.Find(name) }

// PictureNames lists the names of the kinds, sorted by rank.
func PictureNames() []string { return pictures.Names(nil) }

// Arg returns the kind's argument of that name, and whether the kind accepts it.
func (k PictureKind) Arg(name string) (schema.Arg, bool) {
	i := slices.IndexFunc(k.Args, func(a schema.Arg) bool { return a.Name == name })
	if i < 0 {
		return schema.Arg{}, false
	}
	return k.Args[i], true
}

// PicturesTaking lists the names of the kinds that accept the argument arg.
func PicturesTaking(arg string) []string {
	return pictures.Names(func(k PictureKind) bool {
		_, takes := k.Arg(arg)
		return takes
	})
}
