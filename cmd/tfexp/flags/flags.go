// Package flags lets a feature add a flag to the command of another feature.
package flags

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
)

// Flag is a flag that a feature adds to a command. Command is the command's name. If the user gives the flag, the
// command calls Do; each command defines the type F of Do.
type Flag[F any] struct {
	Command, Name, Usage string
	// Synopsis is appended to the usage line. Example is added to the examples in the help, and About to its
	// paragraphs. Example and About may be empty.
	Synopsis, Example, About string
	Do                       F
}

// Given is a flag of a feature with its value; the value is empty if the flag was not given.
type Given[F any] struct {
	Name, Value string
	Do          F
}

var registered []any

// Register adds a flag of a feature.
func Register[F any](f Flag[F]) { registered = append(registered, f) }

// Add adds the flags that features have registered for a command. The returned values are set when the command runs.
func Add[F any](cmd *cobra.Command) (given []*Given[F]) {
	for _, one := range registered {
		f, ok := one.(Flag[F])
		if !ok || f.Command != cmd.Name() {
			continue
		}
		g := &Given[F]{Name: f.Name, Do: f.Do}
		given = append(given, g)
		cmd.Flags().StringVar(&g.Value, f.Name, "", f.Usage)
		cmd.Use += " " + f.Synopsis
		cmd.Example += "\n  " + f.Example
		if f.About == "" {
			continue
		}
		last := strings.LastIndex(cmd.Long, "\n\n") // the last paragraph is about the exit status
		cmd.Long = cmd.Long[:last] + "\n\n" + f.About + cmd.Long[last:]
	}
	return given
}

// Moment is a sentence that a feature adds about an instant in a job's history.
type Moment struct {
	At        float64 // seconds from the cell's start
	What, Why string
}

// Exclude makes it a usage error to give both flags.
func Exclude(cmd *cobra.Command, one, other string) {
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if before != nil {
			if err := before(cmd, args); err != nil {
				return err
			}
		}
		if cmd.Flags().Changed(one) && cmd.Flags().Changed(other) {
			return command.Usagef("leave out one of them", "--%s and --%s exclude each other", one, other)
		}
		return nil
	}
}
