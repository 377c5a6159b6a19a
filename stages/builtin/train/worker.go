package train

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/jobs/program"
)

const (
	// connectWithin is the time for which a worker tries to connect to the parameter servers.
	connectWithin = time.Minute
	// stopWithin is the time for which a worker that must end waits for a reply.
	stopWithin = 5 * time.Second
	// pollEvery is the time between two requests of an idle worker.
	pollEvery = 2 * time.Millisecond
)

// cluster is a worker's connection to the parameter servers. The chief uses it as the training on which requests act.
type cluster struct {
	run        *run
	tr         *trainer
	links      []*Link
	generation int
}

// pushed is a gradient, with the ticket from which it was computed.
type pushed struct {
	ticket     Ticket
	generation int
	loss       float64
	gradient   []float64
}

// work runs a worker or the chief until the training ends.
func (r *run) work(ctx context.Context) error {
	chief := program.IsChief(r.env.Part)
	c := &cluster{run: r, tr: newTrainer(r.config, &r.team)}
	defer c.close()
	if chief {
		r.resume(c.tr)
	}
	if err := c.connect(ctx); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() {
		for _, l := range c.links {
			l.SetDeadline(time.Now().Add(stopWithin))
		}
	})()
	if !chief {
		return c.follow(ctx)
	}
	if err := c.start(); err != nil {
		return err
	}
	return c.lead(ctx)
}

// connect connects to every parameter server; servers may start later than the worker.
func (c *cluster) connect(ctx context.Context) error {
	part := c.run.env.Part
	addresses := part.Cluster[contract.RoleServer]
	until := time.Now().Add(connectWithin)
	for i, address := range addresses {
		conn, err := dial(ctx, address, until)
		if ctx.Err() != nil {
			return errStopped
		}
		if err != nil {
			return fmt.Errorf("parameter server %d (%s) cannot be reached: %w", i, address, err)
		}
		l := NewLink(conn)
		c.links = append(c.links, l)
		_, _, err = c.ask(i, Request{
			Op: OpHello, Program: c.run.digest(), Role: part.Role, Task: part.Task, Chief: program.IsChief(part),
			Server: i, Servers: len(addresses),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dial connects to an address. It tries again until a time.
func dial(ctx context.Context, address string, until time.Time) (net.Conn, error) {
	d := net.Dialer{Deadline: until}
	for {
		conn, err := d.DialContext(ctx, "tcp", address)
		if err == nil || time.Now().After(until) || ctx.Err() != nil {
			return conn, err
		}
		select {
		case <-time.After(5 * beat):
		case <-ctx.Done():
		}
	}
}

func (c *cluster) close() {
	for _, l := range c.links {
		l.Close()
	}
}

// ask sends a request to server i and returns its answer.
func (c *cluster) ask(i int, q Request, values ...[]float64) (Reply, []float64, error) {
	var a Reply
	var got []float64
	err := c.links[i].Send(q, values...)
	if err == nil {
		got, err = c.links[i].Receive(&a, MaxValues)
	}
	address := c.run.env.Part.Cluster[contract.RoleServer][i]
	switch {
	case err != nil:
		return a, nil, fmt.Errorf("parameter server %d (%s) is lost: %w", i, address, err)
	case a.Error != "":
		return a, nil, fmt.Errorf("parameter server %d (%s) refuses: %s", i, address, a.Error)
	}
	return a, got, nil
}

// each sends a request to all servers at the same time. It returns the replies and the values by server.
func (c *cluster) each(ask func(i int) (Request, [][]float64)) ([]Reply, [][]float64, error) {
	answers, values, errs := make([]Reply, len(c.links)), make([][]float64, len(c.links)), make([]error,
		len(c.links))
	one := func(i int) {
		q, v := ask(i)
		answers[i], values[i], errs[i] = c.ask(i, q, v...)
	}
	var others sync.WaitGroup
	for i := 1; i < len(c.links); i++ {
		others.Go(func() { one(i) })
	}
	one(0)
	others.Wait()
	return answers, values, errors.Join(errs...)
}

// part returns the range of n parameters that server i holds, from lo to below hi.
func (c *cluster) part(i, n int) (lo, hi int) {
	return i * n / len(c.links), (i + 1) * n / len(c.links)
}

// exchange sends a gradient and receives the present weights. It sends none if p is nil or was computed from another
// generation of weights. If a server is not ready, or has learned before server 0 that the training has ended, the
// reply says this, and the weights do not change.
func (c *cluster) exchange(p *pushed) (Reply, error) {
	n := len(c.tr.state.Weights)
	answers, values, err := c.each(func(i int) (Request, [][]float64) {
		q := Request{Op: OpPull, Generation: c.generation}
		if p == nil || p.generation != c.generation {
			return q, nil
		}
		lo, hi := c.part(i, n)
		q.Op, q.Ticket, q.Loss, q.Images = OpPush, p.ticket.N, p.loss, p.ticket.Hi-p.ticket.Lo
		return q, [][]float64{p.gradient[lo:hi]}
	})
	if err != nil {
		return Reply{}, err
	}
	a := answers[0]
	if a.Finished || a.Stopped {
		return a, nil
	}
	total := 0
	for i, b := range answers {
		a.Ready = a.Ready && b.Ready && !b.Finished && !b.Stopped && b.Generation == a.Generation
		total += len(values[i])
	}
	if !a.Ready {
		return a, nil
	}
	if a.Generation != c.generation {
		c.adopt(a)
	}
	if total != len(c.tr.state.Weights) {
		return a, fmt.Errorf("the parameter servers have %d weights, but this network has %d: start all parts "+
			"with the same arguments", total, len(c.tr.state.Weights))
	}
	w := c.tr.state.Weights[:0]
	for _, v := range values {
		w = append(w, v...)
	}
	c.tr.state.Steps = a.Steps
	return a, nil
}

// adopt replaces the network by the network of a newer generation.
func (c *cluster) adopt(a Reply) {
	c.generation = a.Generation
	if !slices.Equal(a.Blocks, c.tr.config.blocks) {
		c.tr.reshape(a.Blocks)
	}
}

// compute computes the gradient of a ticket.
func (c *cluster) compute(t Ticket) *pushed {
	if t.Hi-t.Lo > c.tr.config.batch {
		c.tr.resize(t.Hi - t.Lo)
	}
	c.tr.compute(t.Pass, t.Lo, t.Hi)
	return &pushed{ticket: t, generation: c.generation, loss: c.tr.loss(), gradient: c.tr.meanGradient()}
}

// follow trains as a worker other than the chief, until the chief ends the training.
func (c *cluster) follow(ctx context.Context) error {
	var p *pushed
	for ctx.Err() == nil {
		c.run.read()
		a, err := c.exchange(p)
		p = nil
		switch {
		case err != nil && ctx.Err() != nil:
			return errStopped
		case err != nil:
			return err
		case a.Stopped:
			fmt.Fprintf(c.run.stderr, "tfexp train: the chief stopped the training after step %d\n", a.Steps)
			return errStopped
		case a.Finished:
			return nil
		case !a.Ready || a.Ticket == nil:
			time.Sleep(pollEvery)
		default:
			p = c.compute(*a.Ticket)
		}
	}
	return errStopped
}
