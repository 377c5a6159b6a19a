package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/stages/builtin/train/network"
)

// The times for which a parameter server waits for others. After these it ends, so that it does not run forever without
// its cluster.
const (
	chiefComesWithin  = 10 * time.Minute // after the start of the server
	ChiefReturnsAfter = 10 * time.Second // after the chief's connection is lost
	workersLeaveAfter = 3 * time.Second  // after the training has ended
	chiefSavesWithin  = 5 * time.Second  // after the server received SIGTERM
	portFreeWithin    = 5 * time.Second  // for a port that an earlier attempt may still use
	lookEvery         = 50 * time.Millisecond
)

// ErrStopped is returned by Serve when the training was stopped before its goal.
var ErrStopped = errors.New("the training was stopped")

// Config is the configuration of a parameter server before the chief connects.
type Config struct {
	Program  string // digest of the configuration
	Part     contract.Part
	PerPass  int // images in a pass over the data
	PerEpoch int // images in an epoch
	Adam     bool
	Decay    float64 // factor on the learning rate after each epoch
}

// server is a parameter server. It holds a range of the weights, and the optimizer's state for them. It applies the
// gradients of workers one after the other, in the order of their arrival. Server 0 also gives tickets to workers. A
// ticket is a batch that is applied exactly once, even if its worker is lost.
type server struct {
	Config

	mu    sync.Mutex // guards the fields below
	ready bool       // the chief has sent the weights
	held  bool       // the chief will send other weights
	start Start
	w     []float64
	opt   *network.Optimizer
	c     Cursor
	back  []Ticket        // returned tickets, to be given to other workers
	open  map[int]holding // by number of the ticket
	done  map[int]bool    // applied tickets by number, at least the last ones
	ends  []epochEnd
	last  bool // the goal is reached

	peers     map[*peer]bool
	seen      map[string]bool // workers that have connected, by role and task
	chief     *peer
	chiefSeen time.Time // when the chief was last connected, or when the server began
	everChief bool
	over      time.Time // time at which the chief ended the training
	stopped   bool      // the training ended before it was finished
}

// holding is a ticket that a worker computes.
type holding struct {
	ticket Ticket
	peer   *peer
}

// peer is the worker or chief at the other end of a connection.
type peer struct {
	*Link
	role   string
	task   int
	ticket int // number of the ticket that it computes, from 1; 0: none
}

func newServer(c Config) *server {
	return &server{
		Config: c, open: map[int]holding{}, done: map[int]bool{},
		peers: map[*peer]bool{}, seen: map[string]bool{}, chiefSeen: time.Now(),
	}
}

// Serve runs a parameter server until the training ends. When ctx is done, the chief has some time to save the weights.
// Serve writes its address to log, and calls warn about refused connections.
func Serve(ctx context.Context, c Config, log io.Writer, warn func(format string, args ...any)) error {
	s := newServer(c)
	ln, err := listen(ctx, c.Part.Address())
	if err != nil {
		return fmt.Errorf("parameter server %d: %w", c.Part.Task, err)
	}
	fmt.Fprintf(log, "tfexp train: parameter server %d listens on %s\n", c.Part.Task, ln.Addr())
	defer s.close()
	defer ln.Close()
	go s.accept(ln, warn)
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	asked := time.Time{}
	for {
		if ended, err := s.ended(time.Now(), asked); ended {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			if ctx = context.Background(); asked.IsZero() {
				asked = time.Now()
			}
		}
	}
}

// accept starts a goroutine for each connection, until ln is closed.
func (s *server) accept(ln net.Listener, warn func(string, ...any)) {
	for {
		c, err := ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(lookEvery) // there may be too many open files: wait until other connections end
			continue
		}
		go s.serve(c, warn)
	}
}

// listen listens on an address. It tries again while an earlier attempt still uses the port.
func listen(ctx context.Context, address string) (net.Listener, error) {
	for until := time.Now().Add(portFreeWithin); ; {
		ln, err := net.Listen("tcp", address)
		if err == nil || time.Now().After(until) || ctx.Err() != nil {
			return ln, err
		}
		time.Sleep(lookEvery)
	}
}

// ended reports whether the server must end, and the error with which its process ends. asked is the time at which it
// received SIGTERM; zero if it did not.
func (s *server) ended(now, asked time.Time) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.over.IsZero():
		// Wait until all workers have learned that the training has ended, also those that have not connected yet.
		if (len(s.peers) > 0 || len(s.seen) < s.workers()) && now.Sub(s.over) < workersLeaveAfter {
			return false, nil
		}
		if s.stopped {
			return true, ErrStopped
		}
		return true, nil
	case !asked.IsZero():
		// The chief received SIGTERM at the same time, and needs the weights for its checkpoint.
		return s.chief == nil || now.Sub(asked) > chiefSavesWithin, ErrStopped
	case s.chief != nil:
		return false, nil
	case !s.everChief:
		return now.Sub(s.chiefSeen) > chiefComesWithin, fmt.Errorf("no chief connected within %v", chiefComesWithin)
	}
	return now.Sub(s.chiefSeen) > ChiefReturnsAfter,
		fmt.Errorf("the connection to the chief was lost, and it did not connect again within %v", ChiefReturnsAfter)
}

// workers returns the number of workers, with the chief.
func (s *server) workers() int {
	return len(s.Part.Cluster[contract.RoleWorker]) + len(s.Part.Cluster[contract.RoleChief])
}

// close closes all connections.
func (s *server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.peers {
		p.Close()
	}
}

// serve answers the requests of one connection. It closes connections from other programs.
func (s *server) serve(c net.Conn, warn func(string, ...any)) {
	p := &peer{Link: NewLink(c)}
	defer c.Close()
	c.SetDeadline(time.Now().Add(answerWithin))
	var hello Request
	if _, err := p.Receive(&hello, 0); err != nil {
		warn("parameter server %d: a connection from %s is refused: %v", s.Part.Task, c.RemoteAddr(), err)
		return
	}
	greeting := s.greet(p, hello)
	defer s.leave(p)
	if err := p.Send(greeting); err != nil || greeting.Error != "" {
		return
	}
	c.SetDeadline(time.Time{})
	for {
		var q Request
		values, err := p.Receive(&q, s.most(p))
		if errors.Is(err, errGarbled) {
			warn("parameter server %d: %s %d: the connection is closed: %v", s.Part.Task, p.role, p.task, err)
		}
		if err != nil {
			return
		}
		a, parts := s.answer(p, q, values)
		if p.Send(a, parts...) != nil || a.Error != "" {
			return
		}
	}
}

// most returns the greatest number of values in a request of p.
func (s *server) most(p *peer) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p == s.chief {
		return MaxValues
	}
	return len(s.w)
}

// greet accepts a connection if it comes from a worker or the chief of the job.
func (s *server) greet(p *peer, q Request) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	servers := len(s.Part.Cluster[contract.RoleServer])
	switch {
	case q.Op != OpHello || q.Role != contract.RoleWorker && q.Role != contract.RoleChief || q.Task < 0:
		return Reply{Error: "the connection does not come from a worker or chief of this job"}
	case q.Program != s.Program:
		return Reply{Error: "all parts of a job must have the same settings: start all with the same arguments"}
	case q.Server != s.Part.Task || q.Servers != servers:
		return Reply{Error: fmt.Sprintf("this connection must go to parameter server %d of %d, but this is server %d of %d: "+
			"start all parts with the same cluster", q.Server, q.Servers, s.Part.Task, servers)}
	case q.Chief && s.chief != nil:
		return Reply{Error: "a job must have one chief: another chief is already connected"}
	}
	p.role, p.task = q.Role, q.Task
	s.peers[p] = true
	if q.Task < len(s.Part.Cluster[q.Role]) {
		s.seen[fmt.Sprint(q.Role, q.Task)] = true
	}
	if q.Chief {
		s.chief, s.everChief = p, true
	}
	return Reply{Ready: s.ready}
}

// leave is called when a connection has ended. Other workers get the peer's ticket.
func (s *server) leave(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.peers, p)
	s.giveBack(p)
	if s.chief == p {
		s.chief, s.chiefSeen = nil, time.Now()
	}
}

func (s *server) giveBack(p *peer) {
	if h, ok := s.open[p.ticket]; ok && h.peer == p {
		delete(s.open, p.ticket)
		s.back = append(s.back, h.ticket)
	}
	p.ticket = 0
}

// answer carries out a request. The values that it returns are copies, or do not change until they were sent.
func (s *server) answer(p *peer, q Request, values []float64) (Reply, [][]float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	forChief := q.Op != OpPull && q.Op != OpPush
	switch {
	case forChief && p != s.chief:
		return Reply{Error: "only the chief may send this request"}, nil
	case q.Op == OpStart:
		return s.begin(q.Start, values), nil
	case q.Op == OpFinish:
		s.over, s.stopped = time.Now(), q.Stopped
		return s.status(), nil
	case !s.ready:
		return s.status(), nil
	}
	switch q.Op {
	case OpPush:
		if q.Generation == s.start.Generation && !s.held {
			if len(values) != len(s.w) || q.Images < 1 || q.Images > s.PerPass {
				return Reply{Error: "the gradient and the weights differ in size: start all parts with the same " +
					"arguments"}, nil
			}
			s.push(p, q, values)
		}
		fallthrough
	case OpPull:
		return s.give(p, q.Generation)
	case OpEpochs:
		a := s.status()
		a.Ends, s.ends = s.ends, nil
		if s.last && s.c.EpochImages > 0 {
			a.Ends = append(a.Ends, epochEnd{Steps: s.c.Steps, Images: s.c.EpochImages, Loss: s.c.Loss})
		}
		return a, nil
	case OpDump:
		return s.dump(q.Hold)
	case OpChange:
		if q.Batch > 0 {
			s.start.Batch = min(q.Batch, s.PerPass)
		}
		if q.Rate > 0 {
			s.start.Rate, s.start.RateEpoch = q.Rate, s.c.Images/s.PerEpoch
		}
		a := s.status()
		a.Cursor = &Cursor{Images: s.c.Images}
		return a, nil
	}
	return Reply{Error: fmt.Sprintf("there is no operation %q", q.Op)}, nil
}

// status returns a reply with the present state.
func (s *server) status() Reply {
	return Reply{
		Ready: s.ready && !s.held, Generation: s.start.Generation, Steps: s.c.Steps, Epochs: len(s.ends),
		Finished: s.last || !s.over.IsZero() && !s.stopped, Stopped: s.stopped,
	}
}

// begin takes the weights that the chief sends at the start, or after a dump that holds. If the chief connects again,
// the training continues with its present weights.
func (s *server) begin(from *Start, values []float64) Reply {
	if s.ready && !s.held {
		return s.status()
	}
	parts := 2
	if s.Adam {
		parts = 3
	}
	if from == nil || len(values)%parts != 0 || from.Batch < 1 || from.Rate <= 0 ||
		!covers(from.Spans, len(values)/parts) || !from.Cursor.sane(s.PerPass) {
		return Reply{Error: "the initial weights are malformed"}
	}
	n := len(values) / parts
	s.start, s.c = *from, from.Cursor
	s.w = slices.Clone(values[:n])
	s.opt = &network.Optimizer{Adam: parts == 3, M: slices.Clone(values[n : 2*n])}
	if parts == 3 {
		s.opt.V = slices.Clone(values[2*n:])
	}
	s.back, s.c.Open = slices.Clone(from.Cursor.Open), nil
	clear(s.open)
	s.ready, s.held = true, false
	s.last = s.reached()
	return s.status()
}

// covers reports whether the spans, in order, cover all n parameters.
func covers(spans []Span, n int) bool {
	at := 0
	for _, b := range spans {
		if b.Lo != at || b.Hi < b.Lo {
			return false
		}
		at = b.Hi
	}
	return at == n
}

func (c Cursor) sane(perPass int) bool {
	return c.Steps >= 0 && c.Images >= 0 && c.Pass >= 0 && c.At >= 0 && c.At < perPass &&
		c.Tickets >= c.Steps && c.Given >= c.Images &&
		!slices.ContainsFunc(c.Open, func(t Ticket) bool { return t.Lo < 0 || t.Hi <= t.Lo || t.Hi > perPass })
}

// push applies a gradient, unless its ticket was applied already.
func (s *server) push(p *peer, q Request, g []float64) {
	if p.ticket == q.Ticket {
		p.ticket = 0
	}
	if s.done[q.Ticket] || s.last {
		return
	}
	if s.Part.Task == 0 {
		if _, ok := s.open[q.Ticket]; !ok {
			return
		}
		delete(s.open, q.Ticket)
	}
	s.done[q.Ticket] = true
	if len(s.done) > 1<<16 { // many more than can be open at the same time
		for n := range s.done {
			if n < q.Ticket-1<<15 {
				delete(s.done, n)
			}
		}
	}
	s.opt.Rate = s.start.Rate
	if s.Decay != 1 {
		s.opt.Rate *= math.Pow(s.Decay, float64(s.c.Images/s.PerEpoch-s.start.RateEpoch))
	}
	s.c.Steps++
	for _, b := range s.start.Spans {
		s.opt.Update(s.w, g, b.Lo, b.Hi, s.c.Steps-b.Born, 1, 0)
	}
	s.count(q.Images, q.Loss)
}

// count adds an applied batch to the present epoch, and ends the epoch if it was the last one.
func (s *server) count(images int, loss float64) {
	before := s.c.Images / s.PerEpoch
	s.c.Images += images
	s.c.EpochImages += images
	s.c.Loss += loss
	if epoch := s.c.Images / s.PerEpoch; epoch > before {
		if s.Part.Task == 0 {
			s.ends = append(s.ends, epochEnd{Epoch: epoch, Steps: s.c.Steps, Images: s.c.EpochImages, Loss: s.c.Loss})
		}
		s.c.EpochImages, s.c.Loss = 0, 0
	}
	s.last = s.reached()
}

// reached reports whether the goal is reached. Only server 0 counts, for all servers.
func (s *server) reached() bool {
	g := s.start.Goal
	return s.Part.Task == 0 && (g.Steps > 0 && s.c.Steps >= g.Steps || g.Images > 0 && s.c.Images >= g.Images)
}

// give returns the weights to a worker. Server 0 also returns a ticket.
func (s *server) give(p *peer, generation int) (Reply, [][]float64) {
	a := s.status()
	if !a.Ready || a.Finished || a.Stopped {
		return a, nil
	}
	if s.Part.Task == 0 {
		a.Ticket = s.next(p)
		if generation != a.Generation {
			a.Blocks = s.start.Blocks
		}
	}
	return a, [][]float64{slices.Clone(s.w)}
}

// next returns the next ticket for p: the ticket that p already has, else a returned one, else a new one. If all
// tickets are given, it returns the ticket of another worker, which may be slow or blocked.
func (s *server) next(p *peer) *Ticket {
	if h, ok := s.open[p.ticket]; ok && h.peer == p {
		return &h.ticket
	}
	t, ok := Ticket{}, true
	switch {
	case len(s.back) > 0:
		t, s.back = s.back[0], s.back[1:]
	case s.start.Goal.Steps > 0 && s.c.Tickets >= s.start.Goal.Steps,
		s.start.Goal.Images > 0 && s.c.Given >= s.start.Goal.Images:
		t, ok = s.oldest(p)
	default:
		t = s.draw()
	}
	if !ok {
		return nil
	}
	p.ticket = t.N
	s.open[t.N] = holding{t, p}
	return &t
}

// draw returns a new ticket.
func (s *server) draw() Ticket {
	s.c.Tickets++
	t := Ticket{N: s.c.Tickets, Pass: s.c.Pass, Lo: s.c.At, Hi: min(s.c.At+s.start.Batch, s.PerPass)}
	s.c.Given += t.Hi - t.Lo
	if s.c.At = t.Hi; t.Hi == s.PerPass {
		s.c.Pass, s.c.At = s.c.Pass+1, 0
	}
	return t
}

// oldest returns the open ticket with the lowest number that p does not compute.
func (s *server) oldest(p *peer) (Ticket, bool) {
	var best Ticket
	for n, h := range s.open {
		if h.peer != p && (best.N == 0 || n < best.N) {
			best = h.ticket
		}
	}
	return best, best.N > 0
}

// dump returns the state for a checkpoint. If hold is set, the weights do not change until the next start, and
// gradients of the old weights are refused.
func (s *server) dump(hold bool) (Reply, [][]float64) {
	a := s.status()
	c := s.c
	c.Open = slices.Clone(s.back)
	for _, h := range s.open {
		c.Open = append(c.Open, h.ticket)
	}
	slices.SortFunc(c.Open, func(a, b Ticket) int { return a.N - b.N })
	a.Cursor = &c
	if hold {
		s.held = true
	}
	return a, [][]float64{slices.Clone(s.w), slices.Clone(s.opt.M), slices.Clone(s.opt.V)}
}
