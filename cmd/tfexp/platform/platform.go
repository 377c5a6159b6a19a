// Package platform is the command "tfexp export platform", which describes a cluster for the simulator Batsim.
package platform

import (
	"embed"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/filearg"
	"github.com/tfexp/tfexp/stages/experiment"
)

//go:embed help
var helpTexts embed.FS

func init() { command.Register("export", exportPlatformCommand) }

func exportPlatformCommand(a *command.App) *cobra.Command {
	var vars command.Variables
	var name, format, out string
	names := []string{"batsim", "simgrid"}
	cmd := &cobra.Command{
		Use:   "platform FILE [--hardware NAME] [--format batsim|simgrid] [-o FILE]",
		Short: "Write a cluster for the simulator Batsim",
		Long:  command.Help(helpTexts, "export_platform"),
		Example: `  tfexp export platform experiment.hcl -o platform.json
  tfexp export platform experiment.hcl --hardware cluster --format simgrid -o platform.xml`,
		Args:              command.NeedFile,
		ValidArgsFunction: command.CompleteFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains(names, format) {
				return command.Usagef(command.DidYouMean(format, names, "the formats are "+strings.Join(names, " and ")),
					"unknown format %q", format)
			}
			spec, err := a.Load(args[0], &vars, false, false)
			if err != nil {
				return err
			}
			var known []string
			var found *experiment.Hardware
			for _, c := range spec.Cells {
				if known = command.Insert(known, c.Hardware.Name); found == nil && (name == "" || name == c.Hardware.Name) {
					found = c.Hardware
				}
			}
			list := strings.Join(known, ", ")
			switch {
			case found == nil:
				return command.Usagef(command.DidYouMean(name, known, "the hardware is "+list), "no cell has a hardware %q", name)
			case name == "" && len(known) > 1:
				return command.Usagef("the hardware is "+list, "there are %d: name one with --hardware", len(known))
			}
			return filearg.WriteTo(a, out, func(to io.Writer) error {
				if format == "simgrid" {
					return writeSimGrid(to, found.Cluster)
				}
				resources := batsimResources(found.Cluster)
				text := json.NewEncoder(to)
				text.SetIndent("", "  ")
				return text.Encode(struct {
					Count     int              `json:"nb_res"`
					Resources []batsimResource `json:"compute_resources"`
				}{len(resources), resources})
			})
		},
		DisableFlagsInUseLine: true,
	}
	vars.Flags(cmd.Flags())
	cmd.Flags().StringVar(&name, "hardware", "", "the hardware's `NAME`, where there are several")
	cmd.Flags().StringVar(&format, "format", "batsim", "the `FORMAT`: "+strings.Join(names, " or "))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to a `FILE` instead of standard output")
	return cmd
}
