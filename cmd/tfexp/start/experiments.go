package start

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"

	"github.com/tfexp/tfexp/experiments"
)

// starter returns a commented experiment with the given name. It runs
// unchanged, in less than a minute.
func starter(name string) []byte {
	source, _ := fs.ReadFile(experiments.Templates, "starter.hcl") // which is part of the program
	return named(source, name)
}

// experimentHeader is the beginning of an experiment.
var experimentHeader = regexp.MustCompile(`(?m)^experiment "[^"]*"`)

// named gives an experiment another name.
func named(source []byte, name string) []byte {
	at := experimentHeader.FindIndex(source)
	return bytes.Join([][]byte{source[:at[0]], []byte(`experiment "` + name + `"`), source[at[1]:]}, nil)
}

// experimentTemplate is an experiment to start from, with the files that it needs.
type experimentTemplate struct{ Name, Doc string }

// templatesDir has one folder for each template. The first line of a template's experiment describes it.
const (
	templatesDir   = "templates"
	experimentFile = "experiment.hcl"
)

// listTemplates returns all templates.
func listTemplates() []experimentTemplate {
	folders, _ := fs.ReadDir(experiments.Templates, templatesDir) // which is part of the program
	var list []experimentTemplate
	for _, f := range folders {
		raw, _ := fs.ReadFile(experiments.Templates, path.Join(templatesDir, f.Name(), experimentFile))
		first, _, _ := bytes.Cut(raw, []byte("\n"))
		list = append(list, experimentTemplate{f.Name(), string(bytes.TrimPrefix(first, []byte("# ")))})
	}
	return list
}

// templateFile is a file that a template consists of.
type templateFile struct {
	Name   string
	Source []byte
}

// files returns the files of a template, the experiment first. The experiment gets a path and a name.
func (t experimentTemplate) files(file, name string) ([]templateFile, error) {
	folder := path.Join(templatesDir, t.Name)
	entries, err := fs.ReadDir(experiments.Templates, folder)
	if err != nil {
		return nil, fmt.Errorf("read template: %w", err)
	}
	files := make([]templateFile, 1)
	for _, e := range entries {
		raw, err := fs.ReadFile(experiments.Templates, path.Join(folder, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read template: %w", err)
		}
		if e.Name() == experimentFile {
			files[0] = templateFile{file, named(raw, name)}
		} else {
			files = append(files, templateFile{e.Name(), raw})
		}
	}
	return files, nil
}
