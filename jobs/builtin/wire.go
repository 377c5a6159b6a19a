// Paramserver is the parameter server of a training on several machines:
// it holds weights, and applies the gradients that workers push. It is also what
// workers and server say to each other.

package builtin

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"
	"time"

	"github.com/tfexp/tfexp/jobs/builtin/network"
)

// The parts of a job speak in frames over TCP, a request and its reply at a
// time: a mark, the length of a header and the number of values (4 bytes each,
// little endian), the header as JSON, the values as float64.
const (
	frameMark  = 0x74667331
	maxHeader  = 1 << 20                   // bytes
	MaxValues  = 3*network.MaxParams + 256 // weights and the optimizer's two
	frameBytes = 12
	// answerWithin bounds the time for a greeting, from a peer that may be anybody.
	answerWithin = 10 * time.Second
)

// errGarbled is returned for a frame that is not one.
var errGarbled = errors.New("what arrived is not of this program")

// Link is one end of a connection. It is used by one goroutine at a time.
type Link struct {
	net.Conn
	in    *bufio.Reader
	buf   []byte    // of the frame that is sent or received
	space []float64 // of the values that were received last
}

// NewLink returns one end of a connection.
func NewLink(c net.Conn) *Link { return &Link{Conn: c, in: bufio.NewReaderSize(c, 64<<10)} }

// Send sends a frame of a header and values, in several pieces.
func (l *Link) Send(header any, values ...[]float64) error {
	h, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("encode header: %w", err)
	}
	count := 0
	for _, v := range values {
		count += len(v)
	}
	b := l.buf[:0]
	b = binary.LittleEndian.AppendUint32(b, frameMark)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(h)))
	b = binary.LittleEndian.AppendUint32(b, uint32(count))
	b = append(b, h...)
	for _, part := range values {
		for _, v := range part {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	l.buf = b
	_, err = l.Write(b)
	return err
}

// Receive reads a frame of at most so many values. They are valid until the
// next call.
func (l *Link) Receive(header any, most int) ([]float64, error) {
	var fixed [frameBytes]byte
	if _, err := io.ReadFull(l.in, fixed[:]); err != nil {
		return nil, err
	}
	size, count := int(binary.LittleEndian.Uint32(fixed[4:])), int(binary.LittleEndian.Uint32(fixed[8:]))
	if binary.LittleEndian.Uint32(fixed[:]) != frameMark || size > maxHeader || count > most {
		return nil, errGarbled
	}
	l.buf = resized(l.buf, size)
	if _, err := io.ReadFull(l.in, l.buf); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(l.buf, header); err != nil {
		return nil, fmt.Errorf("%w: %w", errGarbled, err)
	}
	l.buf = resized(l.buf, 8*count)
	if _, err := io.ReadFull(l.in, l.buf); err != nil {
		return nil, err
	}
	l.space = resized(l.space, count)
	for i := range l.space {
		l.space[i] = math.Float64frombits(binary.LittleEndian.Uint64(l.buf[8*i:]))
	}
	return l.space, nil
}

// resized returns s with so many elements, whose content does not matter.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// Real is a number that JSON can carry even where it is not finite: the loss of
// a training that has diverged.
type Real float64

// MarshalJSON implements json.Marshaler.
func (r Real) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatFloat(float64(r), 'g', -1, 64)), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Real) UnmarshalJSON(text []byte) error {
	s, err := strconv.Unquote(string(text))
	if err != nil {
		return err
	}
	f, err := strconv.ParseFloat(s, 64)
	*r = Real(f)
	return err
}

// Request is what a worker or the chief asks of a parameter server.
type Request struct {
	Op string `json:"op"`
	// hello: who speaks, and what it is made for.
	Program string `json:"program,omitempty"` // digest of the configuration
	Role    string `json:"role,omitempty"`
	Task    int    `json:"task,omitempty"`
	Chief   bool   `json:"chief,omitempty"`
	Server  int    `json:"server,omitempty"` // the task that it believes to speak to
	Servers int    `json:"servers,omitempty"`
	// start: the state to start from; the values are weights, m and v.
	Start *Start `json:"start,omitempty"`
	// push: the ticket whose gradient the values are, the summed loss, the
	// number of images, and the generation of the weights.
	Ticket     int  `json:"ticket,omitempty"`
	Generation int  `json:"generation,omitempty"`
	Loss       Real `json:"loss,omitempty"`
	Images     int  `json:"images,omitempty"`
	// dump: hold the weights as they are until the next start.
	Hold bool `json:"hold,omitempty"`
	// change
	Batch int     `json:"batch,omitempty"`
	Rate  float64 `json:"rate,omitempty"`
	// finish: the training was stopped, not finished.
	Stopped bool `json:"stopped,omitempty"`
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

// Start is what a server needs to know to begin, beside its values.
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

// Cursor is how far a training in a cluster has come.
type Cursor struct {
	Steps, Images int      // applied
	Pass, At      int      // the next image that no ticket has
	Tickets       int      // given so far
	Given         int      // images of these
	Open          []Ticket // given, but not done
	Loss          Real     // of the present epoch
	EpochImages   int
}

// Ticket is a batch to compute: the images Lo to Hi of a pass.
type Ticket struct{ N, Pass, Lo, Hi int }

// epochEnd is an epoch that has ended after so many steps. Epoch is 0 for what
// is left over at the end.
type epochEnd struct {
	Epoch, Steps, Images int
	Loss                 Real
}

// Reply is the answer of a parameter server.
type Reply struct {
	Error string `json:"error,omitempty"`
	// Ready is false before the start.
	Ready      bool       `json:"ready"`
	Generation int        `json:"generation,omitempty"`
	Steps      int        `json:"steps,omitempty"`
	Epochs     int        `json:"epochs,omitempty"` // ended, and not yet asked for
	Finished   bool       `json:"finished,omitempty"`
	Stopped    bool       `json:"stopped,omitempty"`
	Ticket     *Ticket    `json:"ticket,omitempty"`
	Blocks     []int      `json:"blocks,omitempty"` // where the generation is another
	Ends       []epochEnd `json:"ends,omitempty"`
	Cursor     *Cursor    `json:"cursor,omitempty"`
}
