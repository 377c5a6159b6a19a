package table

import (
	"fmt"
	"image/color"
)

// palette has colors that color-blind people can distinguish, too (M. Okabe, K. Ito, "Color Universal Design", 2008).
// The black and yellow of that palette are left out.
var palette = []color.NRGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	{0x00, 0x9e, 0x73, 0xff}, // green
	{0xcc, 0x79, 0xa7, 0xff}, // purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky
	{0x7f, 0x7f, 0x7f, 0xff}, // gray
}

// Hues is the number of different colors that Hue returns.
var Hues = len(palette)

// Hue returns the color of the i-th item of a picture. Colors repeat after Hues items.
func Hue(i int) color.NRGBA { return palette[i%len(palette)] }

// HueCode returns the color of the i-th item as a CSS code such as "#0072b2".
func HueCode(i int) string {
	c := Hue(i)
	return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
}
