package docker

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/docker/docker/client"
)

// maxResponse is the greatest length of a daemon's response in bytes. Ten thousand containers take 20 MB. Logs are
// read piece by piece, without this limit.
const maxResponse = 32 << 20

// limitResponses makes a client refuse responses longer than maxResponse. The client's library cannot use another
// transport and keep its encryption, so the transport is wrapped.
func (h *Host) limitResponses(c *client.Client) error {
	outer, ok := c.HTTPClient().Transport.(*http.Transport)
	if !ok {
		return fmt.Errorf("the client of Docker has a transport of type %T", c.HTTPClient().Transport)
	}
	h.inner = outer.Clone()
	outer.RegisterProtocol("http", limitedTransport{h.inner})
	outer.RegisterProtocol("https", limitedTransport{h.inner})
	return nil
}

// limitedTransport makes requests, and limits the bodies of responses.
type limitedTransport struct{ *http.Transport }

func (t limitedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.Transport.RoundTrip(r)
	if err == nil && !strings.HasSuffix(r.URL.Path, "/logs") {
		answer.Body = &limitedBody{answer.Body, r.Method + " " + r.URL.Path, maxResponse}
	}
	return answer, err
}

// limitedBody returns an error once more than left bytes have been read.
type limitedBody struct {
	io.ReadCloser
	request string
	left    int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("its answer to %s is longer than %d MiB", b.request, maxResponse>>20)
	}
	return n, err
}
