// This file implements the Language Server Protocol, version 3.17, for experiment files: diagnostics while typing,
// completion, hover, definitions and formatting.

package editor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/textproto"
	"net/url"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/decode"
)

// pause is the delay between the last change of a file and its check.
const pause = 250 * time.Millisecond

// server has the state of one session with an editor.
type server struct {
	version string
	check   func(path string, src []byte) experiments.Diagnostics
	done    chan struct{} // closed when the session ends
	leave   func()

	mu     sync.Mutex // guards the fields below
	open   map[string]*document
	closed bool // whether the editor has requested shutdown
}

// document is an open file with the editor's unsaved text.
type document struct {
	text    string
	version int
	timer   *time.Timer // starts the next check of the file
}

// Serve answers an editor's requests on in and out until the session ends or the editor disconnects. check reads the
// unsaved text of a file and returns its problems.
func Serve(ctx context.Context, in io.Reader, out io.Writer, version string,
	check func(path string, src []byte) experiments.Diagnostics) error {
	s := &server{version: version, check: check, open: map[string]*document{}, done: make(chan struct{})}
	s.leave = sync.OnceFunc(func() { close(s.done) })
	conn := jsonrpc2.NewConn(ctx, stream{jsonrpc2.NewBufferedStream(pipes{in, out}, codec{})},
		jsonrpc2.HandlerWithError(s.handle).SuppressErrClosed(), jsonrpc2.SetLogger(quiet{}))
	select {
	case <-conn.DisconnectNotify():
	case <-s.done:
		conn.Close()
	case <-ctx.Done():
		conn.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.open {
		d.timer.Stop()
	}
	if !s.closed {
		return errors.New("the editor closed the connection without a shutdown request")
	}
	return nil
}

// quiet discards the JSON-RPC library's log messages, which would go to standard error.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

// pipes joins standard input and standard output into one connection.
type pipes struct {
	io.Reader
	io.Writer
}

func (p pipes) Close() error {
	if c, ok := p.Reader.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// handle answers a request or processes a notification.
func (s *server) handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
	var p params
	if req.Params != nil {
		if err := json.Unmarshal(*req.Params, &p); err != nil {
			return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()}
		}
	}
	switch req.Method {
	case "initialize":
		return s.abilities(), nil
	case "shutdown":
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		return nil, nil
	case "exit":
		s.leave()
		return nil, nil
	case "textDocument/didOpen":
		s.change(ctx, conn, p.TextDocument.URI, p.TextDocument.Text, p.TextDocument.Version, 0)
		return nil, nil
	case "textDocument/didChange":
		if n := len(p.Changes); n > 0 {
			s.change(ctx, conn, p.TextDocument.URI, p.Changes[n-1].Text, p.TextDocument.Version, pause)
		}
		return nil, nil
	case "textDocument/didClose":
		s.close(ctx, conn, p.TextDocument.URI)
		return nil, nil
	case "textDocument/completion", "textDocument/hover", "textDocument/definition", "textDocument/formatting",
		"textDocument/codeAction", "textDocument/documentSymbol", "textDocument/references":
		return s.answer(req.Method, p)
	}
	if req.Notif || strings.HasPrefix(req.Method, "$/") {
		return nil, nil
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "tfexp does not support " + req.Method}
}

// abilities returns the capabilities of the server in the protocol's form.
func (s *server) abilities() any {
	return map[string]any{
		"serverInfo": map[string]string{"name": "tfexp", "version": s.version},
		"capabilities": map[string]any{
			"textDocumentSync":           map[string]any{"openClose": true, "change": 1}, // 1: changes contain the whole text
			"completionProvider":         map[string]any{"triggerCharacters": []string{".", "\""}},
			"hoverProvider":              true,
			"definitionProvider":         true,
			"referencesProvider":         true,
			"documentSymbolProvider":     true,
			"codeActionProvider":         true,
			"documentFormattingProvider": true,
		},
	}
}

// change stores the new text of a file and checks it after the delay wait.
func (s *server) change(ctx context.Context, conn *jsonrpc2.Conn, uri, text string, version int, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.open[uri]; old != nil {
		old.timer.Stop()
	}
	d := &document{text: text, version: version}
	d.timer = time.AfterFunc(wait, func() {
		var found experiments.Diagnostics
		if strings.HasSuffix(uri, ".json") || IsExperiment([]byte(text)) {
			found = s.check(pathOf(uri), []byte(text))
		}
		s.mu.Lock()
		current := s.open[uri] == d
		s.mu.Unlock()
		if current {
			// The error is ignored: the reader notices that the editor has disconnected.
			_ = conn.Notify(ctx, "textDocument/publishDiagnostics", published(uri, version, text, found))
		}
	})
	s.open[uri] = d
}

// close removes a file from the session and clears its diagnostics.
func (s *server) close(ctx context.Context, conn *jsonrpc2.Conn, uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.open[uri]; d != nil {
		d.timer.Stop()
		delete(s.open, uri)
		_ = conn.Notify(ctx, "textDocument/publishDiagnostics", published(uri, d.version, "", nil))
	}
}

// answer answers a request about an open file.
func (s *server) answer(method string, p params) (any, error) {
	s.mu.Lock()
	d := s.open[p.TextDocument.URI]
	s.mu.Unlock()
	if d == nil {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: "the file is not open: " + p.TextDocument.URI}
	}
	src, lines := []byte(d.text), newLines(d.text)
	native := !strings.HasSuffix(p.TextDocument.URI, ".json")
	switch {
	case method == "textDocument/codeAction":
		return fixes(p.TextDocument.URI, p.Context.Diagnostics), nil
	case native && !IsExperiment(src):
		return nil, nil
	case method == "textDocument/formatting":
		return format(p.TextDocument.URI, d.text, lines)
	case !native:
		return nil, nil // editors complete JSON files from the schema
	case method == "textDocument/completion":
		return completions(Complete(decode.Language(), src, lines.offset(p.Position)), lines), nil
	case method == "textDocument/hover":
		doc, at, ok := Hover(decode.Language(), src, lines.offset(p.Position))
		if !ok {
			return nil, nil
		}
		return map[string]any{"contents": markdown(doc), "range": lines.span(at)}, nil
	}
	if method == "textDocument/documentSymbol" {
		return symbols(Definitions(src), lines), nil
	}
	if method == "textDocument/references" {
		list := []any{}
		for _, at := range References(src, lines.offset(p.Position)) {
			list = append(list, map[string]any{"uri": p.TextDocument.URI, "range": lines.span(at)})
		}
		return list, nil
	}
	definition, ok := Define(src, lines.offset(p.Position))
	if !ok {
		return nil, nil
	}
	return map[string]any{"uri": p.TextDocument.URI, "range": lines.span(definition.At)}, nil
}

// format returns an edit that replaces the text by its canonical form. A text with syntax errors is not changed.
func format(uri, text string, lines *lines) (any, error) {
	formatted, diags := decode.Format(pathOf(uri), []byte(text))
	if diags.HasErrors() || string(formatted) == text {
		return []any{}, nil
	}
	return []any{map[string]any{"range": lines.span(Range{End: len(text)}), "newText": string(formatted)}}, nil
}

// pathOf returns the path that a URI names. A URI that is no file URI is returned unchanged.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return filepath.Base(uri)
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.FromSlash(path)
}

// codec reads and writes JSON-RPC messages with a header that has their length. It reads even a malformed message to
// its end, because the next message begins there.
type codec struct{ jsonrpc2.VSCodeObjectCodec }

// ReadObject implements jsonrpc2.ObjectCodec. For a malformed message the error is a *jsonrpc2.Error, which can be sent
// as the reply. After any other error, reading cannot continue.
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

// stream answers a malformed message with an error and then reads the next one.
type stream struct{ jsonrpc2.ObjectStream }

// ReadObject implements jsonrpc2.ObjectStream.
func (s stream) ReadObject(v any) error {
	for {
		err := s.ObjectStream.ReadObject(v)
		var wrong *jsonrpc2.Error
		if !errors.As(err, &wrong) {
			return err
		}
		// The ID of a malformed request is unknown, so the reply has none.
		if err := s.WriteObject(map[string]any{"jsonrpc": "2.0", "id": nil, "error": wrong}); err != nil {
			return err
		}
	}
}
