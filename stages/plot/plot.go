// Package plot draws the pictures of an experiment from the files in its folder, as SVG, PNG or PDF. Equal files give
// equal bytes.
package plot

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// Picture is one drawn picture with its paths, or the reason why it was skipped.
type Picture = record.Picture

// Options limit the pictures.
type Options struct {
	// MaxGantts is the greatest number of cells that each have a Gantt chart. With more cells, only the first replicate
	// of each variant has one, up to the same number. 0 means DefaultMaxGantts.
	MaxGantts int
	// Only has the names or kinds of the pictures to draw; empty means all.
	Only []string
	// Formats are the file formats, from canvas.Formats; empty means Usual.
	Formats []string
	canvas.Layout
}

// Usual are the default file formats. Tests that do not check PNGs leave them out, since they take most of the time.
var Usual = []string{canvas.SVG, canvas.PNG}

// DefaultMaxGantts is the default of Options.MaxGantts.
const DefaultMaxGantts = 24

// Figure is a picture that can be painted. Paint is nil if the picture is skipped.
type Figure struct {
	Picture
	// Paint paints on a canvas of Width × Height points. It is called once for each format.
	Paint         func(draw.Canvas)
	Width, Height float64
}

// Draw draws the pictures that the plan requests, or the default ones, into dir. It also writes a list of them,
// pictures.json. Pictures without data are in the list with a reason. Pictures that only the earlier list has are
// removed. The returned paths begin with dir.
func Draw(ctx context.Context, e *record.Experiment, dir string, o Options) ([]Picture, error) {
	if o.MaxGantts <= 0 {
		o.MaxGantts = DefaultMaxGantts
	}
	if len(o.Formats) == 0 {
		o.Formats = Usual
	}
	if o.Style == "" {
		o.Style = canvas.Screen
	}
	if err := folder.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("draw pictures: %w", err)
	}
	d := NewData(e)
	if o.Width > 0 {
		d.width = o.Width
		if o.FontSize > 0 {
			d.width *= canvas.TickSize / o.FontSize
		}
	}
	var figures []Figure
	for _, want := range wanted(e.Plan, o.Only) {
		k, ok := draws[want.Kind]
		if !ok {
			return nil, fmt.Errorf("draw pictures: unknown kind %q (there are: %s)", want.Kind,
				strings.Join(table.PictureNames(), ", "))
		}
		made, err := k(d, Ask{want, o.MaxGantts})
		if err != nil {
			return nil, fmt.Errorf("draw %s pictures: %w", want.Kind, err)
		}
		figures = append(figures, made...)
	}
	if len(o.Only) > 0 {
		some, err := only(figures, o.Only)
		if err != nil {
			return nil, err
		}
		figures = some
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	pictures := make([]Picture, len(figures))
	for i := range figures {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			var err error
			pictures[i], err = figures[i].save(dir, o)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("draw pictures: %w", err)
	}
	if len(o.Only) == 0 {
		if err := canvas.WriteList(dir, pictures); err != nil {
			return nil, fmt.Errorf("draw pictures: %w", err)
		}
	}
	for i := range pictures {
		for _, p := range []*string{&pictures[i].SVG, &pictures[i].PNG, &pictures[i].PDF} {
			if *p != "" {
				*p = filepath.Join(dir, *p)
			}
		}
	}
	return pictures, nil
}

// wanted returns the pictures that the plan requests, each once, and further kinds that `named` lists.
func wanted(p record.Plan, named []string) []record.Plot {
	var out []record.Plot
	for _, w := range p.Plots {
		out = schema.AddOnce(out, w)
	}
	if len(out) == 0 {
		for _, k := range table.Pictures() {
			if k.OnRequest == "" {
				out = append(out, record.Plot{Kind: k.Name})
			}
		}
	}
	for _, k := range table.Pictures() {
		if k.Always && !slices.ContainsFunc(out, func(w record.Plot) bool { return w.Kind == k.Name }) {
			out = append([]record.Plot{{Kind: k.Name}}, out...)
		}
	}
	for _, name := range named {
		if draws[name] != nil && !slices.ContainsFunc(out, func(w record.Plot) bool { return w.Kind == name }) {
			out = append(out, record.Plot{Kind: name})
		}
	}
	return out
}

// ErrNoPicture is returned if no picture has a name in Options.Only.
var ErrNoPicture = errors.New("there is no picture")

// only returns the figures with one of the names or kinds. It returns an error for a name without a figure.
func only(figures []Figure, names []string) (some []Figure, err error) {
	for _, name := range names {
		n := len(some)
		for _, f := range figures {
			if f.Name == name || f.Kind == name {
				some = append(some, f)
			}
		}
		if len(some) == n {
			var all []string
			for _, f := range figures {
				if f.Paint != nil {
					all = append(all, f.Name)
				}
			}
			return nil, fmt.Errorf("%w %q; the pictures are %s", ErrNoPicture, name, strings.Join(all, ", "))
		}
	}
	return some, nil
}

// Skipped returns a figure that is not drawn, with the reason.
func Skipped(kind, name, title, reason string) []Figure {
	return []Figure{{Picture: Picture{Name: name, Kind: kind, Title: title, Skipped: reason}}}
}

// save writes the figure in its formats. The returned paths are relative to dir.
func (f *Figure) save(dir string, o Options) (Picture, error) {
	p := f.Picture
	if f.Paint == nil {
		return p, nil
	}
	paint := canvas.Painting{Paint: f.Paint, Width: f.Width, Height: f.Height, Layout: o.Layout}.Laid()
	for _, format := range o.Formats {
		var raw []byte
		var err error
		name := p.Name + "." + format
		switch format {
		case canvas.SVG:
			p.SVG = name
			raw, err = paint.SVG(p.Title, p.Caption)
		case canvas.PNG:
			p.PNG = name
			raw, err = paint.PNG()
		case canvas.PDF:
			p.PDF = name
			raw, err = paint.PDF()
		default:
			err = fmt.Errorf("unknown format %q", format)
		}
		if err == nil {
			err = canvas.Write(dir, name, raw)
		}
		if err != nil {
			return p, fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return p, nil
}
