package train

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"
)

// sentBy is a connection whose peer has sent some bytes and closed it.
type sentBy struct {
	net.Conn
	io.Reader
}

func (s sentBy) Read(b []byte) (int, error)  { return s.Reader.Read(b) }
func (s sentBy) Write(b []byte) (int, error) { return len(b), nil }
func (s sentBy) SetDeadline(time.Time) error { return nil }

// recorder keeps the bytes that are sent.
type recorder struct {
	net.Conn
	bytes.Buffer
}

func (r *recorder) Read(b []byte) (int, error)  { return r.Buffer.Read(b) }
func (r *recorder) Write(b []byte) (int, error) { return r.Buffer.Write(b) }

// Any bytes from a peer are a message with at most the expected number of values, or an error.
func FuzzMessages(f *testing.F) {
	var sent recorder
	l := NewLink(&sent)
	if err := l.Send(&Request{Op: OpStart, Start: &Start{Spans: []Span{{0, 3, 0}}, Batch: 8}}, []float64{1, 2, 3}); err != nil {
		f.Fatal(err)
	}
	if err := l.Send(&Request{Op: OpPush, Ticket: -1}); err != nil {
		f.Fatal(err)
	}
	f.Add(sent.Bytes())
	f.Add(sent.Bytes()[:sent.Len()/2])
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		l := NewLink(sentBy{Reader: bytes.NewReader(raw)})
		for range 3 {
			var q Request
			values, err := l.Receive(&q, 16)
			if err != nil {
				return
			}
			if len(values) > 16 {
				t.Errorf("%d values", len(values))
			}
		}
	})
}
