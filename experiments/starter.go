package experiments

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
)

//go:embed starter.hcl
var starter []byte

//go:embed templates
var templates embed.FS

// Starter returns a commented experiment of that name, which runs as it is
// and in less than a minute.
func Starter(name string) []byte { return named(starter, name) }

// experimentHeader is how an experiment begins.
var experimentHeader = regexp.MustCompile(`(?m)^experiment "[^"]*"`)

// named gives an experiment another name.
func named(source []byte, name string) []byte {
	at := experimentHeader.FindIndex(source)
	return bytes.Join([][]byte{source[:at[0]], []byte(`experiment "` + name + `"`), source[at[1]:]}, nil)
}

// Template is an experiment to start from, with the files that it needs.
type Template struct{ Name, Doc string }

// Templates lists them.
func Templates() []Template {
	return []Template{
		{"own-program", "a training program of one's own, in Python"},
		{"log-replay", "the log of a cluster"},
		{"simulated", "jobs and hardware that the file describes"},
		{"containers", "jobs in containers"},
	}
}

// File is a file that a template consists of.
type File struct {
	Name   string
	Source []byte
}

// Files returns the files of a template, the experiment first: as file, with that name.
func (t Template) Files(file, name string) ([]File, error) {
	folder := path.Join("templates", t.Name)
	entries, err := fs.ReadDir(templates, folder)
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	files := make([]File, 1)
	for _, e := range entries {
		raw, err := fs.ReadFile(templates, path.Join(folder, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read template: %w", err)
		}
		if e.Name() == "experiment.hcl" {
			files[0] = File{file, named(raw, name)}
		} else {
			files = append(files, File{e.Name(), raw})
		}
	}
	return files, nil
}
