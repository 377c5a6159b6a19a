package report

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// largestSVG is the most bytes of an SVG on the page; the page shows a larger picture as PNG.
const largestSVG = 300 << 10

// pictures puts the drawn pictures into the page: all pictures of the whole experiment, and some of single cells.
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
	lead := leadingKind(all)
	for _, p := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		kind, _ := table.PictureByName(p.Kind)
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
		if errors.Is(err, fs.ErrNotExist) { // the picture is being drawn again
			continue
		}
		if err != nil {
			return err
		}
		if kind.Schedule {
			if one.Chart, err = v.chart(e, p); err != nil {
				return err
			}
		}
		section := kind.Section
		if section == answer && (p.Kind != lead || lead != answer && len(v.AnswerPictures) > 0) {
			section = "" // another picture is at the top of the page
		}
		part, _ := v.section(section)
		*part = append(*part, one)
	}
	fold(v.Pictures, e.Plan.Plots)
	for _, kind := range table.Pictures() {
		if n := left[kind.Name]; n > 0 {
			_, more := v.section(kind.Section)
			*more = append(*more, fmt.Sprintf("More %s in the folder plots/: %d.", kind.OfCells, n))
		}
	}
	return nil
}

// fold folds the pictures, except the schedules and the first pictures that the experiment asks for.
func fold(pictures []shownPicture, asked []record.Plot) {
	open := 0
	for i, p := range pictures {
		kind, _ := table.PictureByName(p.Kind)
		if kind.Schedule {
			continue
		}
		if slices.ContainsFunc(asked, func(o record.Plot) bool { return o.Kind == p.Kind }) && open < mostOpen {
			open++
		} else {
			pictures[i].Folded = true
		}
	}
}

// answer is the name of the section at the top of the page, and of its kind of picture for comparisons.
const answer = "answer"

// leadingKind returns the kind of the picture at the top of the page. A picture that answers the question of a block,
// such as size, comes before the picture of comparisons.
func leadingKind(all []record.Picture) string {
	for _, p := range all {
		if kind, _ := table.PictureByName(p.Kind); kind.Section == answer && p.Kind != answer && p.Skipped == "" {
			return p.Kind
		}
	}
	return answer
}

// section returns the lists of a section's pictures and of its notes on pictures that are left out. If the page does
// not have the section, it returns the lists of the whole page.
func (v *view) section(name string) (pictures *[]shownPicture, more *[]string) {
	if name == answer {
		return &v.AnswerPictures, new([]string)
	}
	for _, s := range slices.Concat(v.First, v.Middle, v.Last) {
		if s.Name == name {
			return &s.Pictures, &s.More
		}
	}
	return &v.Pictures, &v.More
}

// firstReplicates returns a complete cell of each of the best policies and of the baseline, of the same replicate if
// possible.
func firstReplicates(e *record.Experiment) []string {
	var cells, policies []string
	variants := slices.DeleteFunc(analysis.Variants(e), func(v analysis.Variant) bool { return len(v.Cells) == 0 })
	best, _ := analysis.BestPolicies(e.Plan, variants, mostOfCells)
	for _, v := range variants {
		if slices.Contains(best, v.Policy) && !slices.Contains(policies, v.Policy) {
			cells, policies = append(cells, v.Cells[0].Cell), append(policies, v.Policy)
		}
	}
	return cells
}

// load reads a picture for the page.
func load(dir string, p record.Picture) (shownPicture, error) {
	out := shownPicture{Title: p.Title, Caption: p.Caption, Kind: p.Kind}
	raw, err := folder.ReadFile(dir, filepath.FromSlash(p.SVG))
	kind := "image/svg+xml"
	if err == nil && len(raw) > largestSVG && p.PNG != "" {
		raw, err = folder.ReadFile(dir, filepath.FromSlash(p.PNG))
		kind = "image/png"
	}
	if err != nil {
		return out, fmt.Errorf("read picture %q: %w", p.Name, err)
	}
	out.Image = template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(raw))
	return out, nil
}
