package report

import (
	"github.com/tfexp/tfexp/results/prose"
	"github.com/tfexp/tfexp/results/record"
)

// adaptations is the section on controllers that deepen networks.
type adaptations struct {
	Blocks   []prose.Adaptation
	Pictures []shownPicture
	More     []string
}

func (v *view) adaptations(e *record.Experiment) error {
	all, err := e.Adaptations()
	if err != nil {
		return err
	}
	v.Adaptations.Blocks = prose.Adaptations(all)
	if len(e.Plan.Cells) > 0 || len(v.Adaptations.Blocks) == 0 {
		return nil
	}
	v.NoAnswer, v.NoCells = "", true // they are what it was about
	for i := range v.Adaptations.Blocks {
		b := &v.Adaptations.Blocks[i]
		for _, text := range b.Answers {
			v.Answers = append(v.Answers, answer{Text: text, Kind: kind("")})
		}
		b.Answers = nil // they are said once
	}
	return nil
}
