package external

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
)

// endpointWord is the placeholder for the endpoint in the command of a program that speaks Batsim's protocol.
// Without it, the corresponding arguments of pybatsim and batsched are added.
const endpointWord = "{endpoint}"

// zmtp is a socket of the type REQ, of version 3.0 of ZeroMQ's protocol (rfc.zeromq.org/spec/23), with one peer.
type zmtp struct {
	network, address string
	folder           string        // of the address; empty for none
	gone             chan struct{} // closed when the peer is gone
	conn             net.Conn
	in               *bufio.Reader
}

// newEndpoint chooses where the program of a command listens, and returns the command with that.
func newEndpoint(argv []string, all []schema.Setting) (*zmtp, []string, error) {
	z := &zmtp{network: "unix"}
	endpoint := ""
	if runtime.GOOS == "windows" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, nil, fmt.Errorf("find a free port: %w", err)
		}
		z.network, z.address = "tcp", l.Addr().String()
		endpoint = "tcp://" + z.address
		l.Close()
	} else {
		var err error
		if z.folder, err = folder.MkdirTemp("", "tfexp-"); err != nil {
			return nil, nil, fmt.Errorf("make a folder for a socket: %w", err)
		}
		z.address = filepath.Join(z.folder, "batsim")
		endpoint = "ipc://" + z.address
	}
	argv = slices.Clone(argv)
	told := false
	for i, arg := range argv {
		told = told || strings.Contains(arg, endpointWord)
		argv[i] = strings.ReplaceAll(arg, endpointWord, endpoint)
	}
	if !told {
		argv = append(argv, "--socket-endpoint="+endpoint)
	}
	if len(all) > 0 {
		options := map[string]any{}
		for _, one := range all {
			options[one.Name] = one.Value
			if n, err := strconv.ParseFloat(one.Value, 64); err == nil {
				options[one.Name] = n
			}
		}
		raw, err := json.Marshal(options)
		if err != nil {
			return nil, nil, err
		}
		argv = append(argv, "--options="+string(raw))
	}
	return z, argv, nil
}

func (z *zmtp) close() {
	if z.conn != nil {
		z.conn.Close()
	}
	if z.folder != "" {
		folder.RemoveAll(z.folder)
	}
}

// The frames of the protocol.
const (
	frameMore, frameLong, frameCommand = 1, 2, 4
	greetingSize                       = 64
)

// dial waits until the program listens, and greets it.
func (z *zmtp) dial() (err error) {
	for {
		if z.conn, err = net.Dial(z.network, z.address); err == nil {
			break
		}
		select {
		case <-z.gone:
			return io.EOF
		case <-time.After(10 * time.Millisecond):
		}
	}
	z.in = bufio.NewReaderSize(z.conn, 1<<16)
	greeting := [greetingSize]byte{0: 0xff, 9: 0x7f, 10: 3}
	copy(greeting[12:], "NULL")
	if _, err := z.conn.Write(greeting[:]); err != nil {
		return err
	}
	if _, err := io.ReadFull(z.in, greeting[:]); err != nil {
		return err
	}
	if greeting[0] != 0xff || greeting[10] < 3 {
		return errors.New("it does not speak version 3 of ZeroMQ's protocol")
	}
	ready := "\x05READY\x0bSocket-Type\x00\x00\x00\x03REQ\x08Identity\x00\x00\x00\x00"
	if err := z.send(frameCommand, []byte(ready)); err != nil {
		return err
	}
	_, err = z.receive(true)
	return err
}

func (z *zmtp) send(flags byte, body []byte) error {
	head := []byte{flags, byte(len(body))}
	if len(body) > 255 {
		head = binary.BigEndian.AppendUint64([]byte{flags | frameLong}, uint64(len(body)))
	}
	_, err := z.conn.Write(append(head, body...))
	return err
}

// receive returns the last frame of the next message, or the next command.
func (z *zmtp) receive(command bool) ([]byte, error) {
	for {
		flags, err := z.in.ReadByte()
		if err != nil {
			return nil, err
		}
		size := uint64(0)
		var long [8]byte
		if flags&frameLong != 0 {
			_, err = io.ReadFull(z.in, long[:])
			size = binary.BigEndian.Uint64(long[:])
		} else {
			var short byte
			short, err = z.in.ReadByte()
			size = uint64(short)
		}
		if err != nil {
			return nil, err
		}
		if size > maxAnswer {
			return nil, errFlood
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(z.in, body); err != nil {
			return nil, err
		}
		if is := flags&frameCommand != 0; is == command && flags&frameMore == 0 {
			return body, nil
		}
	}
}

// exchange sends a message, after the empty frame of a request, and returns the answer.
func (z *zmtp) exchange(line []byte) ([]byte, error) {
	if z.conn == nil {
		if err := z.dial(); err != nil {
			return nil, err
		}
	}
	if err := z.send(frameMore, nil); err != nil {
		return nil, err
	}
	if err := z.send(0, line); err != nil {
		return nil, err
	}
	return z.receive(false)
}
