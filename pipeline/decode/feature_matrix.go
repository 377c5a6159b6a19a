package decode

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/language"
)

// beyond gives features that add cells, such as searches, access to the matrix. It implements language.Matrix.
type beyond struct {
	*expander
	points []point
}

// Unknown implements language.Matrix.
func (b *beyond) Unknown() *eval.Env { return b.unknown }

// ReadAxis implements language.Matrix.
func (b *beyond) ReadAxis(name string) bool {
	i := b.axis(name)
	if i != absent {
		b.axes[i].read = true
	}
	return i != absent
}

// Decoded implements language.Matrix.
func (b *beyond) Decoded(n *eval.Node, reports int) { b.know(n, reports) }

// Broken implements language.Matrix.
func (b *beyond) Broken(n *eval.Node) bool { return n.Broken || b.known[n] != nil && b.known[n].broken }

// Each implements language.Matrix.
func (b *beyond) Each(blocks []*eval.Node, visit func(language.Point)) {
	ih := b.axis("hardware")
	seen := map[string]bool{}
	for _, p := range b.points {
		if p.at[ih] == absent {
			continue
		}
		hardware := b.root.Find("hardware", b.axes[ih].texts[p.at[ih]])
		var reads []int
		for _, n := range append(blocks[:len(blocks):len(blocks)], hardware) {
			reads = union(reads, b.known[n].reads)
		}
		for _, i := range reads {
			b.axes[i].read = true
		}
		key := p.key([]int{ih}) + p.key(reads)
		if visit == nil || seen[key] || b.known[hardware].broken {
			continue
		}
		seen[key] = true
		if at, ok := b.at(blocks[0], hardware, p, reads); ok {
			visit(at)
		}
	}
}

// at returns the values of a point on the axes that a block and the hardware read. It returns false if the point
// lacks one, which it reports.
func (b *beyond) at(n, hardware *eval.Node, p point, reads []int) (language.Point, bool) {
	at := language.Point{Hardware: hardware, Values: map[string]cty.Value{}}
	for _, i := range reads {
		a := b.axes[i]
		if p.at[i] == absent {
			b.Errorf(p.place, "Point without a value", "%s reads each.%s, which this point does not set.", n.Title(), a.name)
			return at, false
		}
		at.Values[a.name] = a.values[p.at[i]]
		at.Axes = append(at.Axes, schema.Setting{Name: a.name, Value: a.texts[p.at[i]]})
	}
	return at, true
}
