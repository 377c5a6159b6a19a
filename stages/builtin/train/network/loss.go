package network

import (
	"math"

	"github.com/tfexp/tfexp/jobs/digits"
)

// loss returns the sum of the losses of n images, and writes its gradient to d. scores has a row of digits.Classes
// scores for each image.
type loss func(scores []float64, labels []uint8, d []float64) float64

// crossEntropy is the loss −log softmax(scores)[label].
func crossEntropy(scores []float64, labels []uint8, d []float64) float64 {
	total := 0.0
	for i, label := range labels {
		s, g := RowOf(scores, i), RowOf(d, i)
		top := s[Argmax(s)] // subtracted from all scores, so that no exponential overflows
		sum := 0.0
		for c, v := range s {
			g[c] = math.Exp(v - top)
			sum += g[c]
		}
		for c := range g {
			g[c] /= sum
		}
		g[label]--
		total += math.Log(sum) + top - s[label]
	}
	return total
}

// hinge is the multi-class hinge loss max(0, 1 + the best wrong score − the right score) (Crammer, Singer: "On the
// Algorithmic Implementation of Multiclass Kernel-based Vector Machines", 2001).
func hinge(scores []float64, labels []uint8, d []float64) float64 {
	total := 0.0
	for i, label := range labels {
		s, g := RowOf(scores, i), RowOf(d, i)
		clear(g)
		wrong := -1
		for c, v := range s {
			if c != int(label) && (wrong < 0 || v > s[wrong]) {
				wrong = c
			}
		}
		if margin := 1 + s[wrong] - s[label]; margin > 0 {
			total += margin
			g[wrong], g[label] = 1, -1
		}
	}
	return total
}

// RowOf returns the scores of image i.
func RowOf(scores []float64, i int) []float64 { return scores[i*digits.Classes : (i+1)*digits.Classes] }

// Argmax returns the index of the greatest value, the first of several.
func Argmax(s []float64) int {
	best := 0
	for i, v := range s {
		if v > s[best] {
			best = i
		}
	}
	return best
}
