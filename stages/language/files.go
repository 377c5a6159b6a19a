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
	Shown string // the path that messages show
}

// Finder finds the files that an experiment file names.
type Finder struct {
	*eval.Reporter
	// Filename is the path of the experiment file, and Dir is its folder as an absolute path.
	Filename, Dir string
	// Named collects the absolute paths that the file names; nil means that they are not collected.
	Named *[]string
	// Copy has copies of files. They are used in place of absolute paths that the file names.
	Copy record.Copy
}

// Absolute returns the absolute path of a path in the experiment file.
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

// Find returns the file with a path in the experiment file.
func (d Finder) Find(name string) Input {
	if filepath.IsAbs(name) {
		return Input{Path: d.Absolute(name), Shown: name}
	}
	return Input{Path: d.Absolute(name), Shown: filepath.Join(filepath.Dir(d.Filename), name)}
}

// Sentence turns a phrase into a sentence: it capitalizes the first letter and adds a period.
func Sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }
