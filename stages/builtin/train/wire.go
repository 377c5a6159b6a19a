// Paramserver is the parameter server of a training on several machines: it
// holds weights, and applies the gradients that workers push. It also has the
// messages between workers and server.

package train

import (
	"bufio"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/tfexp/tfexp/stages/builtin/train/network"
)

// The parts of a job speak over TCP, a request and its reply at a time: a header and the bytes of values, in the form of
// encoding/gob.
const (
	MaxValues = 3*network.MaxParams + 256 // weights and the optimizer's two
	// answerWithin bounds the time for a greeting, from a peer that may be anybody.
	answerWithin = 10 * time.Second
)

// errGarbled is returned for a message that is not one.
var errGarbled = errors.New("the message does not come from this program")

// Link is one end of a connection. It is used by one goroutine at a time.
type Link struct {
	net.Conn
	out   *bufio.Writer
	enc   *gob.Encoder // into out
	dec   *gob.Decoder
	buf   []byte    // of the values that are sent or received
	space []float64 // the values that were received last
}

// NewLink returns one end of a connection.
func NewLink(c net.Conn) *Link {
	out := bufio.NewWriter(c)
	return &Link{Conn: c, out: out, enc: gob.NewEncoder(out), dec: gob.NewDecoder(c)}
}

// Send sends a header and values, in several pieces.
func (l *Link) Send(header any, values ...[]float64) (err error) {
	l.buf = l.buf[:0]
	for _, part := range values {
		if l.buf, err = binary.Append(l.buf, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return errors.Join(l.enc.Encode(header), l.enc.Encode(l.buf), l.out.Flush())
}

// Receive receives a header and at most the given number of values. They are valid until the next call.
func (l *Link) Receive(header any, most int) ([]float64, error) {
	err := l.dec.Decode(header)
	if err == nil {
		err = l.dec.Decode(&l.buf)
	}
	var broken net.Error
	switch {
	case err == nil && len(l.buf) > 8*most:
		return nil, errGarbled
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &broken):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errGarbled, err)
	}
	l.space = slices.Grow(l.space[:0], len(l.buf)/8)[:len(l.buf)/8]
	_, err = binary.Decode(l.buf, binary.LittleEndian, l.space)
	return l.space, err
}

// Request is a request of a worker or the chief to a parameter server.
type Request struct {
	Op string
	// hello: the sender and its configuration.
	Program string // digest of the configuration
	Role    string
	Task    int
	Chief   bool
	Server  int // the task that it believes to speak to
	Servers int
	// start: the state to start from; the values are weights, m and v.
	Start *Start
	// push: the ticket whose gradient the values are, the summed loss, the
	// number of images, and the generation of the weights.
	Ticket     int
	Generation int
	Loss       float64
	Images     int
	// dump: hold the weights as they are until the next start.
	Hold bool
	// change
	Batch int
	Rate  float64
	// finish: the training was stopped, not finished.
	Stopped bool
}

// The operations.
const (
	OpHello  = "hello"  // first on each connection
	OpStart  = "start"  // the chief gives the weights
	OpPull   = "pull"   // a worker asks for the weights and, of server 0, for a ticket
	OpPush   = "push"   // the same, with a gradient
	OpEpochs = "epochs" // the chief asks for the epochs that have ended
	OpDump   = "dump"   // the chief asks for everything
	OpChange = "change" // the chief changes settings
	OpFinish = "finish" // the chief ends the training
)

// Start is the message that a server needs to begin, in addition to its values.
type Start struct {
	Generation int     // of the weights: another where their number has changed
	Rate       float64 // learning rate at the start of the first epoch after RateEpoch
	RateEpoch  int
	Spans      []Span // of this server's parameters
	Blocks     []int
	Cursor     Cursor
	Goal       Goal
	Batch      int
}

// Span is a range of parameters that were added at the same step.
type Span struct{ Lo, Hi, Born int }

// Goal is the end of the training: steps or images.
type Goal struct{ Steps, Images int }

// Cursor is the progress of a training in a cluster.
type Cursor struct {
	Steps, Images int      // applied
	Pass, At      int      // the next image that no ticket has
	Tickets       int      // given so far
	Given         int      // images of these
	Open          []Ticket // given, but not done
	Loss          float64  // of the present epoch
	EpochImages   int
}

// Ticket is a batch to compute: the images Lo to Hi of a pass.
type Ticket struct{ N, Pass, Lo, Hi int }

// epochEnd is the end of an epoch, and the number of steps until then. Epoch is
// 0 for the incomplete epoch at the end.
type epochEnd struct {
	Epoch, Steps, Images int
	Loss                 float64
}

// Reply is the answer of a parameter server.
type Reply struct {
	Error string
	// Ready is false before the start.
	Ready      bool
	Generation int
	Steps      int
	Epochs     int // ended, and not yet asked for
	Finished   bool
	Stopped    bool
	Ticket     *Ticket
	Blocks     []int // where the generation is another
	Ends       []epochEnd
	Cursor     *Cursor
}
