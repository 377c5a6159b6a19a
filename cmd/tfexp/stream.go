package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/textproto"
	"strconv"

	"github.com/sourcegraph/jsonrpc2"
)

// codec reads and writes messages behind a header with their length, as the protocol has them. It reads a message to
// its end also when it is not one: the next one begins there.
type codec struct{ jsonrpc2.VSCodeObjectCodec }

// ReadObject implements jsonrpc2.ObjectCodec. The error is a *jsonrpc2.Error, which is to be sent back, for a message
// that is not one; after any other error nothing more can be read.
func (codec) ReadObject(in *bufio.Reader, v any) error {
	header, err := textproto.NewReader(in).ReadMIMEHeader()
	if err != nil {
		return err
	}
	length, err := strconv.ParseUint(header.Get("Content-Length"), 10, 32)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(in, int64(length)))
	switch {
	case err != nil:
		return err
	case uint64(len(body)) < length:
		return io.ErrUnexpectedEOF
	case !json.Valid(body):
		return &jsonrpc2.Error{Code: jsonrpc2.CodeParseError, Message: "the message is not JSON"}
	}
	if err := json.Unmarshal(body, v); err != nil {
		return &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: err.Error()}
	}
	return nil
}

// stream says of messages that are none what is wrong with them, and goes on with the next one.
type stream struct{ jsonrpc2.ObjectStream }

// ReadObject implements jsonrpc2.ObjectStream.
func (s stream) ReadObject(v any) error {
	for {
		err := s.ObjectStream.ReadObject(v)
		var wrong *jsonrpc2.Error
		if !errors.As(err, &wrong) {
			return err
		}
		// Which request it was cannot be known: the answer has no number.
		if err := s.WriteObject(map[string]any{"jsonrpc": "2.0", "id": nil, "error": wrong}); err != nil {
			return err
		}
	}
}
