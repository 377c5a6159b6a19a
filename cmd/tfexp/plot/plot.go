// Package plot is the command "tfexp plot", which draws the pictures of results again, in other formats and sizes.
package plot

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	pictures "github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// figuresDir is the folder for pictures that are drawn with other options than the report's.
const figuresDir = "figures"

// plotting has the flags of the command plot.
type plotting struct {
	formats         []string
	width, out      string
	fontSize        float64
	style           string
	only            []string
	paper           bool
	asJSON, changed bool
}

//go:embed help
var helpTexts embed.FS

func init() { command.RegisterAt(command.GroupLook, 50, plotCommand) }

func plotCommand(a *command.App) *cobra.Command {
	var o plotting
	cmd := &cobra.Command{
		Use:   "plot [DIR] [--only LIST] [--paper] [--format LIST] [--width LENGTH] [--font-size POINTS] [--style STYLE]",
		Short: "Draw the pictures of results again",
		Long:  command.Help(helpTexts, "plot", "{figures}", figuresDir),
		Example: `  tfexp plot results/fcfs_vs_rr
  tfexp plot results/fcfs_vs_rr --only metrics --paper
  tfexp plot results/fcfs_vs_rr --format png --width 160mm --style dark`,
		Args:              command.Between(0, 1, ""),
		ValidArgsFunction: command.CompleteDir,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(cmd.Flags()); err != nil {
				return err
			}
			options, err := o.options()
			if err != nil {
				return err
			}
			return a.Redraw(context.Background(), "plot", args, o.asJSON,
				func(ctx context.Context, dir string) ([]string, error) {
					drawn, err := o.draw(ctx, dir, options)
					if errors.Is(err, pictures.ErrNoPicture) {
						err = command.Usagef("the kinds of pictures are "+strings.Join(table.PictureNames(), ", "), "%v", err)
					}
					return pathsOf(drawn), err
				})
		},
		DisableFlagsInUseLine: true,
	}
	cmd.Flags().StringSliceVar(&o.only, "only", nil,
		"the pictures, by name or kind, such as metrics (a `LIST` with commas)")
	cmd.Flags().BoolVar(&o.paper, "paper", false, "for a column of a paper: "+paperFlags())
	cmd.Flags().StringSliceVar(&o.formats, "format", nil,
		"the formats, of "+strings.Join(canvas.Formats(), ", ")+" (a `LIST` with commas)")
	cmd.Flags().StringVar(&o.width, "width", "", "the width of each picture, as a `LENGTH` in mm, cm, in or pt")
	cmd.Flags().Float64Var(&o.fontSize, "font-size", 0, "the size of text in `POINTS`")
	cmd.Flags().StringVar(&o.style, "style", string(canvas.Screen), "the `STYLE`: "+strings.Join(canvas.Styles(), ", "))
	cmd.Flags().StringVarP(&o.out, "output", "o", "", "draw into a `FOLDER`, with one below it for each experiment")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(canvas.Formats(),
		cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("style", cobra.FixedCompletions(canvas.Styles(),
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// complete notes whether a flag changes the pictures, and sets the flags that --paper stands for.
func (o *plotting) complete(flags *pflag.FlagSet) error {
	for _, name := range []string{"only", "paper", "format", "width", "font-size", "style", "output"} {
		o.changed = o.changed || flags.Changed(name)
	}
	for name, value := range forPaper {
		if o.paper && !flags.Changed(name) {
			if err := flags.Set(name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// pathsOf returns the paths of the files of pictures.
func pathsOf(drawn []pictures.Picture) (paths []string) {
	for _, p := range drawn {
		for _, path := range []string{p.SVG, p.PNG, p.PDF} {
			if path != "" {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// forPaper are the flags that --paper sets, with their values.
var forPaper = map[string]string{"format": "pdf", "width": "84mm", "font-size": "8", "style": string(canvas.Paper)}

func paperFlags() string {
	var flags []string
	for _, name := range slices.Sorted(maps.Keys(forPaper)) {
		flags = append(flags, "--"+name+" "+forPaper[name])
	}
	return strings.Join(flags, " ")
}

// Limits of text size and picture width, in points. Smaller text could not be read.
const (
	leastWidth, mostWidth = 140, 2400
	leastFont, mostFont   = 4, 40
)

// options returns the options that the flags set.
func (o *plotting) options() (pictures.Options, error) {
	var out pictures.Options
	for _, f := range o.formats {
		if !slices.Contains(canvas.Formats(), f) {
			return out, command.Usagef(command.DidYouMean(f, canvas.Formats(), "the formats are "+strings.Join(canvas.Formats(), ", ")),
				"unknown format %q", f)
		}
	}
	out.Formats = o.formats
	if !slices.Contains(canvas.Styles(), o.style) {
		return out, command.Usagef(command.DidYouMean(o.style, canvas.Styles(),
			"the styles are "+strings.Join(canvas.Styles(), ", ")), "unknown style %q", o.style)
	}
	out.Style = canvas.Look(o.style)
	if o.fontSize != 0 && !(o.fontSize >= leastFont && o.fontSize <= mostFont) {
		return out, command.Usagef("", "--font-size is %g: text can have %d to %d points", o.fontSize, leastFont, mostFont)
	}
	out.FontSize, out.Only = o.fontSize, o.only
	if o.width == "" {
		return out, nil
	}
	var err error
	if out.Width, err = points(o.width); err != nil {
		return out, err
	}
	if !(out.Width >= leastWidth && out.Width <= mostWidth) {
		return out, command.Usagef("50mm to 800mm will do", "--width is %s: pictures can be %d to %d points wide", o.width,
			leastWidth, mostWidth)
	}
	return out, nil
}

// points parses a length such as "84mm" and returns it in points.
func points(length string) (float64, error) {
	var v float64
	var unit string
	if n, err := fmt.Sscanf(length, "%g%s", &v, &unit); n != 2 || err != nil {
		return 0, command.Usagef("write it as 84mm, 8.4cm, 3.3in or 240pt", "--width %q is not a length", length)
	}
	per, ok := map[string]float64{"mm": 72 / 25.4, "cm": 72 / 2.54, "in": 72, "pt": 1}[unit]
	if !ok {
		return 0, command.Usagef("write it as 84mm, 8.4cm, 3.3in or 240pt", "--width %q is not a length", length)
	}
	return v * per, nil
}

// draw draws the pictures of an experiment: the report's pictures, or the pictures that the flags select.
func (o *plotting) draw(ctx context.Context, dir string, options pictures.Options) ([]pictures.Picture, error) {
	if !o.changed {
		return pictures.Redraw(ctx, dir)
	}
	e, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	if o.out != "" {
		return pictures.Draw(ctx, e, filepath.Join(o.out, filepath.Base(dir)), options)
	}
	to, err := folder.Make(dir, figuresDir)
	if err != nil {
		return nil, fmt.Errorf("draw pictures: %w", err)
	}
	return pictures.Draw(ctx, e, to, options)
}
