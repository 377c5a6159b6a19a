package deepening

import (
	"math"
	"math/rand/v2"
)

// Settings are the settings of an agent's learning.
type Settings struct {
	// Episodes is the number of sequences that the agent tries. Batch is the number of episodes for one step of
	// learning.
	Episodes, Batch int
	// Rate is the first step size of Adam. It is multiplied by Decay every DecayEvery episodes.
	Rate, Decay float64
	DecayEvery  int
	// Temperature is the temperature of the first episodes. It falls linearly to 1 in the first half of the episodes.
	Temperature float64
	Seed        uint64
}

// DefaultSettings returns the settings of an agent that learns from the beginning, or of one that continues with
// another agent's weights.
func DefaultSettings(transferred bool) Settings {
	s := Settings{Episodes: 75_000, Batch: 32, Rate: 1e-4, Decay: 0.99, DecayEvery: 500, Temperature: 2}
	if transferred {
		s.Episodes = 10_000
	}
	return s
}

// Learner is the complete state of an agent that learns, from which learning can continue.
type Learner struct {
	Network  *Network
	Settings Settings
	// Episodes is the number of finished episodes. Steps is the number of steps of Adam, and M and V are its moments.
	Episodes, Steps int
	M, V            []float64
	// Objective has the mean reward of each batch.
	Objective []float64
}

// NewLearner returns a learner that starts with a network, and changes it.
func NewLearner(n *Network, s Settings) *Learner {
	return &Learner{Network: n, Settings: s, M: make([]float64, len(n.Weights)), V: make([]float64, len(n.Weights))}
}

// Done reports whether all episodes are finished.
func (l *Learner) Done() bool { return l.Episodes >= l.Settings.Episodes }

// Step tries one batch of sequences on each table in turn. It moves the weights against the gradient of −mean(log π ·
// (R − baseline)). The baseline of an episode is the mean reward of the other episodes on its table (R. J. Williams,
// Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning, 1992).
func (l *Learner) Step(tables []*OutcomeTable) {
	grad := make([]float64, len(l.Network.Weights))
	share := l.Settings.Batch / len(tables)
	sum := 0.0
	b := newBatch(l.Network, l.temperature())
	for i, t := range tables {
		r := rand.New(rand.NewPCG(l.Settings.Seed, uint64(l.Steps*len(tables)+i)))
		sum += b.sampled(t, max(share, 2), 1/float64(len(tables)), r)
	}
	b.back(grad)
	l.Objective = append(l.Objective, sum/float64(len(tables)))
	l.Episodes += max(share, 2) * len(tables)
	l.move(grad)
}

// temperature returns the present temperature, which falls from Settings.Temperature to 1 in the first half of the
// episodes.
func (l *Learner) temperature() float64 {
	part := 2 * float64(l.Episodes) / float64(l.Settings.Episodes)
	return max(1, l.Settings.Temperature+(1-l.Settings.Temperature)*part)
}

// move changes the weights by a step of Adam (D. P. Kingma and J. Ba, 2014) against the gradient.
func (l *Learner) move(grad []float64) {
	const b1, b2, epsilon = 0.9, 0.999, 1e-8
	l.Steps++
	rate := l.Settings.Rate * math.Pow(l.Settings.Decay, float64(l.Episodes/l.Settings.DecayEvery))
	c1, c2 := 1-math.Pow(b1, float64(l.Steps)), 1-math.Pow(b2, float64(l.Steps))
	for i, g := range grad {
		l.M[i] = b1*l.M[i] + (1-b1)*g
		l.V[i] = b2*l.V[i] + (1-b2)*g*g
		l.Network.Weights[i] -= rate * (l.M[i] / c1) / (math.Sqrt(l.V[i]/c2) + epsilon)
	}
}

// stateVisit has the values of one state that the episodes of a batch have reached.
type stateVisit struct {
	pass  *pass
	probs []float64
	slope []float64 // gradient of the loss by the logits
}

// batch has the states that a batch of episodes has reached, each computed once, and the layers of their networks.
// States with the same layers share one reading, also states of different tables. Both are in the order of the first
// visit, so that sums do not depend on the order of a map.
type batch struct {
	n           *Network
	temperature float64
	readings    map[string]*layerReading
	read        []*layerReading
	visited     []*stateVisit
}

func newBatch(n *Network, temperature float64) *batch {
	return &batch{n: n, temperature: temperature, readings: map[string]*layerReading{}}
}

// stateVisits are the reached states of one table, by decision and by the index of the actions before it.
type stateVisits map[[2]int]*stateVisit

func (b *batch) visit(t *OutcomeTable, seen stateVisits, decision, before int) *stateVisit {
	if v, ok := seen[[2]int{decision, before}]; ok {
		return v
	}
	s := t.State(decision, before)
	key := make([]byte, 0, 2*len(s.Layers))
	for _, l := range s.Layers {
		key = append(key, byte(l), byte(l>>8))
	}
	r, ok := b.readings[string(key)]
	if !ok {
		r = b.n.read(s.Layers)
		b.readings[string(key)] = r
		b.read = append(b.read, r)
	}
	p := b.n.forward(r, s.Time)
	v := &stateVisit{pass: p, probs: softmax(p.logits, b.temperature), slope: make([]float64, t.Actions)}
	seen[[2]int{decision, before}] = v
	b.visited = append(b.visited, v)
	return v
}

// back adds the gradient of all visits to grad.
func (b *batch) back(grad []float64) {
	w := &backwardPass{n: b.n}
	for _, v := range b.visited {
		w.pass(v.pass, v.slope)
	}
	for _, r := range b.read {
		w.reading(r, grad)
	}
	w.end(grad)
}

// charge adds the gradient of −weight·log π(action) by the logits to the visit's slope.
func (v *stateVisit) charge(action int, weight, temperature float64) {
	for a, p := range v.probs {
		v.slope[a] += weight * p / temperature
	}
	v.slope[action] -= weight / temperature
}

// sampled tries a number of episodes on a table and returns their mean reward. The gradient of their mean loss,
// multiplied by share, is added to the visits; back computes the gradient of the weights.
func (b *batch) sampled(t *OutcomeTable, episodes int, share float64, r *rand.Rand) float64 {
	seen := stateVisits{}
	rewards, sequences := make([]float64, episodes), make([]int, episodes)
	total := 0.0
	for e := range episodes {
		at := 0
		for d := range t.Decisions {
			at = at*t.Actions + draw(b.visit(t, seen, d, at).probs, r)
		}
		sequences[e], rewards[e] = at, Reward(t.Accuracy[at])
		total += rewards[e]
	}
	for e, sequence := range sequences {
		baseline := (total - rewards[e]) / float64(episodes-1)
		weight := share * (rewards[e] - baseline) / float64(episodes)
		before := 0
		for d, action := range t.Sequence(sequence) {
			b.visit(t, seen, d, before).charge(action, weight, b.temperature)
			before = before*t.Actions + action
		}
	}
	return total / float64(episodes)
}

// draw returns an action, drawn by the probabilities.
func draw(probs []float64, r *rand.Rand) int {
	u := r.Float64()
	for a, p := range probs {
		if u -= p; u < 0 {
			return a
		}
	}
	return len(probs) - 1
}

// Choose returns the index of the sequence that the network takes on a table: at each decision, the action with the
// greatest probability.
func (n *Network) Choose(t *OutcomeTable) int {
	at := 0
	for d := range t.Decisions {
		probs := n.Probabilities(t.State(d, at), 1)
		best := 0
		for a, p := range probs {
			if p > probs[best] {
				best = a
			}
		}
		at = at*t.Actions + best
	}
	return at
}
