package experiments

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	hcljson "github.com/hashicorp/hcl/v2/json"

	"github.com/tfexp/tfexp/experiments/language"
)

// LoadOptions are what comes from outside of the file.
type LoadOptions struct {
	// Vars are values of variables, "name=value", as -var takes them. They win
	// over VarFiles, and later ones over earlier ones.
	Vars []string
	// VarFiles are files of HCL arguments, or JSON objects (.json).
	VarFiles []string
	// Lenient leaves out malformed lines of traces, and jobs that are larger than
	// the hardware, with a warning that counts them.
	Lenient bool
	// Host is what host.* reads, and what real runs are checked against.
	Host HostFacts
}

// HostFacts describe the machine that tfexp runs on.
type HostFacts struct {
	Threads, Cores int
	MemoryBytes    int64
	OS, Arch       string
	CPUModel, Name string
	GPUs           int
	GPUType        string // their model
	// NoGPUs is a phrase that says why there are none; empty if there are some.
	NoGPUs string
}

// Load reads the experiment in a file, in HCL's native syntax or, when the
// name ends in .json, in its JSON syntax. The spec is nil when the diagnostics
// have an error. The checks of Spec.Check are included.
func Load(path string, opts LoadOptions) (*Spec, Diagnostics) {
	src, err := readSource(path)
	if err != nil {
		return nil, Diagnostics{{Severity: SeverityError, Summary: "Cannot read the experiment", Detail: err.Error() + ".", Range: Range{File: path}}}
	}
	return LoadSource(path, src, opts)
}

// readSource reads a file; its errors are phrases for people.
func readSource(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s", path)
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory; name the file in it", path)
	}
	return os.ReadFile(path)
}

// LoadSource is Load for a source that is in memory. The file name tells the
// syntax, and the folder that relative paths in the source begin at.
func LoadSource(filename string, src []byte, opts LoadOptions) (*Spec, Diagnostics) {
	r := newReporter()
	root := r.parse(filename, src)
	if root == nil {
		r.list.sort()
		return nil, r.list
	}
	d := newDecoder(r, root, filename, opts)
	spec := d.spec()
	spec.File, spec.Source = filename, src
	for _, found := range spec.Check(opts.Host) {
		r.add(found)
	}
	r.list.sort()
	if r.failed() {
		return nil, r.list
	}
	return spec, r.list
}

// parse returns the body of a file with its names checked, or nil when the
// file cannot be parsed: what follows a syntax error is guesswork.
func (r *reporter) parse(filename string, src []byte) *node {
	file := r.parseFile(filename, src)
	if file == nil {
		return nil
	}
	start := hcl.Pos{Line: 1, Column: 1}
	top := hcl.Range{Filename: filename, Start: start, End: start}
	root := &node{schema: language.File(), header: top}
	r.structure(file.Body, root)
	return root
}

// parseFile returns nil, having reported why, when there is an error.
func (r *reporter) parseFile(filename string, src []byte) *hcl.File {
	r.files[filename] = &hcl.File{Bytes: src}
	if !utf8.Valid(src) {
		at := 0
		for c, size := utf8.DecodeRune(src); c != utf8.RuneError || size != 1; c, size = utf8.DecodeRune(src[at:]) {
			at += size
		}
		pos := hcl.Pos{Line: 1 + bytes.Count(src[:at], []byte("\n")), Column: at - bytes.LastIndexByte(src[:at], '\n'), Byte: at}
		end := pos
		end.Byte, end.Column = at+1, pos.Column+1
		r.errorf(hcl.Range{Filename: filename, Start: pos, End: end}, "Not UTF-8", "The file is not a text in UTF-8: byte %d is 0x%02x.", at, src[at])
		return nil
	}
	var file *hcl.File
	var diags hcl.Diagnostics
	if strings.HasSuffix(filename, ".json") {
		file, diags = hcljson.Parse(src, filename)
	} else {
		file, diags = hclsyntax.ParseConfig(src, filename, hcl.InitialPos)
	}
	if file != nil && file.Bytes != nil {
		r.files[filename] = file
	}
	r.addSyntax(diags)
	if diags.HasErrors() || file == nil {
		return nil
	}
	return file
}

// Format rewrites a source in the canonical layout. A source with a syntax
// error is refused, with the diagnostics that say why.
func Format(filename string, src []byte) ([]byte, Diagnostics) {
	r := newReporter()
	if r.parseFile(filename, src) == nil {
		r.list.sort()
		return nil, r.list
	}
	if !strings.HasSuffix(filename, ".json") {
		return hclwrite.Format(src), nil
	}
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(src), "", "  "); err != nil {
		return nil, Diagnostics{{Severity: SeverityError, Summary: "Invalid JSON", Detail: err.Error() + ".", Range: Range{File: filename}}}
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// folder is where relative paths of a file begin, absolute where the
// operating system can tell.
func folder(filename string) string {
	dir := filepath.Dir(filename)
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}
