package decode

import (
	"strings"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
)

// contractArguments maps the variables of the job contract to the arguments of a job that set them. It is "" for
// variables that only tfexp sets.
var contractArguments = map[string]string{
	"TFEXP_EPOCHS": "epochs", "TFEXP_STEPS": "steps", "TFEXP_TARGET_LOSS": "target_loss",
	"TFEXP_INTER_THREADS": "threads", "TFEXP_INTRA_THREADS": "threads", "OMP_NUM_THREADS": "threads",
	"TFEXP_NUM_GPUS": "gpus", "CUDA_VISIBLE_DEVICES": "gpus",
}

// contractEnv reports variables in a job's environment that the job contract reserves for tfexp.
func contractEnv(a *eval.Args, env []schema.Setting) {
	attr := a.Node.Attr("env")
	if attr == nil {
		return
	}
	keyAt := eval.KeyRanges(attr.Expr)
	for _, s := range env {
		if s.Name == "" || strings.ContainsAny(s.Name, "=\x00") {
			at, ok := keyAt[s.Name]
			if !ok {
				at = attr.Expr.Range()
			}
			a.Fail(at, "Not a variable", "%q cannot be the name of a variable of the environment.", s.Name)
			continue
		}
		argument, ours := contractArguments[s.Name]
		if !ours && !strings.HasPrefix(s.Name, "TFEXP_") {
			continue
		}
		at, ok := keyAt[s.Name]
		if !ok {
			at = attr.Expr.Range()
		}
		if argument == "" {
			a.Fail(at, "Variable of the job contract", "tfexp sets %s for every job; choose another name.",
				s.Name)
		} else {
			a.Fail(at, "Variable of the job contract",
				"tfexp sets %s from the argument %s; use that argument instead.", s.Name, argument)
		}
	}
}
