package canvas

import (
	"fmt"
	"image/color"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/results/table"
)

// darkPaper is the background of pictures on dark pages.
var darkPaper = color.NRGBA{0x15, 0x18, 0x1c, 0xff}

// onColor is the color of text in colored bars. It stays dark on dark pages. It differs from Ink by one step, so that
// the two are distinct in an SVG.
var onColor = color.NRGBA{0x22, 0x22, 0x23, 0xff}

// onPale is the color of text on pale colors. Pale colors become dark on dark pages, where this text becomes white.
var onPale = color.NRGBA{0x22, 0x22, 0x24, 0xff}

// lifted is the part of white that is mixed into colors on a dark page, so that thin lines are visible. kept multiplies
// the paleness of pale colors on a dark page, so that they keep more of their hue.
const lifted, kept = 0.15, 0.85

// darkened returns a color for a dark page: grays are inverted, pale colors become dark, and full colors become
// a little lighter.
func darkened(c color.NRGBA) color.NRGBA {
	white := color.NRGBA{0xff, 0xff, 0xff, c.A}
	switch {
	case c == onColor || c == white:
		return c
	case c == onPale:
		return white
	case c.R == c.G && c.G == c.B: // black becomes nearly white, and nearly white becomes the background
		share := float64(c.R) / 255
		return mixed(color.NRGBA{0xf2, 0xf2, 0xf2, c.A}, color.NRGBA{darkPaper.R, darkPaper.G, darkPaper.B, c.A}, share)
	}
	for i := range table.Hues {
		if share, ok := paleness(c, Hue(i)); ok {
			hue := Shade(Hue(i), lifted)
			return mixed(color.NRGBA{hue.R, hue.G, hue.B, c.A}, color.NRGBA{darkPaper.R, darkPaper.G, darkPaper.B, c.A}, kept*share)
		}
	}
	return c
}

// mixed mixes two colors; share is the part of other, from 0 to 1.
func mixed(c, other color.NRGBA, share float64) color.NRGBA {
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (float64(b)-float64(a))*share)) }
	return color.NRGBA{mix(c.R, other.R), mix(c.G, other.G), mix(c.B, other.B), c.A}
}

// paleness returns the part of white in a color that was mixed from a hue and white; false if the color was mixed from
// another hue.
func paleness(c, hue color.NRGBA) (float64, bool) {
	darkest, from := hue.R, c.R
	for _, channel := range [][2]uint8{{hue.G, c.G}, {hue.B, c.B}} {
		if channel[0] < darkest {
			darkest, from = channel[0], channel[1]
		}
	}
	if from < darkest {
		return 0, false
	}
	share := (float64(from) - float64(darkest)) / (255 - float64(darkest))
	made := Shade(hue, share)
	near := func(a, b uint8) bool { return max(a, b)-min(a, b) <= 1 }
	return share, near(made.R, c.R) && near(made.G, c.G) && near(made.B, c.B)
}

var svgColor = regexp.MustCompile(`#[0-9A-F]{6}\b`)

// recolor is a color of an SVG, and its replacement on dark pages: "#222222", "#D6D7D7".
type recolor struct{ from, to string }

// recolored returns the colors of an SVG that have a replacement on dark pages.
func recolored(body []byte) []recolor {
	var pairs []recolor
	seen := map[string]bool{}
	for _, code := range svgColor.FindAll(body, -1) {
		if seen[string(code)] {
			continue
		}
		seen[string(code)] = true
		var c color.NRGBA
		if _, err := fmt.Sscanf(string(code), "#%02X%02X%02X", &c.R, &c.G, &c.B); err != nil {
			continue
		}
		c.A = 0xff
		if d := darkened(c); d != c {
			pairs = append(pairs, recolor{string(code), fmt.Sprintf("#%02X%02X%02X", d.R, d.G, d.B)})
		}
	}
	slices.SortFunc(pairs, func(a, b recolor) int { return strings.Compare(a.from, b.from) })
	return pairs
}

// darkNames returns the replacements as an attribute, "#222222 #D6D7D7;…", for pages that replace colors themselves.
func darkNames(pairs []recolor) string {
	words := make([]string, len(pairs))
	for i, pair := range pairs {
		words[i] = pair.from + " " + pair.to
	}
	return strings.Join(words, ";")
}

// lightStyle is the style of an SVG that is not part of a page.
const lightStyle = "svg{background:#FFFFFF;max-width:100%;height:auto}"

// darkStyle returns the style by which an SVG is dark for readers who prefer dark pages. The colors are in attributes,
// which its rules override.
func darkStyle(pairs []recolor) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s@media (prefers-color-scheme:dark){svg{background:#%02X%02X%02X}", lightStyle, darkPaper.R,
		darkPaper.G, darkPaper.B)
	for _, pair := range pairs {
		for _, what := range []string{"fill", "stroke"} {
			fmt.Fprintf(&b, `[%s="%s"]{%s:%s}`, what, pair.from, what, pair.to)
		}
	}
	b.WriteString("}")
	return b.String()
}
