package train

import (
	"fmt"
	"io"
	"strings"

	"github.com/tfexp/tfexp/jobs/contract"
)

// runFlag is a flag that affects the run, but not the result.
type runFlag struct {
	Name, Default, Doc string
	set                func(string) error
}

// runFlags are the flags that all programs share.
func runFlags(o *options) []runFlag {
	count := func(to *int) func(string) error {
		return func(s string) (err error) {
			*to, err = integer(s, 1)
			return err
		}
	}
	return []runFlag{
		{"epochs", fmt.Sprintf("$%s, or %d", contract.EnvEpochs, defaultEpochs), "total work in epochs", count(&o.epochs)},
		{"steps", "$" + contract.EnvSteps, "total work in optimizer steps, instead of epochs", count(&o.steps)},
		{"threads", fmt.Sprintf("$%s, then the allotment in $%s", contract.EnvIntra, contract.EnvControl),
			"threads to use; if given, the allotment in the control file is not followed", count(&o.threads)},
		{"save", "", "file to which the trained network is written; without it, no file is written",
			func(s string) error { o.save = s; return nil }},
	}
}

// usage prints the list of programs.
func usage(w io.Writer) {
	fmt.Fprint(w, "Train a classifier of handwritten digits: tfexp train PROGRAM [flags]\n\nPrograms:\n")
	for _, p := range Programs() {
		fmt.Fprintf(w, "  %-10s%s\n", p.Name, p.Doc)
	}
	fmt.Fprint(w, "\nThe flags of a program: tfexp train PROGRAM --help\n")
}

// programUsage prints a program's flags and exit statuses.
func programUsage(w io.Writer, p Program) {
	fmt.Fprintf(w, "%s\n\nUsage: tfexp train %s [flags]\n\nWhat is trained:\n", p.Doc, p.Name)
	for _, param := range p.Params {
		printFlag(w, strings.ReplaceAll(param.Name, "_", "-"), param.Doc, param.Default)
	}
	fmt.Fprint(w, "\nThe run:\n")
	for _, f := range runFlags(&options{}) {
		printFlag(w, f.Name, f.Doc, f.Default)
	}
	fmt.Fprintf(w, `
A line of JSON follows each epoch. On SIGTERM the program leaves a checkpoint in
$%s and ends; the same command continues from it.

Exit status: 0 finished, 1 failed, 2 wrong arguments, %d stopped by SIGTERM.
`, contract.EnvCheckpointDir, contract.ExitStopped)
}

func printFlag(w io.Writer, name, doc, value string) {
	if value != "" {
		doc += " (default " + value + ")"
	}
	fmt.Fprintf(w, "  --%-16s %s\n", name, doc)
}
