package market

import "time"

// Curve is a curve of lifetimes for pictures: the part of servers that live longer than some times.
type Curve struct {
	// Of names the type of device, or the node, or the first and the last of several nodes. Law is the distribution as
	// the language writes it.
	Of    string   `json:"of"`
	Nodes []string `json:"nodes,omitempty"`
	Law   string   `json:"law"`
	// Measured reports whether the points are measured, so that the curve is a step function.
	Measured bool `json:"measured,omitempty"`
	// Seconds and Survival are the points; Survival falls from 1.
	Seconds  []float64 `json:"seconds"`
	Survival []float64 `json:"survival"`
	// Fitted has the values of a fitted bathtub law at Seconds, for a measured curve. FittedLaw is its formula. Both
	// are empty without a fit.
	Fitted    []float64 `json:"fitted,omitempty"`
	FittedLaw string    `json:"fitted_law,omitempty"`
}

// points is the number of points of a curve that follows a formula.
const points = 120

// CurveOf returns the curve of a distribution. It ends at the time that 1% of the servers reach, or at `most`, or after
// a day.
func CurveOf(of string, l Life, most time.Duration) Curve {
	c := Curve{Of: of, Law: l.String()}
	if m, ok := l.(*Measured); ok {
		c.Measured = true
		c.Seconds, c.Survival = []float64{0}, []float64{1}
		for i, t := range m.Times {
			c.Seconds, c.Survival = append(c.Seconds, t.Seconds()), append(c.Survival, m.Survivals[i])
		}
		if b, _, err := BathtubOf(m); err == nil {
			c.FittedLaw = b.String()
			for _, s := range c.Seconds {
				c.Fitted = append(c.Fitted, b.Survival(time.Duration(s*1e9)))
			}
		}
		return c
	}
	end := min(l.Quantile(0.99), 24*time.Hour)
	if most > 0 {
		end = min(end, most)
	}
	for i := range points + 1 {
		t := end / points * time.Duration(i)
		c.Seconds, c.Survival = append(c.Seconds, t.Seconds()), append(c.Survival, l.Survival(t))
	}
	return c
}
