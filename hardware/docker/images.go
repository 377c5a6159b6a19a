package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/hardware/engine"
)

// findImages returns the IDs of images, which are part of keys. It fetches images if fetch is true and their need
// says so. It works in the order of the needs, so that the first missing image is always the same.
func findImages(ctx context.Context, needs []engine.ImageNeed, fetch bool) ([]string, error) {
	f := imageFinder{fetch: fetch, hosts: map[string]*Host{}, ids: map[imageOn]string{}}
	defer f.close()
	found := make([]string, len(needs))
	for i, need := range needs {
		var ids []string
		for n, url := range settingsOf(need.Hardware).Hosts {
			if h := f.connect(ctx, url); h != nil {
				f.checkSize(need.Hardware, n, h)
				ids = append(ids, f.find(ctx, h, need))
			} else {
				ids = append(ids, "")
			}
		}
		if ids = slices.Compact(ids); !slices.Contains(ids, "") {
			found[i] = strings.Join(ids, " ")
		}
	}
	return found, f.missing
}

// imageOn is an image on a daemon.
type imageOn struct{ url, image, platform string }

// imageFinder finds images on several daemons.
type imageFinder struct {
	fetch   bool
	hosts   map[string]*Host // by address; nil for a daemon that does not answer
	ids     map[imageOn]string
	missing error // first error
}

func (f *imageFinder) lacks(err error) {
	if f.missing == nil {
		f.missing = unavailable(err)
	}
}

// unavailable returns an *engine.Unavailable with the hint of a *DaemonError.
func unavailable(err error) error {
	e := &engine.Unavailable{Engine: kindName, Err: err}
	var own *DaemonError
	if errors.As(err, &own) {
		e.Hint = own.Hint
	}
	return e
}

// connect returns the daemon at an address; nil if it does not answer.
func (f *imageFinder) connect(ctx context.Context, url string) *Host {
	h, known := f.hosts[url]
	if known {
		return h
	}
	h, err := Connect(ctx, url)
	if err != nil {
		h = nil
		f.lacks(err)
	}
	f.hosts[url] = h
	return h
}

// checkSize records an error if a node has more threads than its daemon's machine.
func (f *imageFinder) checkSize(hw *engine.Hardware, node int, h *Host) {
	if threads := hw.Cluster.Nodes[node].Threads; threads > h.CPUs {
		f.lacks(&DaemonError{
			Host: h.URL, Text: fmt.Sprintf("its machine has %s, but the hardware %q says %d", cpuCount(h.CPUs), hw.Name,
				threads),
			Hint: fmt.Sprintf("write threads = %d at most, in %s", h.CPUs, hw.Place),
		})
	}
}

func cpuCount(n int) string {
	if n == 1 {
		return "1 CPU"
	}
	return fmt.Sprintf("%d CPUs", n)
}

// find returns the ID of an image; "" if it is missing.
func (f *imageFinder) find(ctx context.Context, h *Host, need engine.ImageNeed) string {
	s := settingsOf(need.Hardware)
	at := imageOn{h.URL, need.Image, s.Platform}
	id, known := f.ids[at]
	if known {
		return id
	}
	pull := PullNever
	if f.fetch {
		pull = Pull(s.Pull)
	}
	id, err := h.Image(ctx, need.Image, pull, s.Platform)
	if err != nil {
		f.lacks(err)
	}
	f.ids[at] = id
	return id
}

func (f *imageFinder) close() {
	for _, h := range f.hosts {
		if h != nil {
			h.Close()
		}
	}
}

// readPull reads the messages of a pull to its end. It returns an error if one of them says that the pull has
// failed.
func readPull(r io.Reader) error {
	d := json.NewDecoder(r)
	for {
		var m struct {
			Error string `json:"error"`
		}
		switch err := d.Decode(&m); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case m.Error != "":
			return errors.New(m.Error)
		}
	}
}
