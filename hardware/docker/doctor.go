package docker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tfexp/tfexp/hardware"
)

// checkLimit is how long CheckDaemon waits for the daemon.
const checkLimit = 5 * time.Second

// CheckDaemon checks whether experiments can run in containers: the daemon of the docker command answers, and no
// containers were left behind. inUse reports whether a tfexp works in a folder of results.
func CheckDaemon(ctx context.Context, inUse func(folder string) bool) hardware.Check {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	c := hardware.Check{Name: "docker", Status: hardware.OK}
	h, err := Connect(ctx, "")
	if err != nil {
		c.Status, c.Text = hardware.Warn, err.Error()+": experiments in containers cannot run"
		var own *DaemonError
		if errors.As(err, &own) {
			c.Hint = own.Hint
		}
		return c
	}
	defer h.Close()
	c.Text = fmt.Sprintf("Docker %s (API %s) at %s, %d CPUs", h.Version, h.API, h.URL, h.CPUs)
	all, err := h.Containers(ctx, "")
	if err != nil {
		c.Status, c.Text = hardware.Warn, c.Text+"; the containers cannot be listed: "+err.Error()
		return c
	}
	left, folder := 0, ""
	for _, l := range all {
		if !inUse(l.Folder) {
			left, folder = left+1, l.Folder
		}
	}
	if left > 0 {
		c.Status = hardware.Warn
		c.Text += fmt.Sprintf("; %d containers of a run that was killed are left, of %s", left, folder)
		c.Hint = fmt.Sprintf("they are removed when an experiment next runs with the same --out; at once: "+
			"docker rm -f $(docker ps -aq --filter label=%s=%s)", LabelFolder, folder)
	}
	return c
}
