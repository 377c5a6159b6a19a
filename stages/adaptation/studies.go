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

// studiesOf are the studies of a file's adaptations.
func studiesOf(s *experiment.Spec) []*deepening.Study {
	return schema.Each(blocks(s), func(b *Block) *deepening.Study { return b.Study })
}

// studies returns the adaptations of an experiment, with tables for those whose sequences have been trained in its
// folder. Without its table an adaptation has none.
func studies(dir string, x stages.Experiment) []*deepening.Study {
	all := studiesOf(x.File())
	for _, s := range all {
		if s.Real == nil || s.File != "" || s.Tables != nil {
			continue
		}
		if raw, err := folder.ReadFile(dir, tableOf(all, s)); err == nil {
			_ = addTrainedTable(s, raw) // a table that lacks sequences is as none
		}
	}
	return all
}

// addTrainedTable gives an adaptation the table of its trainings.
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

// tableOf is the name of the table that the real trainings of one of the adaptations leave:
// table.csv, or where several leave one, table-<name>.csv.
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
