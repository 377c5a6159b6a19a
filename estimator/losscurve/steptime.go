package losscurve

// Latest is how many of the latest steps tell the time of one.
const Latest = 72

// StepTime returns the time of a step: the mean of the latest; 0 without any.
func StepTime(seconds []float64) float64 {
	seconds = seconds[max(len(seconds)-Latest, 0):]
	sum := 0.0
	for _, s := range seconds {
		sum += s
	}
	if len(seconds) == 0 {
		return 0
	}
	return sum / float64(len(seconds))
}
