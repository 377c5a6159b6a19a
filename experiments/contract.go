package experiments

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// contractArguments are the arguments of a job that say what its environment
// tells it by the job contract; empty where tfexp alone can know.
var contractArguments = map[string]string{
	"TFEXP_EPOCHS": "epochs", "TFEXP_STEPS": "steps",
	"TFEXP_INTER_THREADS": "threads", "TFEXP_INTRA_THREADS": "threads", "OMP_NUM_THREADS": "threads",
	"TFEXP_NUM_GPUS": "gpus", "CUDA_VISIBLE_DEVICES": "gpus",
}

// contractEnv reports the variables that a job cannot set, because its
// environment has them by the job contract.
func contractEnv(a *args) {
	attr := a.n.attr("env")
	if attr == nil {
		return
	}
	keyAt := keyRanges(attr.Expr)
	for _, s := range get[[]Setting](a, "env") {
		argument, ours := contractArguments[s.Name]
		if !ours && !strings.HasPrefix(s.Name, "TFEXP_") {
			continue
		}
		at, ok := keyAt[s.Name]
		if !ok {
			at = attr.Expr.Range()
		}
		if argument == "" {
			a.fail(at, "Variable of the job contract", "tfexp itself sets %s for every job; choose another name.", s.Name)
		} else {
			a.fail(at, "Variable of the job contract", "tfexp itself sets %s, from the argument %s; use that instead.", s.Name, argument)
		}
	}
}

// keyRanges returns where the keys of an object are written, as far as it is
// written out.
func keyRanges(expr hcl.Expression) map[string]hcl.Range {
	at := map[string]hcl.Range{}
	pairs, _ := hcl.ExprMap(expr)
	for _, p := range pairs {
		if word := hcl.ExprAsKeyword(p.Key); word != "" {
			at[word] = p.Key.Range()
		} else if k, diags := p.Key.Value(nil); !diags.HasErrors() && k.Type() == cty.String && k.IsKnown() && !k.IsNull() {
			at[k.AsString()] = p.Key.Range()
		}
	}
	return at
}
