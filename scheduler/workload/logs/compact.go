package logs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// compactForms are layouts of dates without separators.
var compactForms = []string{
	"20060102150405", "200601021504", "060102150405", "2006010215", "0601021504", "0201061504", "0102061504",
	"20060102", "02012006", "01022006",
}

// shortForms are further layouts, which Slurm prints if SLURM_TIME_FORMAT says so. In other logs, numbers of these widths
// are usual.
var shortForms = []string{
	"0102150405", "0201150405", "06010215", "01021504", "02011504", "060102", "020106", "010206", "150405", "1504",
}

// secondsNow matches numbers of seconds from 2001 to 2033.
var secondsNow = regexp.MustCompile(`^1\d{9}$`)

// CompactDates detects dates without separators among instants that look like numbers. 2609011000 may be 10 o'clock on
// 1 September 2026, or a number of seconds since 1970. Only all instants of a log together show which.
type CompactDates struct {
	forms []string // layouts that all instants of digits have so far; nil before the first
	first string   // the first instant of digits
	line  int      // line of the first
	// different has up to three different instants of digits. A single one may have the form of a date by chance.
	different []string
}

// Add records the instant of a line. It ignores texts with other characters than digits. In a log of Slurm, it also
// considers shortForms.
func (c *CompactDates) Add(text string, line int, short bool) {
	if c.line > 0 && len(c.forms) == 0 || text == "" || strings.Trim(text, "0123456789") != "" {
		return
	}
	forms := c.forms
	if c.line == 0 {
		c.first, c.line, forms = strings.Clone(text), line, compactForms
		if short {
			forms = append(shortForms, compactForms...)
		}
	}
	var fit []string
	for _, form := range forms {
		at, err := time.Parse(form, text)
		old := strings.Contains(form, "06") && (at.Year() < 1990 || at.Year() > 2068)
		if err == nil && len(text) == len(form) && !old {
			fit = append(fit, form)
		}
	}
	c.forms = fit
	if len(c.different) < 3 && !slices.Contains(c.different, text) {
		c.different = append(c.different, strings.Clone(text))
	}
}

// Err returns an error if all instants of digits may be dates. The error says how to write the dates.
func (c *CompactDates) Err(file, remedy string) error {
	if len(c.forms) == 0 || len(c.different) < 3 && secondsNow.MatchString(c.first) {
		return nil
	}
	return &textfile.LineError{File: file, Line: c.line, Err: fmt.Errorf("%q may be a date without separators or a number, and so may "+
		"all other times of the file: %s", c.first, remedy)}
}
