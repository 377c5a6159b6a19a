package eval

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
)

// ReadSource reads a file. Its errors are phrases for messages to the user.
func ReadSource(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s", path)
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory; name the file in it", path)
	case info.Mode()&(fs.ModeDevice|fs.ModeSocket) != 0:
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	how := os.O_RDONLY
	pipe := info.Mode()&fs.ModeNamedPipe != 0
	if pipe {
		how |= syscall.O_NONBLOCK // else opening a pipe that nothing writes to would block
	}
	f, err := folder.OpenFile(path, how, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := ReadAll(path, f)
	if err == nil && pipe && len(src) == 0 {
		err = fmt.Errorf("%s is a pipe that nothing writes to", path)
	}
	return src, err
}

// ReadAll reads a source up to the size limit of a file. name is for the error.
func ReadAll(name string, r io.Reader) ([]byte, error) {
	src, err := io.ReadAll(io.LimitReader(r, MostSource+1))
	if err == nil && len(src) > MostSource {
		err = fmt.Errorf("%s has more than %d MiB", name, MostSource>>20)
	}
	return src, err
}

// tooLarge is the summary of errors about a file that would take too long to read.
const tooLarge = "Too large to read"

// Parse parses a file and checks its names against the language. It returns nil after a syntax error, because the
// rest of the file can then not be understood.
func (r *Reporter) Parse(filename string, src []byte, language *schema.Block) *Node {
	file := r.ParseFile(filename, src)
	if file == nil {
		return nil
	}
	start := hcl.Pos{Line: 1, Column: 1}
	top := hcl.Range{Filename: filename, Start: start, End: start}
	root := &Node{Schema: language, Header: top}
	r.structure(file.Body, root)
	return root
}

// ParseFile parses a file. It returns nil after an error, which it reports.
func (r *Reporter) ParseFile(filename string, src []byte) *hcl.File {
	if len(src) > MostSource { // text editors can send larger sources
		r.Errorf(hcl.Range{Filename: filename, Start: hcl.InitialPos, End: hcl.InitialPos}, tooLarge,
			"The file has more than %d MiB.", MostSource>>20)
		return nil
	}
	r.Files[filename] = &hcl.File{Bytes: src}
	for at, size := 0, 0; at < len(src); at += size {
		var c rune
		if c, size = utf8.DecodeRune(src[at:]); c == 0 || c == utf8.RuneError && size == 1 {
			r.Errorf(byteAt(filename, src, at), "Not UTF-8",
				"The file is not UTF-8 text: byte %d is 0x%02x. Save it in the encoding UTF-8.", at, src[at])
			return nil
		}
	}
	var file *hcl.File
	var diags hcl.Diagnostics
	if strings.HasSuffix(filename, ".json") {
		if at, summary, what := TooDeepJSON(filename, src); what != "" {
			r.Errorf(at, summary, "%s", what)
			return nil
		}
		file, diags = hcljson.Parse(src, filename)
	} else {
		if at, what := TooDeep(filename, src); what != "" {
			r.Errorf(at, tooLarge, "%s", what)
			return nil
		}
		file, diags = hclsyntax.ParseConfig(src, filename, hcl.InitialPos)
	}
	if file != nil && file.Bytes != nil {
		r.Files[filename] = file
	}
	r.addSyntax(diags)
	if diags.HasErrors() || file == nil {
		return nil
	}
	if body, ok := file.Body.(*hclsyntax.Body); ok {
		r.duplicateKeys(body)
		r.effort.Count(body)
	}
	return file
}

// duplicateKeys reports objects that have the same key twice: HCL would use only the last.
func (r *Reporter) duplicateKeys(body *hclsyntax.Body) {
	_ = hclsyntax.VisitAll(body, func(n hclsyntax.Node) hcl.Diagnostics {
		object, ok := n.(*hclsyntax.ObjectConsExpr)
		if !ok {
			return nil
		}
		lines := map[string]int{}
		for _, item := range object.Items {
			at := item.KeyExpr.Range()
			key := hcl.ExprAsKeyword(item.KeyExpr)
			if key == "" {
				v, diags := item.KeyExpr.Value(nil)
				if diags.HasErrors() || !v.IsWhollyKnown() || v.IsNull() || !v.Type().IsPrimitiveType() {
					continue
				}
				key = Display(v)
			}
			if first, twice := lines[key]; twice {
				r.Errorf(at, "Duplicate key", "The key %q is at line %d too: remove one of the two.", key, first)
			}
			lines[key] = at.Start.Line
		}
		return nil
	})
}
