package market

import "time"

// Curve is a life-time curve for pictures: how many servers of a node live longer than some times.
type Curve struct {
	// Of names the type of device, the node, or the first and last of Nodes. Law is the distribution in HCL.
	Of    string   `json:"of"`
	Nodes []string `json:"nodes,omitempty"`
	Law   string   `json:"law"`
	// Measured is whether the points form a measured curve, which stays level between them.
	Measured bool `json:"measured,omitempty"`
	// Seconds and Survival are the points, Survival from 1 down.
	Seconds  []float64 `json:"seconds"`
	Survival []float64 `json:"survival"`
	// Fitted has the values at Seconds of the bathtub law fitted to a measured curve, and FittedLaw the formula. Both
	// are empty without a fit.
	Fitted    []float64 `json:"fitted,omitempty"`
	FittedLaw string    `json:"fitted_law,omitempty"`
}

// points is the number of points of a curve that is a formula.
const points = 120

// CurveOf returns the curve of a distribution, up to the time that 99% of the servers do not reach, or at most a day.
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
