package commands

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/flags"
	"github.com/tfexp/tfexp/cmd/tfexp/live"
	"github.com/tfexp/tfexp/stages/batch/forecast"
)

// startsPage is a page with the forecasts of a controller's waiting jobs. They are computed while somebody looks, at most
// once a minute.
type startsPage struct {
	ctx     context.Context
	compute func(context.Context) (string, error)

	mu   sync.Mutex // guards the fields below
	text string
	at   time.Time // when the last computation began
	busy bool
}

// newPage makes the page of a twin.
func newPage(ctx context.Context, a *command.App, file string) (*startsPage, error) {
	o := whenOptions{live: true, Options: forecast.Options{Futures: 200, Trials: 60, Seed: 1}}
	checked := o
	if _, err := readTwin(a, file, &checked); err != nil {
		return nil, err
	}
	return &startsPage{ctx: ctx, compute: func(ctx context.Context) (string, error) {
		var out bytes.Buffer
		page, fresh := *a, o
		page.Out, page.Err, page.OutColor = &out, &out, false
		t, err := readTwin(&page, file, &fresh) // a twin's instants never decrease: each forecast has its own
		if err == nil {
			err = printForecast(ctx, &page, t, nil, &fresh)
		}
		return out.String(), err
	}}, nil
}

// ServeHTTP implements http.Handler.
func (p *startsPage) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.busy && time.Since(p.at) > time.Minute {
		p.busy, p.at = true, time.Now()
		go p.update()
	}
	text := p.text
	if text == "" {
		text = "The first forecasts are being computed."
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Refresh", "15")
	fmt.Fprintf(w, "<!doctype html><html lang=en><meta charset=utf-8><title>When waiting jobs start</title>"+
		"<h1>When waiting jobs start</h1><pre>%s</pre></html>\n", html.EscapeString(text))
}

func (p *startsPage) update() {
	text, err := p.compute(p.ctx)
	if err != nil {
		text += err.Error()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text, p.busy = text, false
}

// expected returns the start that was predicted for a job of a log at the job's arrival.
func expected(a *command.App, file, job string) (m flags.Moment, err error) {
	o := whenOptions{Options: forecast.Options{Futures: 200, Trials: 60, Seed: 1}}
	t, err := readTwin(a, file, &o)
	if err != nil {
		return m, err
	}
	at, ok := t.Arrival(job)
	if !ok {
		return m, command.Usagef("", "the log of %s has no job %q", file, job)
	}
	q := t.QueueAt(at)
	i := slices.IndexFunc(q.Jobs, func(j forecast.Queued) bool { return j.Name == job && j.Waits() })
	if m.At = at.Seconds(); i < 0 {
		m.What = "started in the log as soon as it arrived"
		return m, nil
	}
	list, past, err := t.Predict(context.Background(), q, []int{i}, o.Options)
	if err != nil {
		return m, err
	}
	wait := func(s float64) string {
		if math.IsInf(s, 1) {
			return "more than " + live.Duration(o.Horizon)
		}
		return live.Duration(time.Duration(s * 1e9).Round(time.Second))
	}
	s := list[0].Seconds
	m.What = "was expected to start in " + wait(s[2])
	m.Why = fmt.Sprintf("90%% of %d futures: %s to %s", o.Futures, wait(s[0]), wait(s[4]))
	if past == nil {
		m.Why += ", not calibrated"
	}
	return m, nil
}
