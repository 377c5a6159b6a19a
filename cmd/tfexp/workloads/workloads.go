// Package workloads is the command "tfexp export workload".
package workloads

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/filearg"
	"github.com/tfexp/tfexp/cmd/tfexp/flags"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/pipeline/instantiate"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/results/table/format"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
	"github.com/tfexp/tfexp/stages/experiment"
)

//go:embed help
var helpTexts embed.FS

func init() { command.RegisterAt("export", 10, exportWorkloadCommand) }

// exportWorkload has the flags of the command.
type exportWorkload struct {
	vars      command.Variables
	name      string
	replicate int
	axes      []string // texts name=value
	format    string
	out       string
	asJSON    bool
}

func exportWorkloadCommand(a *command.App) *cobra.Command {
	var o exportWorkload
	names := formats.Names(formats.Writable())
	cmd := &cobra.Command{
		Use:   "workload FILE [--workload NAME] [--replicate N] [--axis name=value] [--format NAME | --json] [-o FILE]",
		Short: "Write the jobs of a workload as CSV, or for other simulators",
		Long:  command.Help(helpTexts, "export_workload", "{formats}", strings.Join(names, ", "), "{csv}", formats.CSV.Name),
		Example: `  tfexp export workload experiment.hcl
  tfexp export workload experiment.hcl --workload mixed --replicate 2 -o mixed.csv
  tfexp export workload experiment.hcl --format swf -o mixed.swf`,
		Args:              command.NeedFile,
		ValidArgsFunction: command.CompleteFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			spec, err := a.Load(args[0], &o.vars, false, false)
			if err != nil {
				return err
			}
			w, err := o.choose(spec)
			if err != nil {
				return err
			}
			format := formats.Find(o.format)
			if format == nil || format.Writer == nil {
				return command.Usagef(command.DidYouMean(o.format, names, "the formats are "+strings.Join(names, ", ")),
					"unknown format %q", o.format)
			}
			t, err := instantiate.Workload(spec, w, o.replicate, format.NeedsRunTimes)
			if err != nil {
				return err
			}
			if o.asJSON {
				return filearg.WriteTo(a, o.out, func(to io.Writer) error { return workloadObjects(to, t) })
			}
			err = filearg.WriteTo(a, o.out, func(to io.Writer) error { return format.Write(to, t) })
			if errors.Is(err, formats.ErrCannotHold) {
				return command.Usagef("--format "+formats.CSV.Name+" holds everything", "%v", err)
			}
			return err
		},
		DisableFlagsInUseLine: true,
	}
	o.vars.Flags(cmd.Flags())
	cmd.Flags().StringVar(&o.name, "workload", "", "the workload's `NAME`, where there are several")
	cmd.Flags().IntVar(&o.replicate, "replicate", 1, "the replicate whose arrivals are drawn, from 1")
	cmd.Flags().StringArrayVar(&o.axes, "axis", nil,
		"the value of an axis that the workload depends on, as `name=value` (may be repeated)")
	cmd.Flags().StringVar(&o.format, "format", formats.CSV.Name,
		"the trace format, by its `NAME`: "+strings.Join(names, ", "))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().StringVarP(&o.out, "output", "o", "", "write to a `FILE` instead of standard output")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "write a list of JSON objects")
	flags.Exclude(cmd, "format", "json")
	return cmd
}

// workloadObjects writes the jobs of a workload as JSON objects.
func workloadObjects(w io.Writer, t workload.Trace) error {
	var text bytes.Buffer
	if err := formats.CSV.Write(&text, t); err != nil {
		return err
	}
	view, err := format.ReadTable(&text, func(name string) table.Column {
		kind := table.AsLoose
		if formats.TextColumn(name) {
			kind = table.AsText
		}
		return table.Column{Name: name, Kind: kind}
	})
	if err != nil {
		return fmt.Errorf("write workload: %w", err)
	}
	return format.JSON.Write(w, view)
}

// choose returns the workload that the flags select.
func (o *exportWorkload) choose(spec *experiment.Spec) (*experiment.Workload, error) {
	if o.replicate < 1 || o.replicate > spec.Replicates {
		return nil, command.Usagef("", "--replicate is %d: the replicates are 1 to %d", o.replicate, spec.Replicates)
	}
	var (
		names, axes []string
		found       []*experiment.Workload
	)
	for _, c := range spec.Cells {
		names = command.Insert(names, c.Workload.Name)
		if o.name != "" && c.Workload.Name != o.name || !o.at(c) {
			continue
		}
		found = schema.AddOnce(found, c.Workload)
		for _, x := range c.Axes {
			axes = command.Insert(axes, x.Name+"="+x.Value)
		}
	}
	switch {
	case o.name != "" && !slices.Contains(names, o.name):
		return nil, command.Usagef(command.DidYouMean(o.name, names, "the workloads are "+strings.Join(names, ", ")),
			"no cell has a workload %q", o.name)
	case o.name == "" && len(names) > 1:
		return nil, command.Usagef("the workloads are "+strings.Join(names, ", "),
			"there are %d workloads: name one with --workload", len(names))
	case len(found) == 0:
		return nil, command.Usagef("", "no cell has %s", strings.Join(o.axes, ", "))
	case len(found) > 1:
		return nil, command.Usagef("", "the workload depends on axes: choose their values with --axis: %s",
			strings.Join(axes, ", "))
	}
	return found[0], nil
}

// at reports whether a cell has the values of the axes that the flags select.
func (o *exportWorkload) at(c experiment.Cell) bool {
	for _, want := range o.axes {
		name, value, _ := strings.Cut(want, "=")
		if !slices.Contains(c.Axes, schema.Setting{Name: name, Value: value}) {
			return false
		}
	}
	return true
}
