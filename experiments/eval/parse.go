package eval

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"

	"github.com/tfexp/tfexp/experiments/language"
)

// ReadSource reads a file; its errors are phrases for people.
func ReadSource(path string) ([]byte, error) {
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

// Parse returns the body of a file with its names checked, or nil when the
// file cannot be parsed: what follows a syntax error is guesswork.
func (r *Reporter) Parse(filename string, src []byte) *Node {
	file := r.ParseFile(filename, src)
	if file == nil {
		return nil
	}
	start := hcl.Pos{Line: 1, Column: 1}
	top := hcl.Range{Filename: filename, Start: start, End: start}
	root := &Node{Schema: language.File(), Header: top}
	r.structure(file.Body, root)
	return root
}

// ParseFile returns nil, having reported why, when there is an error.
func (r *Reporter) ParseFile(filename string, src []byte) *hcl.File {
	r.Files[filename] = &hcl.File{Bytes: src}
	if !utf8.Valid(src) {
		at := 0
		for c, size := utf8.DecodeRune(src); c != utf8.RuneError || size != 1; c, size = utf8.DecodeRune(src[at:]) {
			at += size
		}
		pos := hcl.Pos{
			Line: 1 + bytes.Count(src[:at], []byte("\n")), Column: at - bytes.LastIndexByte(src[:at], '\n'), Byte: at,
		}
		end := pos
		end.Byte, end.Column = at+1, pos.Column+1
		r.Errorf(hcl.Range{Filename: filename, Start: pos, End: end}, "Not UTF-8",
			"The file is not UTF-8 text: byte %d is 0x%02x.", at, src[at])
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
		r.Files[filename] = file
	}
	r.addSyntax(diags)
	if diags.HasErrors() || file == nil {
		return nil
	}
	return file
}
