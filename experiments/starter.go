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

// Starter returns a commented experiment with the given name. It runs
// unchanged, in less than a minute.
func Starter(name string) []byte { return named(starter, name) }

// experimentHeader is the beginning of an experiment.
var experimentHeader = regexp.MustCompile(`(?m)^experiment "[^"]*"`)

// named gives an experiment another name.
func named(source []byte, name string) []byte {
	at := experimentHeader.FindIndex(source)
	return bytes.Join([][]byte{source[:at[0]], []byte(`experiment "` + name + `"`), source[at[1]:]}, nil)
}

// Template is an experiment to start from, with the files that it needs.
type Template struct{ Name, Doc string }

// templatesDir has one folder for each template. The first line of a template's experiment describes it.
const (
	templatesDir   = "templates"
	experimentFile = "experiment.hcl"
)

// Templates lists them.
func Templates() []Template {
	folders, _ := fs.ReadDir(templates, templatesDir) // which is part of the program
	var list []Template
	for _, f := range folders {
		raw, _ := fs.ReadFile(templates, path.Join(templatesDir, f.Name(), experimentFile))
		first, _, _ := bytes.Cut(raw, []byte("\n"))
		list = append(list, Template{f.Name(), string(bytes.TrimPrefix(first, []byte("# ")))})
	}
	return list
}

// File is a file that a template consists of.
type File struct {
	Name   string
	Source []byte
}

// Files returns the files of a template, the experiment first: as file, with that name.
func (t Template) Files(file, name string) ([]File, error) {
	folder := path.Join(templatesDir, t.Name)
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
		if e.Name() == experimentFile {
			files[0] = File{file, named(raw, name)}
		} else {
			files = append(files, File{e.Name(), raw})
		}
	}
	return files, nil
}
