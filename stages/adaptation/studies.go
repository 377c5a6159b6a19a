package adaptation

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/adaptation/deepening"
	"github.com/tfexp/tfexp/stages/experiment"
)

// studiesOf returns the studies of all adaptation blocks.
func studiesOf(s *experiment.Spec) []*deepening.Study {
	return schema.Each(blocks(s), func(b *Block) *deepening.Study { return b.Study })
}

// studies returns the studies of an experiment. If their sequences were trained in the experiment's folder, they have
// the tables of these trainings; until then they have no tables.
func studies(dir string, x stages.Experiment) []*deepening.Study {
	all := studiesOf(x.File())
	for _, s := range all {
		if s.Real == nil || s.File != "" || s.Tables != nil {
			continue
		}
		if raw, err := folder.ReadFile(dir, tableOf(all, s)); err == nil {
			_ = addTrainedTable(s, raw) // an incomplete table counts as none
		}
	}
	return all
}

// addTrainedTable adds the table of its trainings to a study.
func addTrainedTable(s *deepening.Study, table []byte) error {
	tables, _, err := deepening.ReadTable(TableFile, s.Name, bytes.NewReader(table), deepening.DefaultColumns,
		s.Real.Decisions,
		s.Real.Blocks)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(table)
	s.Tables, s.Digest = tables, hex.EncodeToString(sum[:])
	return nil
}

// tableOf returns the name of the table that a study's real trainings write: table.csv, or table-<name>.csv if several
// studies write one.
func tableOf(all []*deepening.Study, s *deepening.Study) string {
	n := 0
	for _, o := range all {
		if o.Real != nil && o.Real.Exhaustive {
			n++
		}
	}
	if n > 1 {
		return fmt.Sprintf("table-%s.csv", s.Name)
	}
	return TableFile
}
