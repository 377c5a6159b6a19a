package language

import (
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages"
)

// StageBlock is a block that a stage brings.
type StageBlock struct {
	Stage string
	Block *schema.Block
}

// StageBlocks are the blocks that stages bring, in the order of the stages' names.
func StageBlocks() []StageBlock {
	var blocks []StageBlock
	for _, name := range stages.Names() {
		if b := stages.Find(name).Block; b != nil {
			blocks = append(blocks, StageBlock{name, b})
		}
	}
	return blocks
}
