// Package digits has 1,797 images of handwritten digits, 8×8 pixels each, so that programs can train without a
// download. It is the test set of "Optical Recognition of Handwritten Digits" by E. Alpaydin and C. Kaynak, UCI Machine
// Learning Repository, 1998, https://doi.org/10.24432/C50P49, CC BY 4.0 (ATTRIBUTION.md).
package digits

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"sync"
)

// The shape of the data.
const (
	Images  = 1797
	Side    = 8           // pixels of a row, and rows of an image
	Pixels  = Side * Side // pixels of an image
	Classes = 10
	// White is the value of the brightest pixel. Pixels of the source are integers from 0 to 16. They are divided by 8,
	// so that the mean square of all pixels is about 1.
	White = 2.0
	half  = 8
)

//go:embed digits.gz
var packed []byte

// Set is a set of labeled images.
type Set struct {
	// X has Pixels values from 0 to White for each image, row by row from the top.
	X []float64
	// Y has the digit on each image.
	Y []uint8
}

// Len returns the number of images.
func (s Set) Len() int { return len(s.Y) }

// Image returns the pixels of image i, without copying them.
func (s Set) Image(i int) []float64 { return s.X[i*Pixels : (i+1)*Pixels] }

// All returns all images in the order of the source. The set is shared: do not change it.
var All = sync.OnceValue(func() Set {
	raw, err := unpack()
	if err != nil {
		panic(err) // the data are part of the program, and tested
	}
	set := Set{Y: raw[:Images], X: make([]float64, Images*Pixels)}
	for i, v := range raw[Images:] {
		set.X[i] = float64(v) / half
	}
	return set
})

func unpack() ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack digits: %w", err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("unpack digits: %w", err)
	}
	if len(raw) != Images*(1+Pixels) {
		return nil, fmt.Errorf("unpack digits: %d bytes, want %d", len(raw), Images*(1+Pixels))
	}
	return raw, nil
}

// Split divides the images into a training set and a held-out set. Of each digit, the fraction heldOut (0 to 1, rounded
// to whole images) is held out. The seed determines which images; equal arguments give equal sets. Images keep the
// order of the source.
func Split(seed uint64, heldOut float64) (train, held Set) {
	all := All()
	var of [Classes][]int
	for i, y := range all.Y {
		of[y] = append(of[y], i)
	}
	out := make([]bool, all.Len())
	for class, images := range of {
		// Each class has its own random stream, so that its draw does not depend on other classes.
		r := rand.New(rand.NewPCG(seed, uint64(class)))
		n := int(math.Round(heldOut * float64(len(images))))
		for _, k := range r.Perm(len(images))[:min(max(n, 0), len(images))] {
			out[images[k]] = true
		}
	}
	for i := range out {
		to := &train
		if out[i] {
			to = &held
		}
		to.X = append(to.X, all.Image(i)...)
		to.Y = append(to.Y, all.Y[i])
	}
	return train, held
}
