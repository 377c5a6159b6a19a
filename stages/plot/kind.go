package plot

import (
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// Kind is a kind of picture. Each kind is registered in its own file.
type Kind struct {
	table.PictureKind
	// Draw returns the kind's pictures. A picture that lacks data has no Paint, but a reason. If the experiment does
	// not use the feature at all, Draw returns nothing.
	Draw func(*Data, Ask) ([]Figure, error)
}

// Ask has the arguments of a plot block.
type Ask struct {
	record.Plot
	// MaxCells is the greatest number of pictures of single cells.
	MaxCells int
}

// draws has the Draw functions, by name of the kind.
var draws = map[string]func(*Data, Ask) ([]Figure, error){}

// Register adds a kind of picture. It panics if the name is taken.
func Register(k Kind) table.PictureKind {
	draws[k.Name] = k.Draw
	return table.RegisterPicture(k.PictureKind)
}
