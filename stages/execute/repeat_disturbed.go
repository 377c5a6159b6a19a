package execute

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
)

// A disturbed cell runs at most mostTries times. A cell that took longer than longestAgain is repeated only if its
// times are wrong because tfexp could not run, not because other programs slowed it down.
const (
	mostTries    = 3
	longestAgain = 10 * time.Minute
)

// KeepDisturbed is an environment variable. If it is not empty, disturbed cells are not run again.
const KeepDisturbed = "TFEXP_KEEP_DISTURBED"

// disturbance is how a cell was disturbed from outside the experiment.
type disturbance struct {
	gaps hardware.Gaps // times in which tfexp could not run and noticed ends too late
	busy float64       // cores that other programs used; hardware.UnknownLoad if unknown
}

func (d disturbance) starved() bool { return d.busy > hardware.BusyCores }

// why describes the disturbance in a phrase.
func (d disturbance) why() string {
	if d.gaps.Any() {
		return d.gaps.String()
	}
	return fmt.Sprintf("other programs used %.2g CPU cores", d.busy)
}

// less reports whether a cell was disturbed less than another one. Gaps are compared before the load.
func (d disturbance) less(o disturbance) bool {
	if a, b := d.gaps.Total(), o.gaps.Total(); a != b {
		return a < b
	}
	return d.busy < o.busy
}

// hopeless reports whether another try would be disturbed as well, because the machine is as busy as before the last
// try.
func (d disturbance) hopeless(before disturbance) bool {
	return d.starved() && before.starved() && d.busy > before.busy/2
}

// Repeats limits how often the disturbed cells of an experiment run again. With the zero value, each may run again.
type Repeats struct {
	// Bounded reports whether the number of further runs is limited to Left.
	Bounded bool
	Left    int
	// busy is the load that disturbed a repeated cell again. No other cell is repeated at the same or a higher load.
	busy float64
	// first is the total time of the first runs of all cells, and further the total time of the repeated runs.
	first, further time.Duration
}

// If other programs use the machine, repeated runs may take this part of the first runs' time, or this much time.
const (
	mostRepeats  = 0.25
	shortRepeats = 30 * time.Second
)

// allows reports whether a cell with this disturbance and run time may run again.
func (r *Repeats) allows(d disturbance, took time.Duration) bool {
	most := max(shortRepeats, time.Duration(mostRepeats*float64(r.first)))
	return (!r.Bounded || r.Left > 0) &&
		(!d.starved() || r.further+took <= most && !d.hopeless(disturbance{busy: r.busy}))
}

// undisturbed calls try, which runs the cell in dir, until a run is undisturbed or no more tries are allowed. It keeps
// the least disturbed run in dir. Files that are in dir before belong to all runs. aside is the path of a folder that
// does not exist.
func undisturbed(dir, aside string, repeats *Repeats, try func() (record.Cell, disturbance, error)) (record.Cell, error) {
	f, err := newTries(dir, aside)
	if err != nil {
		return record.Cell{}, err
	}
	defer folder.RemoveAll(aside)
	began := time.Now()
	best, least, err := try()
	took := time.Since(began)
	repeats.first += took
	if err != nil || os.Getenv(KeepDisturbed) != "" {
		return best, err
	}
	tries := 1
	for before := least; before.again(best) && tries < mostTries && repeats.allows(before, took); {
		repeats.Left--
		repeats.further += took
		if err := f.setAside(); err != nil {
			return best, err
		}
		cell, d, err := try()
		if err != nil {
			return cell, err
		}
		tries++
		if d.less(least) {
			best, least = cell, d
		} else if err := f.bringBack(); err != nil {
			return best, err
		}
		if d.hopeless(before) {
			repeats.busy = d.busy
			break
		}
		before = d
	}
	if tries == 1 {
		return best, nil
	}
	for i := range best.Warnings {
		if w := &best.Warnings[i]; w.Code == record.Disturbed || w.Code == record.BusyMachine {
			of := fmt.Sprintf(" (the least disturbed of %d runs)", tries)
			w.Text += of
		}
	}
	best.Tries = tries
	return best, record.Amend(dir, best)
}

// again reports whether a cell with this disturbance should run again.
func (d disturbance) again(c record.Cell) bool {
	return d.gaps.Any() || d.starved() && c.Seconds <= longestAgain.Seconds()
}

// warn adds a warning about the disturbance to the cell's record.
func (d disturbance) warn(c *record.Cell, cell string) {
	if d.busy != hardware.UnknownLoad {
		c.Busy = d.busy
	}
	if d.gaps.Any() {
		c.Warnings = append(c.Warnings, record.Warning{Code: record.Disturbed, Cell: cell,
			Text: d.gaps.String() + " while jobs ran: its times are too long"})
	}
	if d.starved() {
		c.Warnings = append(c.Warnings, record.Warning{Code: record.BusyMachine, Cell: cell,
			Text: fmt.Sprintf("other programs used %.2g CPU cores while jobs ran", d.busy)})
	}
}

// tries has the runs of a cell in one folder.
type tries struct {
	dir, aside string
	common     []string // files of dir that belong to all runs: the cell's key
}

func newTries(dir, aside string) (*tries, error) {
	common, err := names(dir)
	return &tries{dir, aside, common}, err
}

func names(dir string) ([]string, error) {
	entries, err := folder.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the files of a cell: %w", err)
	}
	all := schema.Each(entries, func(e fs.DirEntry) string { return e.Name() })
	return all, nil
}

// setAside moves the files of the last run to another folder.
func (f *tries) setAside() error {
	err := folder.RemoveAll(f.aside)
	if err == nil {
		err = folder.MkdirAll(f.aside, 0o755)
	}
	if err == nil {
		err = f.each(func(name string) error {
			return folder.Rename(filepath.Join(f.dir, name), filepath.Join(f.aside, name))
		})
	}
	if err != nil {
		return fmt.Errorf("set a disturbed run of a cell aside: %w", err)
	}
	return nil
}

// bringBack replaces the files of the last run by the files that setAside moved. The record of the cell comes last,
// because it marks the folder as complete.
func (f *tries) bringBack() error {
	remove := func(name string) error { return folder.RemoveAll(filepath.Join(f.dir, name)) }
	back := func(name string) error {
		return folder.Rename(filepath.Join(f.aside, name), filepath.Join(f.dir, name))
	}
	err := errors.Join(remove(record.CellFile), f.each(remove))
	kept, listErr := names(f.aside)
	err = errors.Join(err, listErr)
	for _, name := range kept {
		if err == nil && name != record.CellFile {
			err = back(name)
		}
	}
	if err == nil {
		err = back(record.CellFile)
	}
	if err != nil {
		return fmt.Errorf("bring the least disturbed run of a cell back: %w", err)
	}
	return nil
}

// each calls do for each file or folder that a run has written.
func (f *tries) each(do func(name string) error) error {
	all, err := names(f.dir)
	if err != nil {
		return err
	}
	for _, name := range all {
		if !slices.Contains(f.common, name) {
			if err := do(name); err != nil {
				return err
			}
		}
	}
	return nil
}
