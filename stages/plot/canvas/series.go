package canvas

import (
	"html"
	"regexp"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Series paints a part of the series with the given name. In an SVG, it is a group with the name as its attribute
// data-series, so that a page can show and hide it.
func Series(c draw.Canvas, name string, paint func()) {
	s, ok := under(c).(*sheet)
	if !ok || s.groups == nil || name == "" {
		paint()
		return
	}
	s.groups.begin(name)
	paint()
	s.groups.end()
}

// under returns the whole canvas that c is cropped from.
func under(c draw.Canvas) vg.Canvas {
	for {
		inner, ok := c.Canvas.(draw.Canvas)
		if !ok {
			return c.Canvas
		}
		c = inner
	}
}

// grouped is an SVG canvas with groups. The canvas can only write texts, so the tags of groups are written as texts
// between characters that are unused otherwise. ungroup replaces them by tags.
type grouped struct{ *vgsvg.Canvas }

const (
	groupBegins = "\uE000"
	groupNamed  = "\uE001"
	groupEnds   = "\uE002"
)

func (g grouped) begin(name string) { g.tag(groupBegins + name + groupNamed) }
func (g grouped) end()              { g.tag(groupEnds) }

func (g grouped) tag(text string) {
	st := Style(SmallSize, Ink, false)
	g.FillString(font.DefaultCache.Lookup(st.Font, st.Font.Size), vg.Point{}, text)
}

var (
	groupBegin = regexp.MustCompile(`<text [^>]*>` + groupBegins + `([^<]*)` + groupNamed + `</text>`)
	groupEnd   = regexp.MustCompile(`<text [^>]*>` + groupEnds + `</text>`)
)

// ungroup replaces the texts that mark groups by tags.
func ungroup(body []byte) []byte {
	body = groupBegin.ReplaceAllFunc(body, func(tag []byte) []byte {
		name := html.UnescapeString(string(groupBegin.FindSubmatch(tag)[1]))
		return []byte(`<g data-series="` + html.EscapeString(name) + `">`)
	})
	return groupEnd.ReplaceAll(body, []byte("</g>"))
}
