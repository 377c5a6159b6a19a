package train

import (
	"context"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
)

// start sends the state of the chief's trainer to the servers. Server 0 is started last, so that all servers are ready
// when it is.
func (c *cluster) start() error {
	s := c.tr.state
	goal := c.run.goal()
	from := Start{
		Generation: c.generation, Rate: c.tr.config.learningRate, Blocks: c.tr.config.blocks, Batch: c.tr.config.batch,
		Goal: Goal{Steps: goal.steps, Images: goal.epochs * c.tr.imagesPerEpoch()}, Cursor: c.tr.cursor(),
	}
	if s.Rate > 0 {
		from.Rate, from.RateEpoch = s.Rate, s.RateEpoch
	}
	n := len(s.Weights)
	for i := len(c.links) - 1; i >= 0; i-- {
		lo, hi := c.part(i, n)
		from.Spans = c.tr.bornSpans(lo, hi)
		values := [][]float64{s.Weights[lo:hi], s.M[lo:hi]}
		if s.V != nil {
			values = append(values, s.V[lo:hi])
		}
		if _, _, err := c.ask(i, Request{Op: OpStart, Start: &from}, values...); err != nil {
			return err
		}
	}
	return nil
}

// cursor returns the progress of the training: its place in the data, and its sums.
func (tr *trainer) cursor() Cursor {
	s, perPass := tr.state, tr.train.Len()
	c := Cursor{
		Steps: s.Steps, Pass: s.Pass, At: s.At, Given: s.Pass*perPass + s.At, Open: s.Tickets,
		Loss: s.Loss, EpochImages: s.Images, Tickets: s.Steps + len(s.Tickets),
	}
	c.Images = c.Given
	for _, t := range s.Tickets {
		c.Images -= t.Hi - t.Lo
	}
	return c
}

// bornSpans divides the parameters lo to hi into ranges that were added to the network at the same step.
func (tr *trainer) bornSpans(lo, hi int) []Span {
	spans := []Span{}
	for _, c := range tr.chunks {
		from, to := max(c.lo, lo)-lo, min(c.hi, hi)-lo
		if from >= to {
			continue
		}
		if n := len(spans); n > 0 && spans[n-1].Born == c.born {
			spans[n-1].Hi = to
			continue
		}
		spans = append(spans, Span{Lo: from, Hi: to, Born: c.born})
	}
	return spans
}

// snapshot implements training.
func (c *cluster) snapshot() (state, error) { return c.dump(false) }

// dump collects the state from the servers. If hold is set, the servers then wait for a start.
func (c *cluster) dump(hold bool) (state, error) {
	answers, values, err := c.each(func(int) (Request, [][]float64) {
		return Request{Op: OpDump, Hold: hold}, nil
	})
	if err != nil {
		return state{}, err
	}
	s := c.tr.state
	s.Weights, s.M, s.V = nil, nil, nil
	for _, v := range values {
		parts := 2
		if c.tr.config.optimizer == "adam" {
			parts = 3
		}
		n := len(v) / parts
		s.Weights, s.M = append(s.Weights, v[:n]...), append(s.M, v[n:2*n]...)
		if parts == 3 {
			s.V = append(s.V, v[2*n:]...)
		}
	}
	if at := answers[0].Cursor; at != nil {
		s.Steps, s.Pass, s.At, s.Tickets = at.Steps, at.Pass, at.At, at.Open
		s.Loss, s.Images = float64(at.Loss), at.EpochImages
	}
	return s, nil
}

// change implements training.
func (c *cluster) change(name string, to config) error {
	q := Request{Op: OpChange, Batch: to.batch}
	if name == "learning_rate" {
		q = Request{Op: OpChange, Rate: to.learningRate}
		if c.tr.state.Rate == to.learningRate {
			return nil
		}
	}
	answers, _, err := c.each(func(int) (Request, [][]float64) { return q, nil })
	switch {
	case err != nil:
		return err
	case name == "batch":
		c.tr.resize(to.batch)
	case answers[0].Cursor != nil:
		c.tr.restartRate(to.learningRate, answers[0].Cursor.Images/c.tr.imagesPerEpoch())
	}
	return nil
}

// deepen implements training. The servers stop updating the weights while the chief adds the layer, and receive the new
// weights with a start. Workers use the new network when they next receive weights.
func (c *cluster) deepen(block int) (contract.Deepened, error) {
	if l := (local{c.tr}); len(l.config.depths()) == 0 || l.config.nothing(block) || l.config.deepenable(block) != nil {
		return l.deepen(block)
	}
	s, err := c.dump(true)
	if err != nil {
		return contract.Deepened{}, err
	}
	c.tr.restore(s)
	news, refused := local{c.tr}.deepen(block)
	c.generation++
	if err := c.start(); err != nil {
		return news, err
	}
	return news, refused
}

// lead trains as the chief: it is a worker that also reports, writes checkpoints and ends the training.
func (c *cluster) lead(ctx context.Context) error {
	r := c.run
	startup := time.Since(r.begin)
	r.keep(&c.tr.state)
	r.mark = time.Now()
	var p *pushed
	for {
		if ctx.Err() != nil {
			err := r.stop(c)
			c.finish(true)
			return err
		}
		if err := r.follow(c); err != nil {
			return err
		}
		if r.budget.spent() || r.reached {
			break
		}
		a, err := c.exchange(p)
		p = nil
		if err != nil {
			return err
		}
		if a.Ready && !a.Finished && a.Ticket != nil {
			p = c.compute(*a.Ticket)
		} else if !a.Finished {
			time.Sleep(pollEvery)
		}
		r.saves.reached(a.Steps, r.trained())
		if a.Epochs > 0 || a.Finished {
			if err := c.report(); err != nil {
				return err
			}
		}
		if a.Finished {
			break
		}
		if err := r.saveIfDue(c, a.Steps); err != nil {
			return err
		}
	}
	return c.end(startup)
}

// report prints the epochs that have ended. Only the last of several epochs has an accuracy, since it is computed from
// the present weights.
func (c *cluster) report() error {
	a, _, err := c.ask(0, Request{Op: OpEpochs})
	if err != nil || len(a.Ends) == 0 {
		return err
	}
	if a.Finished { // these are the weights after the last step
		s, err := c.snapshot()
		if err != nil {
			return err
		}
		copy(c.tr.state.Weights, s.Weights)
	}
	r, s := c.run, &c.tr.state
	accuracy := c.tr.accuracy()
	if r.budget.spent() && !a.Finished {
		return nil // the evaluation belongs to the epoch that has ended
	}
	now := time.Now()
	seconds := (s.Elapsed + now.Sub(r.mark)).Seconds() / float64(len(a.Ends))
	s.Elapsed, r.mark = 0, now
	for i, e := range a.Ends {
		p := contract.Progress{Epoch: e.Epoch, Step: e.Steps}
		if i == len(a.Ends)-1 {
			p.Accuracy = &accuracy
		}
		loss := float64(e.Loss) / float64(e.Images)
		r.reached = r.reached || loss <= r.env.Target
		if err := r.report(p, loss, seconds); err != nil {
			return err
		}
	}
	r.keep(s)
	return nil
}

// end ends the training of the whole cluster.
func (c *cluster) end(startup time.Duration) error {
	r := c.run
	last, err := c.snapshot()
	if err != nil {
		return err
	}
	c.finish(false)
	if r.budget.set {
		c.tr.restore(r.finished)
		last.Weights = r.finished.Weights
		if err := r.score(c.tr); err != nil {
			return err
		}
	}
	return r.end(startup, func() (state, error) { return last, nil })
}

// finish informs the servers that the training has ended. It skips lost
// servers.
func (c *cluster) finish(stopped bool) {
	c.each(func(int) (Request, [][]float64) {
		return Request{Op: OpFinish, Stopped: stopped}, nil
	})
}
