package editor

import (
	"embed"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/decode"
)

//go:embed help
var helpTexts embed.FS

func init() {
	command.Register(command.GroupWrite, schemaCommand)
	command.Register(command.GroupWrite, languageServerCommand)
}

func schemaCommand(a *command.App) *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print a JSON schema of experiments in JSON syntax",
		Long:    command.Help(helpTexts, "schema"),
		Example: `  tfexp schema >tfexp.schema.json`,
		Args:    command.Between(0, 0, ""),
		RunE:    func(*cobra.Command, []string) error { return a.PrintJSON(JSONSchema(decode.Language())) },
	}
}

func languageServerCommand(a *command.App) *cobra.Command {
	var stdio bool
	cmd := &cobra.Command{
		Use:   "language-server",
		Short: "Help an editor with experiments (LSP on standard input and output)",
		Long:  command.Help(helpTexts, "language-server"),
		Args:  command.Between(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			host := command.HostFacts()
			check := func(path string, src []byte) experiments.Diagnostics {
				_, diags := decode.Source(path, src, decode.Options{Host: host})
				return diags
			}
			err := Serve(cmd.Context(), os.Stdin, a.Raw, command.ThisBuild().Version, check)
			if err != nil {
				return fmt.Errorf("language server: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&stdio, "stdio", true, "use standard input and output (it always does)")
	return cmd
}
