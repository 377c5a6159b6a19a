// This file shows pages in a headless Chromium, for tests. Tests that need it are skipped if it is not installed.

package resultstest

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// patience is the maximum time that Until waits. It is long since machines that run tests can be slow.
const patience = 2 * time.Minute

// Page is a page in a separate browser process.
type Page struct {
	t       testing.TB
	to      *os.File
	from    *bufio.Reader
	session string
	last    int // number of the last command to the browser
	// troubles holds the messages of the browser's console so far.
	troubles []string
}

// Open opens an address in a browser window and waits until the page is loaded. Width and height are in CSS pixels. If
// dark is true, the browser prefers dark pages. The browser ends with the test.
func Open(t testing.TB, address string, width, height int, dark bool) *Page {
	t.Helper()
	path := program()
	if path == "" {
		t.Skip("needs Chromium (Debian: apt-get install chromium)")
	}
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	profile, err := os.MkdirTemp("", "browser")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--hide-scrollbars",
		"--no-first-run", "--remote-debugging-pipe", "--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // file descriptors 3 and 4, which carry commands and answers
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	p := &Page{t: t, to: ourOut, from: bufio.NewReader(ourIn)}
	t.Cleanup(func() {
		_ = p.send("Browser.close", nil)
		_ = cmd.Wait()
		ourOut.Close()
		ourIn.Close()
		_ = os.RemoveAll(profile) // ignore errors: the browser's processes may still write files there
	})
	var target struct {
		TargetID  string `json:"targetId"`
		SessionID string `json:"sessionId"`
	}
	p.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	p.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	p.session = target.SessionID
	p.call("Emulation.setDeviceMetricsOverride",
		map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	p.call("Emulation.setEmulatedMedia",
		map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	p.call("Page.enable", nil, nil)
	p.call("Log.enable", nil, nil)
	p.call("Runtime.enable", nil, nil)
	p.call("Page.navigate", map[string]any{"url": address}, nil)
	p.until("Page.loadEventFired")
	return p
}

// Troubles returns the messages of the browser's console so far: errors of scripts, and violations of the page's
// content security policy.
func (p *Page) Troubles() []string {
	p.t.Helper()
	p.Eval("0", nil) // any command makes the page read earlier messages
	return p.troubles
}

// Until waits until a JavaScript expression is true in the page. The argument what describes the condition in the error
// message.
func (p *Page) Until(what, expression string) {
	p.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		var holds bool
		if p.Eval("!!("+expression+")", &holds); holds {
			return
		}
		if time.Now().After(end) {
			var text string
			p.Eval("document.body.innerText", &text)
			p.t.Fatalf("%s: it did not come about. The page says:\n%s", what, text)
		}
	}
}

// program returns the path of the browser; empty if it is not installed.
func program() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// Eval evaluates a JavaScript expression in the page and decodes its value. If the value is a promise, Eval waits for
// it.
func (p *Page) Eval(expression string, into any) {
	p.t.Helper()
	var out struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	p.call("Runtime.evaluate",
		map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &out)
	if out.Exception != nil {
		p.t.Fatalf("%s: %s %s", expression, out.Exception.Text, out.Exception.Exception.Description)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(out.Result.Value, into); err != nil {
		p.t.Fatalf("%s: %v in %s", expression, err, out.Result.Value)
	}
}

// Screenshot returns a PNG picture of the first element that matches a CSS selector.
func (p *Page) Screenshot(selector string) []byte {
	p.t.Helper()
	var clip map[string]any
	p.Eval(fmt.Sprintf(`(() => { const b = document.querySelector(%q).getBoundingClientRect();
		return {x: b.x + scrollX, y: b.y + scrollY, width: b.width, height: b.height, scale: 1} })()`, selector), &clip)
	return p.data("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true, "clip": clip})
}

// Paper makes the page look as printed, on the screen, until the test ends.
func (p *Page) Paper() {
	p.t.Helper()
	p.call("Emulation.setEmulatedMedia", map[string]any{"media": "print", "features": []any{}}, nil)
}

// Print returns the page as printed on A4 paper, as PDF.
func (p *Page) Print() []byte {
	p.t.Helper()
	return p.data("Page.printToPDF", map[string]any{"paperWidth": 8.27, "paperHeight": 11.69})
}

func (p *Page) data(method string, with map[string]any) []byte {
	p.t.Helper()
	var out struct {
		Data string `json:"data"`
	}
	p.call(method, with, &out)
	raw, err := base64.StdEncoding.DecodeString(out.Data)
	if err != nil {
		p.t.Fatal(err)
	}
	return raw
}

// message is a message from the browser: the answer to a command, or an event.
type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
	Params struct {
		Entry struct {
			Text string `json:"text"`
		} `json:"entry"`
		Details struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"`
	} `json:"params"`
}

func (p *Page) send(method string, with map[string]any) error {
	p.last++
	raw, err := json.Marshal(map[string]any{"id": p.last, "method": method, "params": with, "sessionId": p.session})
	if p.session == "" || method == "Browser.close" {
		raw, err = json.Marshal(map[string]any{"id": p.last, "method": method, "params": with})
	}
	if err != nil {
		return err
	}
	_, err = p.to.Write(append(raw, 0))
	return err
}

func (p *Page) next() message {
	p.t.Helper()
	raw, err := p.from.ReadBytes(0)
	if err != nil {
		p.t.Fatalf("the browser ended: %v", err)
	}
	var m message
	if err := json.Unmarshal(bytes.TrimSuffix(raw, []byte{0}), &m); err != nil {
		p.t.Fatal(err)
	}
	switch m.Method {
	case "Log.entryAdded":
		p.troubles = append(p.troubles, m.Params.Entry.Text)
	case "Runtime.exceptionThrown":
		p.troubles = append(p.troubles, m.Params.Details.Text)
	}
	return m
}

// call sends a command to the browser and decodes its result.
func (p *Page) call(method string, with map[string]any, into any) {
	p.t.Helper()
	if with == nil {
		with = map[string]any{}
	}
	if err := p.send(method, with); err != nil {
		p.t.Fatal(fmt.Errorf("%s: %w", method, err))
	}
	for {
		m := p.next()
		if m.ID != p.last {
			continue
		}
		if m.Error != nil {
			p.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if into != nil {
			if err := json.Unmarshal(m.Result, into); err != nil {
				p.t.Fatalf("%s: %v", method, err)
			}
		}
		return
	}
}

// until waits for an event of the browser.
func (p *Page) until(event string) {
	p.t.Helper()
	for p.next().Method != event {
	}
}
