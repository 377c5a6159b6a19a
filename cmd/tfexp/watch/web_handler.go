// This file serves a web page that shows runs in progress and their results. It only reads the folder of results, and
// serves only browsers on this machine.

package watch

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"syscall"
	"time"

	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/folder"
)

//go:embed page
var pageFiles embed.FS

// WebOptions are the options of WebHandler.
type WebOptions struct {
	// Version is the version of tfexp that the page shows.
	Version string
	// Every is the time between two reads of the folder for a page; 0 means half a second.
	Every time.Duration
	// Pages are further pages, by their path.
	Pages map[string]http.Handler
}

const (
	defaultEvery = 500 * time.Millisecond
	// after this silence, a comment is sent to check the connection
	ping = 15 * time.Second
	// patience is how long a browser may take to receive an answer.
	patience = 10 * time.Second
	// mostStreams is the largest number of pages that receive events at once.
	mostStreams = 64
)

// Content security policies. The page may load only its own files. Files of results may come from other users, so they
// cannot access the page.
const (
	pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	filePolicy = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; " +
		"img-src data:; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

type webHandler struct {
	results *Folder
	options WebOptions
	streams chan struct{} // has an element for each page that receives events
}

// WebHandler serves the page, its data and /metrics. A stream of events ends with its request's context.
func WebHandler(results *Folder, o WebOptions) http.Handler {
	if o.Every == 0 {
		o.Every = defaultEvery
	}
	w := &webHandler{results: results, options: o, streams: make(chan struct{}, mostStreams)}
	mux := http.NewServeMux()
	for address, file := range map[string]string{
		"/{$}": "index.html", "/app.js": "app.js", "/draw.js": "draw.js", "/app.css": "app.css", "/icon.svg": "icon.svg",
	} {
		mux.HandleFunc("GET "+address, func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Security-Policy", pagePolicy)
			http.ServeFileFS(rw, r, pageFiles, "page/"+file)
		})
	}
	mux.HandleFunc("GET /api/experiments", serveJSON(func(*http.Request) (any, error) { return w.list() }))
	mux.HandleFunc("GET /api/experiments/{name}", serveJSON(func(r *http.Request) (any, error) {
		return w.experiment(r.PathValue("name"))
	}))
	mux.HandleFunc("GET /api/experiments/{name}/cell", serveJSON(func(r *http.Request) (any, error) {
		return results.Cell(r.PathValue("name"), r.FormValue("cell"))
	}))
	mux.HandleFunc("GET /api/experiments/{name}/log", w.log)
	mux.HandleFunc("GET /api/stream", w.stream)
	mux.HandleFunc("GET /results/{name}/{file...}", w.file)
	mux.Handle("GET /metrics", metrics(results, o.Version))
	for address, page := range o.Pages {
		mux.Handle("GET "+address, page)
	}
	return guarded(mux)
}

// guarded rejects requests that do not come from a page of this machine. A foreign page may let its own host name
// resolve to this machine (DNS rebinding); the Host header of its requests then has that name.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", filePolicy)
		switch {
		case !local(r.Host):
			http.Error(w, "this page can be reached only as localhost, 127.0.0.1 or [::1]", http.StatusForbidden)
		case r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate":
			http.Error(w, "only this page may send this request", http.StatusForbidden)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "this page is read-only", http.StatusMethodNotAllowed)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// local reports whether host, the Host header of a request, is a loopback name or address.
func local(host string) bool {
	u := url.URL{Host: host}
	switch u.Hostname() {
	case "localhost", "127.0.0.1", "::1":
		return true
	}
	return false
}

// serveJSON returns a handler that serves the result of get as JSON.
func serveJSON(get func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := get(r)
		if err != nil {
			refuse(w, err)
			return
		}
		raw, err := json.Marshal(v)
		if err != nil {
			refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(raw)
	}
}

func refuse(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	switch {
	case errors.Is(err, ErrUnknown), errors.Is(err, fs.ErrNotExist):
		status = http.StatusNotFound
	case errors.Is(err, folder.ErrOutside), errors.Is(err, folder.ErrNotRegular):
		status = http.StatusForbidden
	}
	http.Error(w, err.Error(), status)
}

func (w *webHandler) list() ([]Experiment, error) {
	list, err := w.results.Experiments()
	if list == nil {
		list = []Experiment{}
	}
	return list, err
}

// experimentPage is the data of an experiment's page.
type experimentPage struct {
	Experiment
	List    []CellRow            `json:"list"`
	More    int                  `json:"more,omitempty"` // number of cells that are not listed
	Journal []store.JournalEntry `json:"journal"`
}

// mostRows is the largest number of cells that a page lists.
const mostRows = 1000

func (w *webHandler) experiment(name string) (experimentPage, error) {
	x, rows, journal, err := w.results.Experiment(name)
	s := experimentPage{Experiment: x, List: append([]CellRow{}, rows...), Journal: append([]store.JournalEntry{},
		journal...)}
	if len(rows) > mostRows {
		s.List, s.More = s.List[:mostRows], len(rows)-mostRows
	}
	return s, err
}

// log serves the part of a log that begins at byte "from". If "from" is negative or missing, it serves the end. The
// headers X-From and X-Size have the part's offset and the log's size.
func (w *webHandler) log(rw http.ResponseWriter, r *http.Request) {
	from := int64(-1)
	if s := r.FormValue("from"); s != "" {
		var err error
		if from, err = strconv.ParseInt(s, 10, 64); err != nil {
			http.Error(rw, "the parameter from is not a number of bytes", http.StatusBadRequest)
			return
		}
	}
	l, err := w.results.Log(r.PathValue("name"), r.FormValue("cell"), r.FormValue("job"), from)
	if err != nil {
		refuse(rw, err)
		return
	}
	h := rw.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-From", strconv.FormatInt(l.From, 10))
	h.Set("X-Size", strconv.FormatInt(l.Size, 10))
	rw.Write(l.Text)
}

// types are the media types of files by ending. Files with other endings are not served.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png", ".csv": "text/plain; charset=utf-8",
	".json": "text/plain; charset=utf-8", ".jsonl": "text/plain; charset=utf-8", ".hcl": "text/plain; charset=utf-8",
	".txt": "text/plain; charset=utf-8", ".log": "text/plain; charset=utf-8",
}

// file serves a file of an experiment: the report, a picture or a table.
func (w *webHandler) file(rw http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	kind, ok := types[path.Ext(name)]
	dir, err := w.results.Path(r.PathValue("name"))
	if !ok && err == nil {
		err = ErrUnknown
	}
	if err != nil {
		refuse(rw, err)
		return
	}
	f, err := folder.Open(dir, name)
	if err != nil {
		refuse(rw, err)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		refuse(rw, err)
		return
	}
	rw.Header().Set("Content-Type", kind)
	http.ServeContent(rw, r, "", info.ModTime(), f)
}

// stream sends changes as server-sent events: "experiments", and with the parameter "name" also "experiment" and
// "cell". The parameter "cell" selects the cell; without it, the running cell is sent.
func (w *webHandler) stream(rw http.ResponseWriter, r *http.Request) {
	select {
	case w.streams <- struct{}{}:
		defer func() { <-w.streams }()
	default:
		http.Error(rw, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	rw.Header().Set("Content-Type", "text/event-stream")
	to := &events{w: rw, control: http.NewResponseController(rw), last: map[string]string{}}
	name, cell := r.FormValue("name"), r.FormValue("cell")
	tick := time.NewTicker(w.options.Every)
	defer tick.Stop()
	for {
		to.send("experiments", func() (any, error) { return w.list() })
		if name != "" {
			to.send("experiment", func() (any, error) { return w.experiment(name) })
			to.send("cell", func() (any, error) { return w.results.Cell(name, cell) })
		}
		if to.flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}

// events sends events to one page.
type events struct {
	w       http.ResponseWriter
	control *http.ResponseController
	last    map[string]string // data that were sent last, by event name
	at      time.Time         // when something was sent last
	err     error
}

// send sends an event if its data have changed. An error is sent as the event "trouble", except when something does not
// exist.
func (e *events) send(event string, get func() (any, error)) {
	v, err := get()
	if errors.Is(err, ErrUnknown) {
		return
	}
	if err != nil {
		event, v = "trouble", err.Error()
	}
	raw, err := json.Marshal(v)
	if err != nil || e.err != nil || e.last[event] == string(raw) {
		return
	}
	e.last[event] = string(raw)
	e.write("event: " + event + "\ndata: " + string(raw) + "\n\n")
}

func (e *events) write(text string) {
	if e.err == nil {
		// Some servers do not support deadlines; a failed write is noticed below.
		_ = e.control.SetWriteDeadline(time.Now().Add(patience))
		_, e.err = io.WriteString(e.w, text)
		e.at = time.Now()
	}
}

func (e *events) flush() error {
	if time.Since(e.at) > ping {
		e.write(": still there\n\n")
	}
	if e.err == nil {
		e.err = e.control.Flush()
	}
	return e.err
}

// Listen opens a loopback port: of IPv4, or of IPv6 if IPv4 is missing. Port 0 selects a free port.
func Listen(port int) (net.Listener, error) {
	on, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) {
		if six, err := net.Listen("tcp", net.JoinHostPort("::1", strconv.Itoa(port))); err == nil {
			return six, nil
		}
	}
	return on, err
}

// Serve serves h on a listener until ctx is done. It then returns within two seconds.
func Serve(ctx context.Context, on net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: patience, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 16,
		BaseContext: func(net.Listener) context.Context { return ctx }, // ends streams when ctx is done
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(on) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	patient, stop := context.WithTimeout(context.Background(), 2*time.Second)
	defer stop()
	if err := server.Shutdown(patient); err != nil {
		server.Close()
	}
	<-ended
	return nil
}

// Address returns the URL of the page.
func Address(on net.Listener) string { return "http://" + on.Addr().String() + "/" }
