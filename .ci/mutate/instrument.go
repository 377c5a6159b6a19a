package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
)

// edits are texts to put into a file: where an expression begins, where it ends, and in place of an operator.
type edits struct {
	opens, closes map[int]string
	instead       map[int]replaced
}

type replaced struct {
	length int
	with   string
}

// around puts text before and after what lies between two offsets. What is put around an outer expression must be put
// first.
func (e *edits) around(from, to int, before, after string) {
	e.opens[from] += before
	e.closes[to] = after + e.closes[to]
}

// apply makes the edited text. No edit adds a line, so that the compiler's errors have the lines of the source.
func (e *edits) apply(text []byte) []byte {
	all := map[int]bool{}
	for _, at := range slices.Concat(slices.Collect(maps.Keys(e.opens)), slices.Collect(maps.Keys(e.closes)),
		slices.Collect(maps.Keys(e.instead))) {
		all[at] = true
	}
	var out bytes.Buffer
	last := 0
	for _, at := range slices.Sorted(maps.Keys(all)) {
		out.Write(text[last:at])
		out.WriteString(e.closes[at] + e.opens[at] + e.instead[at].with)
		last = at + e.instead[at].length
	}
	out.Write(text[last:])
	return out.Bytes()
}

// instrument returns a file in which each mutant stands behind a switch, but for those that are single.
func (p *code) instrument(f *source) []byte {
	e := &edits{map[int]string{}, map[int]string{}, map[int]replaced{}}
	offset := func(at token.Pos) int { return p.set.Position(at).Offset }
	for _, s := range p.sites {
		if s.file != f || p.mutants[s.number-1].single {
			continue
		}
		call := func(name string) string { return fmt.Sprintf("mutate_%s(%d, ", name, s.number) }
		switch n := s.node.(type) {
		case *ast.IfStmt:
			e.around(offset(n.Cond.Pos()), offset(n.Cond.End()), call("Not"), ")")
		case *ast.IncDecStmt:
			x := string(f.text[offset(n.X.Pos()):offset(n.X.End())])
			op := map[token.Token]string{token.INC: " += ", token.DEC: " -= "}[n.Tok]
			e.instead[offset(n.TokPos)] = replaced{2, op + call("Sign") + x + ", 1)"}
		case *ast.AssignStmt:
			x := string(f.text[offset(n.Lhs[0].Pos()):offset(n.Lhs[0].End())])
			e.around(offset(n.Rhs[0].Pos()), offset(n.Rhs[0].End()), call("Sign")+x+", ", ")")
		case *ast.BinaryExpr:
			from, to, at := offset(n.X.Pos()), offset(n.Y.End()), offset(n.OpPos)
			comma := replaced{len(n.Op.String()), ","}
			switch n.Op {
			case token.EQL, token.NEQ:
				e.around(from, to, call("Not"), ")")
			case token.LAND, token.LOR:
				e.around(from, to, call(names[n.Op]), ") })")
				e.instead[at] = replaced{comma.length, ", func() bool { return ("}
			case token.LSS, token.LEQ, token.GTR, token.GEQ:
				e.around(from, to, call(names[n.Op]), ")")
				e.instead[at] = comma
			default:
				e.around(from, to, fmt.Sprintf("mutate_%s%s(%d, ", names[n.Op], p.instance(n), s.number), ")")
				e.instead[at] = comma
			}
		}
	}
	return e.apply(f.text)
}

// instance is the type of an operation, if it has a name that is known everywhere: constants do not show it.
func (p *code) instance(n ast.Expr) string {
	if b, ok := p.info.TypeOf(n).(*types.Basic); ok && b.Info()&types.IsUntyped == 0 {
		return "[" + b.Name() + "]"
	}
	return ""
}

var names = map[token.Token]string{
	token.LAND: "And", token.LOR: "Or", token.LSS: "Less", token.LEQ: "AtMost", token.GTR: "More", token.GEQ: "AtLeast",
	token.ADD: "Add", token.SUB: "Subtract", token.MUL: "Multiply", token.QUO: "Divide",
}

// switches is the file that is added to an instrumented package. The mutant that is on is in MUTATE; MUTATE_REACHED is
// a file with a byte for each mutant, which is set when its place is reached, in this process or in one that it starts.
const switches = `package %s

import (
	mutate_cmp "cmp"
	mutate_os "os"
	mutate_strconv "strconv"
	mutate_syscall "syscall"
)

var mutate_on, mutate_reached = func() (int, []byte) {
	on, _ := mutate_strconv.Atoi(mutate_os.Getenv("MUTATE"))
	if path := mutate_os.Getenv("MUTATE_REACHED"); path != "" {
		if f, err := mutate_os.OpenFile(path, mutate_os.O_RDWR, 0); err == nil {
			defer f.Close()
			const all = mutate_syscall.PROT_READ | mutate_syscall.PROT_WRITE
			if bytes, err := mutate_syscall.Mmap(int(f.Fd()), 0, %[2]d, all, mutate_syscall.MAP_SHARED); err == nil {
				return on, bytes
			}
		}
	}
	return on, make([]byte, %[2]d)
}()

type mutate_number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}

func mutate_Is(n int) bool { mutate_reached[n] = 1; return n == mutate_on }

func mutate_Not(n int, b bool) bool { return b != mutate_Is(n) }

func mutate_And(n int, a bool, b func() bool) bool {
	if mutate_Is(n) { return a || b() }
	return a && b()
}

func mutate_Or(n int, a bool, b func() bool) bool {
	if mutate_Is(n) { return a && b() }
	return a || b()
}

func mutate_Less[T mutate_cmp.Ordered](n int, a, b T) bool {
	if mutate_Is(n) { return a <= b }
	if n+1 == mutate_on { return a >= b }
	return a < b
}

func mutate_AtMost[T mutate_cmp.Ordered](n int, a, b T) bool {
	if mutate_Is(n) { return a < b }
	if n+1 == mutate_on { return a > b }
	return a <= b
}

func mutate_More[T mutate_cmp.Ordered](n int, a, b T) bool {
	if mutate_Is(n) { return a >= b }
	if n+1 == mutate_on { return a <= b }
	return a > b
}

func mutate_AtLeast[T mutate_cmp.Ordered](n int, a, b T) bool {
	if mutate_Is(n) { return a > b }
	if n+1 == mutate_on { return a < b }
	return a >= b
}

func mutate_Add[T mutate_number](n int, a, b T) T {
	if mutate_Is(n) { return a - b }
	return a + b
}

func mutate_Subtract[T mutate_number](n int, a, b T) T {
	if mutate_Is(n) { return a + b }
	return a - b
}

func mutate_Multiply[T mutate_number](n int, a, b T) T {
	if mutate_Is(n) { return a / b }
	return a * b
}

func mutate_Divide[T mutate_number](n int, a, b T) T {
	if mutate_Is(n) { return a * b }
	return a / b
}

func mutate_Sign[T mutate_number](n int, like, by T) T {
	if mutate_Is(n) { return -by }
	return by
}
`
