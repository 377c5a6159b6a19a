package stages

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler/adaptation"
)

// Known returns the adaptations, with the tables of those whose sequences have been
// trained in this experiment's folder. Without its table an adaptation has none.
func (r *Run) Known() []*adaptation.Study { return known(r.Dir, r.Studies()) }

// Known is the same while the plan is made.
func (p Planning) Known() []*adaptation.Study { return known(p.Dir, p.Studies()) }

func known(dir string, all []*adaptation.Study) []*adaptation.Study {
	for _, s := range all {
		if s.Real == nil || s.File != "" || s.Tables != nil {
			continue
		}
		if raw, err := folder.ReadFile(dir, TableOf(all, s)); err == nil {
			_ = Learned(s, raw) // a table that lacks sequences is as none
		}
	}
	return all
}

// Learned gives an adaptation the table of its trainings.
func Learned(s *adaptation.Study, table []byte) error {
	tables, _, err := adaptation.Read(record.TableFile, s.Name, bytes.NewReader(table), adaptation.DefaultColumns, s.Real.Decisions,
		s.Real.Blocks)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(table)
	s.Tables, s.Digest = tables, hex.EncodeToString(sum[:])
	return nil
}

// TableOf is the name of the table that the real trainings of one of the adaptations leave:
// table.csv, or where several leave one, table-<name>.csv.
func TableOf(all []*adaptation.Study, s *adaptation.Study) string {
	n := 0
	for _, o := range all {
		if o.Real != nil && o.Real.Exhaustive {
			n++
		}
	}
	if n > 1 {
		return fmt.Sprintf("table-%s.csv", s.Name)
	}
	return record.TableFile
}
