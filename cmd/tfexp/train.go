package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/jobs/builtin"
)

// trainCommand runs a built-in training program. Experiments use it for their
// jobs; users rarely need it.
func (a *app) trainCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "train " + strings.Join(builtin.Names(), "|") + " [flags]",
		Short:  "Run a built-in training program by itself",
		Hidden: true,
		// The programs read their own flags, --help included.
		DisableFlagParsing: true,
		ValidArgs:          builtin.Names(),
		RunE: func(_ *cobra.Command, args []string) error {
			return Silently(builtin.MainSince(builtin.Began(), args, a.Out, a.Err))
		},
	}
}
