package tfexp

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/scheduler/policy"
	_ "github.com/tfexp/tfexp/stages/all"
)

// TestSchedulerKnowsNoPolicy holds the scheduler apart from the policies: it names
// none of those that are registered. Nor does anything else by the constants of
// package policy: what depends on a policy is asked of the registry.
func TestSchedulerKnowsNoPolicy(t *testing.T) {
	constants := policyConstants(t)
	if !slices.Contains(constants, "FCFS") || !slices.Contains(constants, "MaxProp") ||
		!slices.Contains(constants, "EASY") {
		t.Fatalf("the constants of package policy are not found: %v", constants)
	}
	var names []string
	for _, q := range policy.Questions {
		if q != policy.PreemptionOf { // "pause" is what the scheduler does, too
			names = append(names, q.Names()...)
		}
	}
	eachFile(t, func(path, pkg string, file *ast.File) {
		if strings.HasPrefix(pkg+"/", "scheduler/policy/") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "policy" && slices.Contains(constants, n.Sel.Name) {
					t.Errorf("%s uses policy.%s: ask the registry for what it is about", path, n.Sel.Name)
				}
			case *ast.Ident:
				if pkg == "scheduler" && n.Name != "Priority" && slices.Contains(constants, n.Name) { // a job has one
					t.Errorf("%s: the scheduler knows %s", path, n.Name)
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && pkg == "scheduler" && slices.Contains(names, text) {
					t.Errorf("%s: the scheduler knows %q", path, text)
				}
			}
			return true
		})
	})
}

// policyConstants returns the names of the constants that stand for choices.
func policyConstants(t *testing.T) []string {
	var names []string
	eachFile(t, func(_, pkg string, file *ast.File) {
		if pkg != "scheduler/policy" {
			return
		}
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				if of, ok := v.Type.(*ast.Ident); ok && of.Name != "Question" {
					for _, name := range v.Names {
						names = append(names, name.Name)
					}
				}
			}
		}
	})
	return names
}
