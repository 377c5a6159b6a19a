// The messages between workers and the parameter servers of a training in several processes. A server holds weights,
// and applies the gradients that workers send.

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

// The processes of a job communicate by TCP. Each request is followed by its reply: a header and the bytes of values,
// encoded by encoding/gob.
const (
	MaxValues = 3*network.MaxParams + 256 // the weights, and two values of the optimizer for each weight
	// answerWithin bounds the time of the first message, since any program could have connected.
	answerWithin = 10 * time.Second
)

// errGarbled is returned for data that are no message of this protocol.
var errGarbled = errors.New("the message does not come from this program")

// Link is one end of a connection. Only one goroutine at a time may use it.
type Link struct {
	net.Conn
	out   *bufio.Writer
	enc   *gob.Encoder // writes into out
	dec   *gob.Decoder
	buf   []byte    // bytes of the values being sent or received
	space []float64 // values that were received last
}

// NewLink returns one end of a connection.
func NewLink(c net.Conn) *Link {
	out := bufio.NewWriter(c)
	return &Link{Conn: c, out: out, enc: gob.NewEncoder(out), dec: gob.NewDecoder(c)}
}

// Send sends a header, and values in one or several slices.
func (l *Link) Send(header any, values ...[]float64) (err error) {
	l.buf = l.buf[:0]
	for _, part := range values {
		if l.buf, err = binary.Append(l.buf, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return errors.Join(l.enc.Encode(header), l.enc.Encode(l.buf), l.out.Flush())
}

// Receive receives a header and at most `most` values. The values are valid until the next call.
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
	// For hello: the sender, its configuration, and the server to which it connects.
	Program string // digest of the configuration
	Role    string
	Task    int
	Chief   bool
	Server  int // number of the server to which the sender wants to connect
	Servers int
	// For start: the initial state. The values are weights, m and v.
	Start *Start
	// For push: the ticket of the gradient, the sum of the losses, the number of images, and the generation of the
	// weights. The values are the gradient.
	Ticket     int
	Generation int
	Loss       float64
	Images     int
	// For dump: whether the weights must not change until the next start.
	Hold bool
	// For change: the new settings.
	Batch int
	Rate  float64
	// For finish: whether the training was stopped before its goal.
	Stopped bool
}

// The operations of requests.
const (
	OpHello  = "hello"  // first message of each connection
	OpStart  = "start"  // the chief sends the weights
	OpPull   = "pull"   // a worker requests the weights and, from server 0, a ticket
	OpPush   = "push"   // a worker sends a gradient, and requests the same as by OpPull
	OpEpochs = "epochs" // the chief requests the epochs that have ended
	OpDump   = "dump"   // the chief requests the whole state
	OpChange = "change" // the chief changes settings
	OpFinish = "finish" // the chief ends the training
)

// Start is the state from which a server begins, in addition to the values.
type Start struct {
	Generation int     // number of the weights' layout; it grows when layers are added
	Rate       float64 // learning rate at the start of the first epoch after RateEpoch
	RateEpoch  int
	Spans      []Span // ranges of this server's parameters
	Blocks     []int
	Cursor     Cursor
	Goal       Goal
	Batch      int
}

// Span is a range of parameters, from Lo to below Hi. They were added at step Born.
type Span struct{ Lo, Hi, Born int }

// Goal is the end of the training: steps or images.
type Goal struct{ Steps, Images int }

// Cursor is the progress of a training in a cluster.
type Cursor struct {
	Steps, Images int      // applied so far
	Pass, At      int      // the next image that is in no ticket
	Tickets       int      // tickets given so far
	Given         int      // images in the given tickets
	Open          []Ticket // given, but not applied
	Loss          float64  // sum of the present epoch's losses
	EpochImages   int
}

// Ticket is a batch to compute: the images Lo to below Hi of a pass. N is its number.
type Ticket struct{ N, Pass, Lo, Hi int }

// epochEnd describes an epoch that has ended. Steps is the number of steps until its end. Epoch is 0 for the incomplete
// last epoch.
type epochEnd struct {
	Epoch, Steps, Images int
	Loss                 float64
}

// Reply is the answer of a parameter server.
type Reply struct {
	Error string
	// Ready reports whether the server has been started.
	Ready      bool
	Generation int
	Steps      int
	Epochs     int // epochs that have ended and were not requested yet
	Finished   bool
	Stopped    bool
	Ticket     *Ticket
	Blocks     []int // the network's blocks, if the worker has an older generation
	Ends       []epochEnd
	Cursor     *Cursor
}
