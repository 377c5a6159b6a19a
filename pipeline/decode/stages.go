package decode

import (
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
)

// stages decodes the blocks that stages add, by the name of their stage. A missing
// single block has the defaults.
func (d *Decoder) stages() map[string][]schema.Settings {
	all := map[string][]schema.Settings{}
	for _, b := range schema.AllBrought("") {
		nodes := d.root.All(b.Block.Name)
		if len(nodes) == 0 && b.Block.Single {
			all[b.By] = []schema.Settings{d.values(d.sole(b.Block.Name), d.global, false)}
		}
		for _, n := range nodes {
			all[b.By] = append(all[b.By], d.values(n, d.global, true))
		}
	}
	return all
}

// brought decodes the blocks within a block that features bring.
func (d *Decoder) brought(n *eval.Node, e *eval.Env) (all []schema.Settings) {
	for _, b := range schema.AllBrought(n.Schema.Name) {
		for _, p := range n.All(b.Block.Name) {
			all = append(all, d.values(p, e, true))
		}
	}
	return all
}

// values evaluates a block and those within it.
func (d *Decoder) values(n *eval.Node, e *eval.Env, given bool) schema.Settings {
	a := d.EvalArgs(n, e)
	v := schema.Settings{Name: n.Schema.Name, Label: n.Label, Given: given, Args: a.Values}
	for name, value := range v.Args {
		if ref, ok := value.(eval.Reference); ok {
			v.Args[name] = ref.Name
		}
	}
	for _, b := range n.Blocks {
		v.Blocks = append(v.Blocks, d.values(b, e, true))
	}
	return v
}
