package formats

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload/logs"
)

// hasZone matches dates with a time zone.
var hasZone = regexp.MustCompile(`\d ?(Z|[+-]\d\d:?\d\d)$| (UTC|GMT)\b`)

// noteForm records whether instants of the file are numbers or dates. It returns an error for a mixture, because
// numbers and dates cannot be compared.
func (t *table) noteForm(text string) error {
	first := func(at *int) {
		*at = cmp.Or(*at, t.line)
	}
	switch {
	case !logs.IsDate(text):
		first(&t.numbers)
	case hasZone.MatchString(text):
		first(&t.zoned)
	default:
		first(&t.zoneless)
	}
	dates := max(t.zoned, t.zoneless)
	if t.zoned > 0 && t.zoneless > 0 {
		dates = min(t.zoned, t.zoneless)
	}
	switch isDate := logs.IsDate(text); {
	case t.numbers == 0 || dates == 0:
	case isDate && t.numbers < dates:
		return fmt.Errorf("%q is a date, where line %d has a number", text, t.numbers)
	case !isDate && dates <= t.numbers:
		return fmt.Errorf("%q is a number, where line %d has a date", text, dates)
	}
	return nil
}

// isTime reports whether a fact is an instant or a duration.
func isTime(fact string) bool {
	return fact == FactArrival || fact == FactStart || fact == FactEnd ||
		strings.HasSuffix(fact, FactRunTime) || strings.HasSuffix(fact, FactRequested)
}

// Errors for jobs that are left out and counted, because their run time is not known.
var (
	errNeverStarted = errors.New("it never started")
	errNotEnded     = errors.New("it has not ended")
)

// waited returns the waiting time of a job, from its start; negative if the file does not have a start.
func (t *table) waited(j *scheduler.Job, fields []string) time.Duration {
	if _, ok := t.text(fields, FactStart); !ok {
		return -1
	}
	start, err := t.instant(fields, FactStart)
	if err == nil && start < j.Arrival {
		t.early = cmp.Or(t.early, t.line)
	}
	if err != nil || start < j.Arrival {
		return -1
	}
	return start - j.Arrival
}

// timesOf reads the arrival and the run time of a job. A negative run time means unknown.
func (t *table) timesOf(j *scheduler.Job, fields []string) (run time.Duration, err error) {
	arrival, err := t.instant(fields, FactArrival)
	if err != nil {
		return 0, err
	}
	j.Arrival = arrival
	if run, err = t.runTime(fields); err != nil {
		return 0, err
	}
	if text, ok := t.text(fields, FactRequested); ok {
		d, err := logs.ParseSpan(text, t.unitOfRequests())
		if err != nil || d < 0 {
			return 0, fmt.Errorf("%s %q is not a time", t.named[FactRequested], text)
		}
		j.Predicted = max(d, 1)
		t.limits.add(run, d, strings.Trim(text, "0123456789.") == "")
	}
	t.first, t.latest = min(t.first, arrival), max(t.latest, arrival)
	return run, nil
}

// limitsSeen counts jobs with requested times that are numbers without a unit, and the jobs that ran much longer.
type limitsSeen struct{ all, exceeded int }

// add takes the run time and the requested time of a job.
func (l *limitsSeen) add(run, limit time.Duration, plain bool) {
	if !plain || run <= 0 || limit <= 0 {
		return
	}
	if l.all++; run > limit+limit/2 {
		l.exceeded++
	}
}

// wrongUnit reports whether most jobs ran much longer than their requested times, so that another unit is likely.
func (l *limitsSeen) wrongUnit() bool { return 2*l.exceeded > l.all }

// unitOfRequests returns the unit of requested times.
func (t *table) unitOfRequests() time.Duration {
	return cmp.Or(t.args.RequestedUnit, t.RequestedUnit, t.o.Unit())
}

// runTime reads the run time of a row; -1 if the file has no run times.
func (t *table) runTime(fields []string) (time.Duration, error) {
	if _, ok := t.at[FactStart]; ok && t.Began {
		if _, ok := t.text(fields, FactStart); !ok {
			return 0, errNeverStarted
		}
		if _, ends := t.at[FactEnd]; ends {
			if _, ok := t.text(fields, FactEnd); !ok {
				return 0, errNotEnded
			}
		}
	}
	if _, ok := t.at[FactRunTime]; ok {
		text, ok := t.text(fields, FactRunTime)
		if !ok && len(t.alternatives) > 0 {
			return -1, nil
		}
		if _, begins := t.at[FactStart]; begins && !ok {
			if _, started := t.text(fields, FactStart); !started {
				return 0, errNeverStarted
			}
			return 0, errNotEnded
		}
		if !ok {
			return 0, errors.New("it has no run time")
		}
		run, err := logs.ParseSpan(text, t.o.Unit())
		if err != nil {
			return 0, fmt.Errorf("%s: %w", t.named[FactRunTime], err)
		}
		if run < 0 {
			return 0, fmt.Errorf("%s is %s", t.named[FactRunTime], text)
		}
		return run, nil
	}
	_, begins := t.at[FactStart]
	if _, ends := t.at[FactEnd]; !begins || !ends {
		return -1, nil
	}
	if _, ok := t.text(fields, FactStart); !ok {
		return 0, errNeverStarted
	}
	if _, ok := t.text(fields, FactEnd); !ok {
		return 0, errNotEnded
	}
	start, err := t.instant(fields, FactStart)
	if err != nil {
		return 0, err
	}
	end, err := t.instant(fields, FactEnd)
	if err == nil && end < start {
		if err = errors.New("it ends before it starts"); t.Slurm {
			err = errors.New("it ends before it starts: a clock was set back. Print the column ElapsedRaw as well")
		}
	}
	return end - start, err
}

func (t *table) instant(fields []string, fact string) (time.Duration, error) {
	text, ok := t.text(fields, fact)
	if !ok {
		return 0, fmt.Errorf("it has no %s", strings.ReplaceAll(fact, "_", " "))
	}
	t.compact.Add(text, t.line, t.Slurm)
	at, err := logs.ParseInstant(t.order.In(text), t.o.Unit())
	switch shown, ends := logs.OrderOf(text); {
	case err != nil && ends && t.order == logs.NoOrder:
		return 0, fmt.Errorf("%s: %q may begin with the day or the month: say which with %s = %q or %q", t.named[fact], text,
			"dates", dayOrders[0], dayOrders[1])
	case err != nil && ends && shown != t.order && shown != logs.NoOrder:
		return 0, fmt.Errorf("%s: %q does not begin with what other dates begin with", t.named[fact], text)
	case err != nil:
		return 0, fmt.Errorf("%s: %w", t.named[fact], err)
	}
	if at < 0 {
		return 0, fmt.Errorf("%s %q is before the start of the log", t.named[fact], text)
	}
	if err := t.noteForm(text); err != nil {
		return 0, fmt.Errorf("%s: %w", t.named[fact], err)
	}
	if fact == FactArrival && logs.IsDate(text) {
		t.dated = true
	}
	return at, nil
}
