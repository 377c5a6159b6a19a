// Package doctor is the command "tfexp doctor".
package doctor

import (
	"embed"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/table"
)

//go:embed help
var helpTexts embed.FS

func init() {
	command.RegisterAt(command.GroupMachine, 10, doctorCommand)
}

func doctorCommand(a *command.App) *cobra.Command {
	var (
		out    string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "doctor [--out DIR] [--json]",
		Short: "Check that this machine can run experiments",
		Long:  command.Help(helpTexts, "doctor"),
		Example: `  tfexp doctor
  tfexp doctor --out /scratch/results --json`,
		Args: command.Between(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			checks := machineChecks(out)
			inUse := func(folder string) bool {
				_, held := store.Holder(folder)
				return held
			}
			for _, k := range engine.Kinds() {
				if k.Doctor != nil {
					checks = append(checks, k.Doctor(cmd.Context(), inUse)...)
				}
			}
			failed := false
			for _, c := range checks {
				failed = failed || c.Status == hardware.Fail
			}
			if asJSON {
				if err := a.PrintJSON(struct {
					OK     bool             `json:"ok"`
					Checks []hardware.Check `json:"checks"`
				}{!failed, checks}); err != nil {
					return err
				}
			} else {
				printChecks(a, checks)
			}
			if failed {
				return command.Silently(command.ExitUnavailable)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", command.DefaultOut, "the `DIR` for results")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printChecks(a *command.App, checks []hardware.Check) {
	width := 0
	for _, c := range checks {
		width = max(width, len(c.Name))
	}
	for _, c := range checks {
		mark, ink := "ok  ", table.Green
		switch c.Status {
		case hardware.Warn:
			mark, ink = "warn", table.Yellow
		case hardware.Fail:
			mark, ink = "FAIL", table.Red
		}
		fmt.Fprintf(a.Out, "%s  %-*s  %s\n", a.Printer().Paint(ink, mark), width, c.Name, hang(a.Out, c.Text, width+8))
		if c.Hint != "" {
			fmt.Fprintf(a.Out, "%s%s\n", strings.Repeat(" ", width+8), a.Printer().Paint(table.Dim, hang(a.Out, c.Hint,
				width+8)))
		}
	}
}

// leastHanging is the least width of a hanging text, in columns.
const leastHanging = 20

// hang wraps a text that is printed after left columns of a terminal. Continuation lines are indented by left columns.
func hang(w io.Writer, text string, left int) string {
	columns, ok := show.Columns(w)
	if !ok || columns-left < leastHanging {
		return text
	}
	return strings.ReplaceAll(table.Wrap(text, columns-left), "\n", "\n"+strings.Repeat(" ", left))
}
