package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/editor"
	"github.com/tfexp/tfexp/pipeline/decode"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print a JSON schema of experiments in JSON syntax",
		Long:    help("schema"),
		Example: `  tfexp schema >tfexp.schema.json`,
		Args:    Between(0, 0, ""),
		RunE:    func(*cobra.Command, []string) error { return a.PrintJSON(editor.JSONSchema(decode.Language())) },
	}
}

func (a *app) languageServerCommand() *cobra.Command {
	var stdio bool
	cmd := &cobra.Command{
		Use:   "language-server",
		Short: "Help an editor with experiments (LSP on standard input and output)",
		Long:  help("language-server"),
		Args:  Between(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			host := HostFacts()
			check := func(path string, src []byte) experiments.Diagnostics {
				_, diags := decode.Source(path, src, decode.Options{Host: host})
				return diags
			}
			err := Serve(cmd.Context(), os.Stdin, a.Raw, ThisBuild().Version, check)
			if err != nil {
				return fmt.Errorf("language server: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&stdio, "stdio", true, "use standard input and output (it always does)")
	return cmd
}
