package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/stages/experiment"
)

func (a *app) validateCommand() *cobra.Command {
	var (
		vars   command.Variables
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "validate FILE... [-var name=value] [--lenient] [--json]",
		Short: "Check experiments and show every mistake",
		Long:  help("validate"),
		Example: `  tfexp validate experiment.hcl
  tfexp validate -var quantum=2s experiments/*.hcl`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return command.NeedFile(cmd, args)
			}
			return nil
		},
		ValidArgsFunction: command.CompleteFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			all := command.Checked{Valid: true, Diagnostics: experiments.Diagnostics{}}
			for _, file := range args {
				spec, diags := vars.Read(file)
				all.Diagnostics = append(all.Diagnostics, diags...)
				if diags.HasErrors() {
					all.Valid = false
				}
				if asJSON {
					continue
				}
				a.Diagnose(diags)
				if diags.HasErrors() {
					a.SuggestFile(file)
					continue
				}
				prefix := ""
				if len(args) > 1 {
					prefix = file + ": "
				}
				fmt.Fprintf(a.Out, "%sok: %s\n", prefix, size(spec))
			}
			if asJSON {
				if err := a.PrintJSON(all); err != nil {
					return err
				}
			}
			if !all.Valid {
				return command.Silently(command.Invalid(all.Diagnostics))
			}
			return nil
		},
	}
	vars.Flags(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the diagnostics as JSON")
	return cmd
}

// size describes the size of an experiment: its matrix, and the stages beyond the matrix.
func size(spec *experiment.Spec) string {
	var parts []string
	experiment.EachPart(spec.Parts, func(p experiment.SizePart) {
		if text := p.Size(spec); text != "" {
			parts = append(parts, text)
		}
	})
	if len(spec.Cells) > 0 || len(parts) == 0 {
		parts = append([]string{matrixSize(spec)}, parts...)
	}
	return strings.Join(parts, "; ")
}

// matrixSize describes the matrix: "2 policies × 1 workload × 1 machine × 5 replicates = 10 cells".
func matrixSize(spec *experiment.Spec) string {
	var policies, workloads, machines []string
	for _, c := range spec.Cells {
		policies = command.Insert(policies, c.Policy.Name)
		workloads = command.Insert(workloads, c.Workload.Name)
		machines = command.Insert(machines, c.Hardware.Name)
	}
	parts := []string{
		show.Count(len(policies), "policy", "policies"),
		show.Count(len(workloads), "workload", "workloads"),
		show.Count(len(machines), "machine", "machines"),
	}
	text := strings.Join(parts, " × ")
	if points := len(policies) * len(workloads) * len(machines); points != len(spec.Cells) {
		text += " and the other axes: " + show.Count(len(spec.Cells), "point", "points")
	}
	return fmt.Sprintf("%s × %s = %s", text, show.Count(spec.Replicates, "replicate", "replicates"),
		show.Count(len(spec.Cells)*spec.Replicates, "cell", "cells"))
}
