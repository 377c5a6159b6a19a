package editor

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/decode"
)

// client plays the role of an editor.
type client struct {
	*jsonrpc2.Conn
	t         *testing.T
	published chan map[string]any
	ended     chan error
}

func languageserverStart(t *testing.T) *client {
	t.Helper()
	fromEditor, toServer := io.Pipe()
	fromServer, toEditor := io.Pipe()
	c := &client{t: t, published: make(chan map[string]any, 16), ended: make(chan error, 1)}
	go func() {
		c.ended <- Serve(t.Context(), fromEditor, toEditor, "1", func(path string, src []byte) experiments.Diagnostics {
			_, diags := decode.Source(path, src, decode.Options{Host: experiments.HostFacts{Threads: 4, Cores: 4}})
			return diags
		})
		toEditor.Close()
	}()
	handler := jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
		var p map[string]any
		err := json.Unmarshal(*req.Params, &p)
		c.published <- p
		return nil, err
	})
	c.Conn = jsonrpc2.NewConn(t.Context(), jsonrpc2.NewBufferedStream(editorPipes{fromServer, toServer},
		jsonrpc2.VSCodeObjectCodec{}), handler)
	return c
}

type editorPipes struct {
	io.Reader
	io.WriteCloser
}

// ask calls a method, and returns its result as JSON.
func (c *client) ask(method string, params any) string {
	c.t.Helper()
	var result any
	if err := c.Call(c.t.Context(), method, params, &result); err != nil {
		c.t.Fatal(method, err)
	}
	raw, err := json.Marshal(result)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(raw)
}

func (c *client) tell(method string, params any) {
	c.t.Helper()
	if err := c.Notify(c.t.Context(), method, params); err != nil {
		c.t.Fatal(method, err)
	}
}

type m = map[string]any

const uri = "file:///home/me/e.hcl"

func doc(more m) m {
	more["textDocument"] = m{"uri": uri}
	return more
}

func languageserverPlace(line, character int) m {
	return doc(m{"position": m{"line": line, "character": character}})
}

func TestASession(t *testing.T) {
	c := languageserverStart(t)
	if got := c.ask("initialize", m{}); !strings.Contains(got, `"hoverProvider":true`) {
		t.Error(got)
	}
	c.tell("initialized", m{})
	text := "experiment \"é😀\" {}\npolicy \"fcfs\" { oder = \"fcfs\" }\ncompare \"mean_jct\" { baseline = policy.fcfs }\n"
	c.tell("textDocument/didOpen", m{"textDocument": m{"uri": uri, "text": text, "version": 1}})
	told := <-c.published
	raw, _ := json.Marshal(told) // it was JSON
	if !strings.Contains(string(raw), `Did you mean order?`) ||
		!strings.Contains(string(raw), `"range":{"end":{"character":20,"line":1},"start":{"character":16,"line":1}}`) {
		t.Errorf("%s", raw)
	}
	for _, test := range []struct {
		method string
		params m
		want   string
	}{
		{"textDocument/completion", languageserverPlace(1, 16), `"newText":"order = $0"`},
		{"textDocument/completion", languageserverPlace(0, 18), `"newText":"replicates = $0","range":{"end":{"character":18,"line":0},"start":{"character":18,"line":0}}`},
		{"textDocument/hover", languageserverPlace(2, 25), "The baseline: a policy"},
		{"textDocument/definition", languageserverPlace(2, 44), `"start":{"character":8,"line":1}`},
		{"textDocument/definition", languageserverPlace(0, 3), "null"},
		{"textDocument/references", languageserverPlace(1, 10), `"range":{"end":{"character":43,"line":2}`},
		{"textDocument/documentSymbol", doc(m{}), `"detail":"policy","kind":5,"name":"fcfs"`},
		{"textDocument/codeAction", doc(m{"context": m{"diagnostics": told["diagnostics"]}}), `"newText":"order"`},
		{"textDocument/formatting", doc(m{}), "[]"},
	} {
		if got := c.ask(test.method, test.params); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s lacks %s", test.method, got, test.want)
		}
	}
	c.tell("textDocument/didChange", m{"textDocument": m{"uri": uri, "version": 2},
		"contentChanges": []m{{"text": "experiment \"e\" {\nseed=1\n}\n"}}})
	if told := <-c.published; told["version"] != 2.0 {
		t.Error(told)
	}
	c.tell("textDocument/didOpen", m{"textDocument": m{"uri": "file:///other.hcl", "text": "terraform {\n  oder = 1\n}\n", "version": 1}})
	if told := <-c.published; len(told["diagnostics"].([]any)) != 0 {
		t.Errorf("the file of another tool: %v", told)
	}
	if got := c.ask("textDocument/formatting", doc(m{})); !strings.Contains(got, `seed = 1`) {
		t.Error(got)
	}
	if err := c.Call(t.Context(), "textDocument/rename", doc(m{}), nil); err == nil {
		t.Error("an unknown method was answered")
	}
	c.tell("textDocument/didClose", doc(m{}))
	if told := <-c.published; len(told["diagnostics"].([]any)) != 0 {
		t.Error(told)
	}
	if err := c.Call(t.Context(), "textDocument/hover", languageserverPlace(0, 0), nil); err == nil {
		t.Error("a closed file was asked about")
	}
	c.ask("shutdown", nil)
	c.tell("exit", nil)
	if err := <-c.ended; err != nil {
		t.Error(err)
	}
}

func TestAnEditorThatGoesAway(t *testing.T) {
	c := languageserverStart(t)
	c.ask("initialize", m{})
	c.Close()
	if err := <-c.ended; err == nil {
		t.Error("no error")
	}
}
