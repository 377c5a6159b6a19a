package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
)

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version [--json]",
		Short: "Print the version and how it was built",
		Example: `  tfexp version
  tfexp version --json`,
		Args: command.Between(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			b := command.ThisBuild()
			if asJSON {
				return a.PrintJSON(b)
			}
			fmt.Fprintf(a.Out, "tfexp %s\n", b.Version)
			if b.Commit != "" {
				changed := ""
				if b.Modified {
					changed = ", with local changes"
				}
				fmt.Fprintf(a.Out, "commit %s (%s%s)\n", b.Commit, b.Time, changed)
			}
			fmt.Fprintf(a.Out, "%s %s\n", b.Go, b.Platform)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
