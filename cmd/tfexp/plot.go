package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/live"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// figuresDir is the folder of pictures drawn with other options than the report's.
const figuresDir = "figures"

// plotting are the flags of plot.
type plotting struct {
	formats         []string
	width, out      string
	fontSize        float64
	style           string
	only            []string
	paper           bool
	asJSON, changed bool
}

func (a *app) plotCommand() *cobra.Command {
	var o plotting
	cmd := &cobra.Command{
		Use:   "plot [DIR] [--only LIST] [--paper] [--format LIST] [--width LENGTH] [--font-size POINTS] [--style STYLE]",
		Short: "Draw the pictures of results again",
		Long:  help("plot", "{figures}", figuresDir),
		Example: `  tfexp plot results/fcfs_vs_rr
  tfexp plot results/fcfs_vs_rr --only metrics --paper
  tfexp plot results/fcfs_vs_rr --format png --width 160mm --style dark`,
		Args:              command.Between(0, 1, ""),
		ValidArgsFunction: command.CompleteDir,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range []string{"only", "paper", "format", "width", "font-size", "style", "output"} {
				o.changed = o.changed || cmd.Flags().Changed(name)
			}
			for name, value := range forPaper {
				if o.paper && !cmd.Flags().Changed(name) {
					if err := cmd.Flags().Set(name, value); err != nil {
						return err
					}
				}
			}
			options, err := o.options()
			if err != nil {
				return err
			}
			return a.redraw(context.Background(), "plot", args, o.asJSON,
				func(ctx context.Context, dir string) ([]string, error) {
					pictures, err := o.draw(ctx, dir, options)
					if errors.Is(err, plot.ErrNoPicture) {
						err = command.Usagef("the kinds of pictures are "+strings.Join(table.PictureNames(), ", "), "%v", err)
					}
					var paths []string
					for _, p := range pictures {
						for _, path := range []string{p.SVG, p.PNG, p.PDF} {
							if path != "" {
								paths = append(paths, path)
							}
						}
					}
					return paths, err
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

// forPaper has the flags that --paper sets.
var forPaper = map[string]string{"format": "pdf", "width": "84mm", "font-size": "8", "style": string(canvas.Paper)}

func paperFlags() string {
	var flags []string
	for _, name := range slices.Sorted(maps.Keys(forPaper)) {
		flags = append(flags, "--"+name+" "+forPaper[name])
	}
	return strings.Join(flags, " ")
}

// The widths and sizes of text that pictures can have, in points: below the least nothing could be read.
const (
	leastWidth, mostWidth = 140, 2400
	leastFont, mostFont   = 4, 40
)

// options reads the flags.
func (o *plotting) options() (plot.Options, error) {
	var out plot.Options
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

// points reads a length: "84mm".
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

// draw draws the pictures of an experiment: the report's, unless the flags ask for others.
func (o *plotting) draw(ctx context.Context, dir string, options plot.Options) ([]plot.Picture, error) {
	if !o.changed {
		return plot.Redraw(ctx, dir)
	}
	e, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	if o.out != "" {
		return plot.Draw(ctx, e, filepath.Join(o.out, filepath.Base(dir)), options)
	}
	to, err := folder.Make(dir, figuresDir)
	if err != nil {
		return nil, fmt.Errorf("draw pictures: %w", err)
	}
	return plot.Draw(ctx, e, to, options)
}

// redrawn lists the pictures made for one experiment.
type redrawn struct {
	Experiment string   `json:"experiment"`
	Files      []string `json:"files"`
}

// redraw makes views of every experiment in DIR and prints their paths. It goes
// on when one fails.
func (a *app) redraw(ctx context.Context, stage string, args []string, asJSON bool,
	draw func(context.Context, string) ([]string, error)) error {
	dirs, err := command.ExperimentsIn(command.DirArgument(args))
	if err != nil {
		return err
	}
	var errs []error
	made := []redrawn{}
	for _, dir := range dirs {
		view := live.NewRunProgress(a.Screen, a.ErrColor)
		began := time.Now()
		view.Observe(pipeline.Progress{Kind: stages.StageStart, Stage: stage})
		paths, err := command.Summed(dir, func() ([]string, error) { return draw(ctx, dir) })
		view.Observe(pipeline.Progress{Kind: stages.StageEnd, Stage: stage, Elapsed: time.Since(began), Err: err})
		view.Close()
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", dir, err))
			continue
		}
		made = append(made, redrawn{dir, paths})
		for _, p := range paths {
			if !asJSON {
				fmt.Fprintln(a.Out, p)
			}
		}
	}
	if asJSON {
		errs = append(errs, a.PrintJSON(made))
	}
	return errors.Join(errs...)
}
