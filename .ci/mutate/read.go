package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// mutant is a change of a file: with replaces the bytes from and to. Its number is its place among the mutants of its
// package, from 1.
type mutant struct {
	number   int
	path     string
	line     int
	from, to int
	was      string
	with     string
	changed  string // the lines of the change as they become, without indentation
	single   bool   // cannot stand behind a switch: is compiled by itself
}

// String is "policy/easy.go:12: == → !=  |  if a != b {".
func (m mutant) String() string {
	return fmt.Sprintf("%s:%d: %s → %s  |  %s", filepath.ToSlash(m.path), m.line, m.was, m.with, m.changed)
}

// key is how equivalent.txt names a mutant: by what its line becomes, which stays when lines are added above.
func (m mutant) key() string { return filepath.ToSlash(m.path) + ": " + m.changed }

// source is a file of a package.
type source struct {
	path, full string
	text       []byte
	tree       *ast.File
}

// code is a package with its mutants.
type code struct {
	dir, name string
	set       *token.FileSet
	files     []*source
	info      *types.Info
	mutants   []mutant
	sites     []site
}

// read parses and types the package in a folder, and finds its mutants.
func read(dir string) (*code, error) {
	p := &code{dir: dir, set: token.NewFileSet(), info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}}
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,Name,GoFiles,DepOnly", "./"+filepath.ToSlash(dir))
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var l struct {
			ImportPath, Export, Dir, Name string
			GoFiles                       []string
			DepOnly                       bool
		}
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[l.ImportPath] = l.Export
		if l.DepOnly {
			continue
		}
		p.name = l.Name
		for _, file := range l.GoFiles {
			f := &source{path: filepath.Join(dir, file), full: filepath.Join(l.Dir, file)}
			if f.text, err = os.ReadFile(f.full); err != nil {
				return nil, err
			}
			if f.tree, err = parser.ParseFile(p.set, f.path, f.text, parser.SkipObjectResolution); err != nil {
				return nil, err
			}
			p.files = append(p.files, f)
		}
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	checked := types.Config{Importer: importer.ForCompiler(p.set, "gc", open), Error: func(error) {}}
	var trees []*ast.File
	for _, f := range p.files {
		trees = append(trees, f.tree)
	}
	// An error of types would be the compiler's as well; what it leaves unknown is compiled by itself.
	_, _ = checked.Check(dir, p.set, trees, p.info)
	for _, f := range p.files {
		p.find(f)
	}
	return p, nil
}

// swaps are what an operator is changed into.
var swaps = map[token.Token][]token.Token{
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL},
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN},
	token.INC: {token.DEC}, token.DEC: {token.INC},
}

// site is a place of a file with its mutants, whose numbers follow each other.
type site struct {
	file   *source
	node   ast.Node
	number int
}

// find adds the mutants of a file: those of operators, and conditions that are turned round. A condition that is a
// comparison has that mutant already.
func (p *code) find(f *source) {
	constants := map[ast.Node]bool{} // where the language wants a constant
	add := func(n ast.Node, pos token.Pos, length int, single bool, with ...string) {
		at := p.set.Position(pos)
		from, to := at.Offset, at.Offset+length
		p.sites = append(p.sites, site{f, n, len(p.mutants) + 1})
		begin := strings.LastIndexByte(string(f.text[:from]), '\n') + 1
		end := to + strings.IndexByte(string(f.text[to:])+"\n", '\n')
		for _, w := range with {
			changed := strings.Join(strings.Fields(string(f.text[begin:from])+w+string(f.text[to:end])), " ")
			was := strings.Join(strings.Fields(string(f.text[from:to])), " ")
			p.mutants = append(p.mutants, mutant{len(p.mutants) + 1, f.path, at.Line, from, to, was, w, changed, single})
		}
	}
	operator := func(n ast.Node, pos token.Pos, op token.Token, single bool) {
		var with []string
		for _, other := range swaps[op] {
			with = append(with, other.String())
		}
		if len(with) > 0 {
			add(n, pos, len(op.String()), single, with...)
		}
	}
	var within []ast.Node
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if n == nil {
			within = within[:len(within)-1]
			return true
		}
		fixed := len(within) > 0 && constants[within[len(within)-1]]
		switch n := n.(type) {
		case *ast.GenDecl:
			fixed = n.Tok == token.CONST
		case *ast.ArrayType:
			fixed = true
		case *ast.FuncLit, *ast.StructType, *ast.InterfaceType:
			fixed = false
		case *ast.BinaryExpr:
			if p.has(n, types.IsString) {
				break // has no other operator
			}
			operator(n, n.OpPos, n.Op, fixed || !p.switched(n))
		case *ast.AssignStmt:
			if len(n.Lhs) == 1 && !p.has(n.Lhs[0], types.IsString) {
				operator(n, n.TokPos, n.Tok, calls(n.Lhs[0]))
			}
		case *ast.IncDecStmt:
			operator(n, n.TokPos, n.Tok, calls(n.X))
		case *ast.IfStmt:
			if b, ok := n.Cond.(*ast.BinaryExpr); ok && b.Op != token.LAND && b.Op != token.LOR {
				break
			}
			at, end := p.set.Position(n.Cond.Pos()).Offset, p.set.Position(n.Cond.End()).Offset
			add(n, n.Cond.Pos(), end-at, false, "!("+string(f.text[at:end])+")")
		}
		constants[n] = fixed
		within = append(within, n)
		return true
	})
}

// has reports whether an expression is of a basic type with some property, such as that of strings; comparisons of
// strings are not.
func (p *code) has(e ast.Expr, what types.BasicInfo) bool {
	t := p.info.TypeOf(e)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&what != 0
}

// switched reports whether an operation can become a call, which is not constant and whose types are inferred.
func (p *code) switched(n *ast.BinaryExpr) bool {
	known, ok := p.info.Types[n]
	if !ok {
		return false
	}
	return known.Value == nil || p.has(n, types.IsInteger)
}

// calls reports whether an expression calls something: it must be evaluated once only.
func calls(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if _, ok := n.(*ast.CallExpr); ok {
			found = true
		}
		return !found
	})
	return found
}
