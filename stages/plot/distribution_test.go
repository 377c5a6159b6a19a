package plot

import (
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
)

// Each class of jobs has a panel of its own, and all of its jobs are in it.
func TestDistributionsByClass(t *testing.T) {
	cfg := resultstest.Small()
	e, err := record.Open(cfg.Write(t))
	if err != nil {
		t.Fatal(err)
	}
	d := newData(e)
	panels := []distribution{{group: "long"}, {group: "short"}}
	lines, _ := d.settings()[0].lines()
	jobs, err := d.distribute(panels, lines, "class")
	if err != nil || jobs != len(e.Cells)*(cfg.Long+cfg.Short) {
		t.Fatalf("%d jobs in %d cells, %v", jobs, len(e.Cells), err)
	}
	for i, perCell := range []int{cfg.Long, cfg.Short} {
		for k, c := range panels[i].curves {
			if len(c.values) != perCell*len(lines[k].cells) {
				t.Errorf("%s of %s: %d jobs in %d cells", panels[i].group, c.label, len(c.values), len(lines[k].cells))
			}
		}
	}
	figures, err := d.distributions("class")
	if err != nil || len(figures) != 1 || figures[0].Name != "jct-class" || figures[0].Paint == nil {
		t.Errorf("by class: %+v, %v", figures, err)
	}
	if figures, err = d.distributions("user"); err != nil || !strings.Contains(figures[0].Skipped, "of one user") {
		t.Errorf("by user: %+v, %v", figures, err)
	}
}
