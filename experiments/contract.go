package experiments

import (
	"errors"
	"io/fs"
	"os"
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
func (a *args) contractEnv() {
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

// paths checks that what a job's program needs is there. A program that is
// missing itself is a job that fails, like any other that cannot start.
func (c *checker) paths(j *Job) {
	if at, ok := j.At["dir"]; ok {
		switch info, err := os.Stat(j.Dir); {
		case err != nil:
			c.errorf(at, "Missing folder", "The folder %s cannot be used: %s.", j.Dir, cause(err))
		case !info.IsDir():
			c.errorf(at, "Missing folder", "%s is not a folder.", j.Dir)
		}
	}
	for _, f := range j.Files {
		if _, err := os.Stat(f); err != nil {
			// One summary each, or several files of a line would be one message.
			c.errorf(j.At["files"], "Missing file "+f, "The file %s cannot be read: %s.", f, cause(err))
		}
	}
}

// cause is an error of the file system without the path that it names.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
