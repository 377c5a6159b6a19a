package throughput

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// BatchPhase is a part of a training with one batch size: the class of a job with this batch size, and the number of
// steps.
type BatchPhase struct {
	Class string
	Steps float64
}

// Rules by which the simulator of Shockwave (P. Zheng and others, NSDI 2023) changes the batch size at the start of
// an epoch. Accordion uses the norm of gradients, GradientNoise their noise. The changes were recorded for some
// models; other models keep their batch size.
const (
	Accordion     = "accordion"
	GradientNoise = "gns"
)

// batchModel describes a model with known batch sizes: the samples of an epoch, and the largest batch size.
// Accordion trains with the largest one outside of critical epochs; 0 means that the batch size stays.
type batchModel struct {
	samples  float64
	largest  int
	critical func(batch, epoch int) bool
}

var batchModels = map[string]batchModel{
	"ResNet-18": {50000, 256, func(_, epoch int) bool {
		return epoch < 10 || epoch >= 150 && epoch < 160 || epoch >= 250 && epoch < 260
	}},
	"ResNet-50": {100000, 128, func(_, epoch int) bool { return epoch%30 < 10 }},
	"LM":        {59675, 80, func(_, epoch int) bool { return epoch < 10 }},
	"Recommendation": {117907, 8192, func(batch, epoch int) bool {
		switch {
		case batch <= 1024:
			return epoch < 30
		case batch <= 2048:
			return epoch < 40
		}
		return epoch < 10
	}},
	"Transformer": {samples: 10000}, "CycleGAN": {samples: 6287}, "A3C": {samples: 4},
}

// doublings are the epochs from which on the noise of gradients allows twice the batch size. The key is the model,
// the first batch size and the number of workers.
var doublings = map[string][]int{
	"ResNet-18 16 1": {31, 41, 51, 71}, "ResNet-18 16 2": {21, 31, 91, 111}, "ResNet-18 16 4": {11, 21, 81, 91},
	"ResNet-18 32 1": {21, 31, 51}, "ResNet-18 32 2": {11, 21, 41}, "ResNet-18 32 4": {21, 31, 61},
	"ResNet-18 64 1": {11, 31}, "ResNet-18 64 2": {21, 41}, "ResNet-18 64 4": {11, 61},
	"ResNet-18 128 1": {11}, "ResNet-18 128 2": {41}, "ResNet-18 128 4": {11},
	"ResNet-50 32 2": {101, 111}, "ResNet-50 32 4": {131, 221},
	"ResNet-50 64 1": {101}, "ResNet-50 64 2": {81}, "ResNet-50 64 4": {191},
	"LM 5 1": {31, 41, 61, 71}, "LM 5 2": {31, 51, 61, 71}, "LM 5 4": {11, 31, 71, 91},
	"LM 10 1": {11, 21, 41}, "LM 10 2": {11, 31, 41}, "LM 10 4": {11, 31, 61},
	"LM 20 1": {11, 41}, "LM 20 2": {31, 41}, "LM 20 4": {11, 61},
	"LM 40 1": {11}, "LM 40 2": {11}, "LM 40 4": {61},
	"Recommendation 512 1": {21, 41, 71, 91}, "Recommendation 1024 1": {21, 51, 91},
	"Recommendation 2048 1": {21, 41}, "Recommendation 4096 1": {41},
}

// batchOf splits "LM (batch size 5)" into model and batch size.
func batchOf(class string) (model string, batch int) {
	model, rest, ok := strings.Cut(class, " (batch size ")
	text, closed := strings.CutSuffix(rest, ")")
	if n, err := strconv.Atoi(text); ok && closed && err == nil && n > 0 {
		batch = n
	}
	return model, batch
}

// MostBatchSteps is the greatest number of steps of a job whose batch size changes, because the code visits each of
// its epochs.
const MostBatchSteps = 1e9

// CheckBatchRule returns an error for a job whose changes of batch size are not known.
func CheckBatchRule(rule, class string, steps float64) error {
	model, batch := batchOf(class)
	known, ok := batchModels[model]
	switch {
	case rule != Accordion && rule != GradientNoise:
		return fmt.Errorf("the batch size cannot change by %q: write static, %s or %s", rule, Accordion, GradientNoise)
	case !ok || known.largest > 0 && batch == 0:
		return fmt.Errorf("how %s changes the batch size of %q is not known: its name is a model with its batch size, "+
			"such as \"LM (batch size 5)\"", rule, class)
	case steps > MostBatchSteps:
		return fmt.Errorf("%v steps: a job whose batch size changes has at most %v", steps, float64(MostBatchSteps))
	}
	return nil
}

// BatchPhases returns the phases of a job whose batch size changes by a rule. steps is its number of steps without
// changes. The number of epochs stays the same. A batch size for whose class available is false is not used.
func BatchPhases(rule, class string, workers int, steps float64, available func(class string) bool) []BatchPhase {
	model, first := batchOf(class)
	m := batchModels[model]
	phases := []BatchPhase{{Class: class}}
	if m.largest == 0 {
		phases[0].Steps = steps
		return phases
	}
	batch, run := first, 0.0
	epochSteps := func(batch int) float64 { return math.Ceil(m.samples / float64(batch)) }
	for epoch := 0; run < steps; epoch++ {
		if next := m.batchAt(rule, model, first, workers, epoch); next != batch {
			if name := fmt.Sprintf("%s (batch size %d)", model, next); available(name) {
				epochs := math.Ceil(steps / epochSteps(batch))
				steps = math.Ceil(steps * float64(batch) / float64(next))
				if math.Ceil(steps/epochSteps(next)) != epochs {
					steps = epochs * epochSteps(next)
				}
				batch, run = next, float64(epoch)*epochSteps(next)
				phases = append(phases, BatchPhase{Class: name})
			}
		}
		more := min(epochSteps(batch), steps-run)
		phases[len(phases)-1].Steps += max(more, 0)
		run += epochSteps(batch)
	}
	return phases
}

// batchAt returns the batch size in an epoch, counted from 0.
func (m *batchModel) batchAt(rule, model string, first, workers, epoch int) int {
	if rule == Accordion {
		if first >= m.largest || m.critical(first, epoch) {
			return first
		}
		return m.largest
	}
	batch := first
	for _, from := range doublings[fmt.Sprintf("%s %d %d", model, first, workers)] {
		if epoch >= from {
			batch *= 2
		}
	}
	return batch
}
