package language

import (
	"path/filepath"
	"strings"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
)

// Input is a file that an experiment reads.
type Input struct {
	Path  string // absolute
	Shown string // in messages
}

// Finder finds the files that an experiment file names.
type Finder struct {
	*eval.Reporter
	// Filename is the experiment file, and Dir its folder, absolute.
	Filename, Dir string
	// Named are the paths that the file names, absolute; nil: they are not kept.
	Named *[]string
	// Copy has copies of files, in the place of the absolute paths that the file names.
	Copy record.Copy
}

// Absolute makes a path of the file absolute.
func (d Finder) Absolute(p string) string {
	if filepath.IsAbs(p) {
		p = d.Copy.Find(filepath.Clean(p))
	} else {
		p = filepath.Join(d.Dir, p)
	}
	if d.Named != nil {
		*d.Named = schema.AddOnce(*d.Named, p)
	}
	return p
}

// Find finds a file by its name in the experiment.
func (d Finder) Find(name string) Input {
	if filepath.IsAbs(name) {
		return Input{Path: d.Absolute(name), Shown: name}
	}
	return Input{Path: d.Absolute(name), Shown: filepath.Join(filepath.Dir(d.Filename), name)}
}

// Sentence makes a Sentence of a phrase.
func Sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }
