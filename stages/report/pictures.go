package report

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/picture"
	"github.com/tfexp/tfexp/results/record"
)

// largestSVG bounds an inlined SVG; above it the PNG takes its place.
const largestSVG = 300 << 10

// pictures takes the drawn pictures into the page: those of whole experiments,
// and some of those of single cells.
func (v *view) pictures(ctx context.Context, e *record.Experiment) error {
	all, err := e.Pictures()
	if err != nil {
		return err
	}
	if len(all) == 0 {
		v.NoPictures = "No pictures have been drawn yet: tfexp plot draws them."
	}
	chosen := firstReplicates(e)
	shown := map[string]int{} // pictures of single cells, by kind
	left := map[string]int{}
	for _, p := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		kind, _ := picture.ByName(p.Kind)
		switch {
		case p.Skipped != "":
			v.Skipped = append(v.Skipped, p)
			continue
		case p.Cell == "":
		case shown[p.Kind] == mostOfCells || !kind.AllCells && !slices.Contains(chosen, p.Cell):
			left[p.Kind]++
			continue
		default:
			shown[p.Kind]++
		}
		one, err := load(e.Dir, p)
		if errors.Is(err, fs.ErrNotExist) { // being drawn again just now
			continue
		}
		if err != nil {
			return err
		}
		part := v.section(kind.Section)
		*part = append(*part, one)
	}
	for _, kind := range picture.All() {
		if n := left[kind.Name]; n > 0 {
			more := v.more(kind.Section)
			*more = append(*more, fmt.Sprintf("More %s in the folder plots/: %d.", kind.OfCells, n))
		}
	}
	return nil
}

// section returns the pictures of a section of the page.
func (v *view) section(s picture.Section) *[]shownPicture {
	switch s {
	case picture.InEstimates:
		return &v.Estimates.Pictures
	case picture.InFidelity:
		return &v.Fidelity.Pictures
	case picture.InAdaptation:
		return &v.Adaptations.Pictures
	}
	return &v.Pictures
}

// more returns the notes of a section on pictures that it leaves out.
func (v *view) more(s picture.Section) *[]string {
	switch s {
	case picture.InEstimates:
		return &v.Estimates.More
	case picture.InFidelity:
		return &v.Fidelity.More
	case picture.InAdaptation:
		return &v.Adaptations.More
	}
	return &v.More
}

// firstReplicates are the first complete cells of all variants; where it can
// be, of the same replicate.
func firstReplicates(e *record.Experiment) []string {
	var cells []string
	for _, variant := range analysis.Variants(e) {
		if len(variant.Cells) > 0 {
			cells = append(cells, variant.Cells[0].Cell)
		}
	}
	return cells
}

// load reads a picture for the page.
func load(dir string, p record.Picture) (shownPicture, error) {
	out := shownPicture{Title: p.Title, Caption: p.Caption}
	svg, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(p.SVG)))
	if err != nil {
		return out, fmt.Errorf("read picture: %w", err)
	}
	if len(svg) <= largestSVG {
		if err := harmless(svg); err != nil {
			return out, fmt.Errorf("read picture %s: %w", p.SVG, err)
		}
		out.SVG = template.HTML(svg)
		return out, nil
	}
	png, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(p.PNG)))
	if err != nil {
		return out, fmt.Errorf("read picture: %w", err)
	}
	out.PNG = template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(png))
	return out, nil
}

// harmless checks that an SVG holds nothing but drawing: a folder of results
// may come from somebody else, and its pictures become part of the page.
func harmless(svg []byte) error {
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "svg", "g", "path", "text", "title", "desc", "rect", "line", "circle":
			default:
				return fmt.Errorf("an SVG with an element <%s> is not taken into a page", t.Name.Local)
			}
			for _, a := range t.Attr {
				name := strings.ToLower(a.Name.Local)
				if strings.HasPrefix(name, "on") || name == "href" || strings.Contains(strings.ToLower(a.Value), "url(") {
					return fmt.Errorf("an SVG with an attribute %s is not taken into a page", a.Name.Local)
				}
			}
		case xml.ProcInst, xml.Directive:
			return errors.New("an SVG with instructions is not taken into a page")
		}
	}
}
