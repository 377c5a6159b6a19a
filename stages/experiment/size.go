package experiment

// Size asks for the smallest value of an axis at which the mean of a metric keeps a bound. A nil bound is not set.
type Size struct {
	Axis   string   `json:"axis"`
	Metric string   `json:"metric"`
	Min    *float64 `json:"min,omitempty"`
	Max    *float64 `json:"max,omitempty"`
}
