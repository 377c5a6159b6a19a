// Tfexp runs declarative experiments on machine-learning training jobs and
// the policies that schedule them, for real or in simulation.
package main

import (
	"io"
	"os"

	_ "github.com/tfexp/tfexp/hardware/engine/all"
	"github.com/tfexp/tfexp/hardware/process"
	_ "github.com/tfexp/tfexp/stages/all"
)

func main() {
	// The process engine runs this same program as the guardian of its jobs.
	if handled, code := process.Main(os.Args[1:]); handled {
		os.Exit(code)
	}
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr))
}

// Main runs the command line args (without the program's name) and returns
// the exit status.
func Main(args []string, stdout, stderr io.Writer) int {
	a := newApp(stdout, stderr)
	return a.Exit(a.execute(args))
}
