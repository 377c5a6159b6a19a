package decode

import (
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
)

// stages decodes the blocks that stages bring, by the name of their stage. A block
// that may stand once and is not there has the defaults.
func (d *Decoder) stages() map[string][]schema.Settings {
	all := map[string][]schema.Settings{}
	for _, b := range schema.AllBrought() {
		nodes := d.root.All(b.Block.Name)
		if len(nodes) == 0 && b.Block.Single {
			all[b.By] = []schema.Settings{d.values(d.sole(b.Block.Name), false)}
		}
		for _, n := range nodes {
			all[b.By] = append(all[b.By], d.values(n, true))
		}
	}
	return all
}

// values evaluates a block and those within it.
func (d *Decoder) values(n *eval.Node, given bool) schema.Settings {
	a := d.EvalArgs(n, d.global)
	v := schema.Settings{Name: n.Schema.Name, Label: n.Label, Given: given, Args: a.Values}
	for name, value := range v.Args {
		if ref, ok := value.(eval.Reference); ok {
			v.Args[name] = ref.Name
		}
	}
	for _, b := range n.Blocks {
		v.Blocks = append(v.Blocks, d.values(b, true))
	}
	return v
}
