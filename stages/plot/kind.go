package plot

import (
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// Kind is a kind of picture that can be drawn. Each registers itself in its own
// file.
type Kind struct {
	table.PictureKind
	// Draw makes its pictures. Pictures that lack data are skipped: they have a
	// reason, and no Paint. There are no pictures and no reasons where the
	// experiment lacks the feature.
	Draw func(*Data, Ask) ([]Figure, error)
}

// Ask is the request of a plot block.
type Ask struct {
	record.Plot
	// MaxCells bounds the pictures of single cells.
	MaxCells int
}

// draws has the functions that draw, by kind.
var draws = map[string]func(*Data, Ask) ([]Figure, error){}

// Register adds a kind of picture. It panics when one of that name exists.
func Register(k Kind) table.PictureKind {
	draws[k.Name] = k.Draw
	return table.RegisterPicture(k.PictureKind)
}
