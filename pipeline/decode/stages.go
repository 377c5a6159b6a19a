package decode

import (
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
)

// stages decodes the blocks that stages add to the language, by the name of the stage. A missing block has its
// default settings.
func (d *Decoder) stages() map[string][]schema.Settings {
	all := map[string][]schema.Settings{}
	for _, b := range schema.AllBrought("") {
		nodes := d.Root.All(b.Block.Name)
		if len(nodes) == 0 && b.Block.Single {
			nodes = []*eval.Node{d.Sole(b.Block.Name)}
		}
		for _, n := range nodes {
			all[b.By] = append(all[b.By], d.Values(n, d.Global))
		}
	}
	return all
}

// brought decodes the blocks that features add inside block n.
func (d *Decoder) brought(n *eval.Node, e *eval.Env) (all []schema.Settings) {
	for _, b := range schema.AllBrought(n.Schema.Name) {
		for _, p := range n.All(b.Block.Name) {
			all = append(all, d.Values(p, e))
		}
	}
	return all
}
