package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/live"
)

// defaultPort is where the page is, so that it can be kept as a bookmark.
const defaultPort = 8385

func (a *app) serveCommand() *cobra.Command {
	var port int
	var open bool
	var twin string
	cmd := &cobra.Command{
		Use:   "serve [DIR] [--port N] [--open] [--starts FILE]",
		Short: "Show runs in the browser while they go on",
		Long:  help("serve", "{port}", fmt.Sprint(defaultPort)),
		Example: `  tfexp serve --open
  tfexp serve /tmp/results --port 0
  tfexp serve --starts twin.hcl`,
		Args:              Between(0, 1, ""),
		ValidArgsFunction: CompleteDir,
		RunE: func(_ *cobra.Command, args []string) error {
			if port < 0 || port > 65535 {
				return Usagef("0 chooses a free one", "--port is %d: a port is a number up to 65535", port)
			}
			dir := DirArgument(args)
			if len(args) > 0 && Exists(dir) && !IsDir(dir) {
				return NoResults(dir)
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			options := live.WindowOptions{Version: ThisBuild().Version}
			if twin != "" {
				page, err := a.startsPage(ctx, twin)
				if err != nil {
					return err
				}
				options.Pages = map[string]http.Handler{"/starts": page}
			}
			return a.serve(ctx, dir, port, open, options)
		},
	}
	cmd.Flags().IntVar(&port, "port", defaultPort, "port of the page; 0 chooses a free one")
	cmd.Flags().BoolVar(&open, "open", false, "open the page in a browser")
	cmd.Flags().StringVar(&twin, "starts", "", "also show, at /starts, when the waiting jobs of the Slurm controller will start, by the twin in a `FILE`")
	return cmd
}

func (a *app) serve(ctx context.Context, dir string, port int, open bool, options live.WindowOptions) error {
	on, err := live.Listen(port)
	if err != nil {
		hint := ""
		switch {
		case errors.Is(err, syscall.EADDRINUSE):
			hint = "perhaps another \"tfexp serve\" has it: choose another with --port, or a free one with --port 0"
		case errors.Is(err, syscall.EACCES):
			hint = "choose a port from 1024 on with --port, or a free one with --port 0"
		case errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.EAFNOSUPPORT):
			hint = "this machine has neither 127.0.0.1 nor ::1: \"ip address show lo\" lists the addresses of its loopback"
		}
		return &Error{Code: ExitInternal, Err: fmt.Errorf("open port %d of this machine: %w", port, err), Hint: hint}
	}
	address := live.Address(on)
	fmt.Fprintf(a.Out, "%s shows %s (Ctrl-C ends it)\n", address, dir)
	if open {
		if err := browse(address); err != nil {
			fmt.Fprintf(a.Err, "the browser cannot be started: %v\n", err)
		}
	}
	return live.Serve(ctx, on, live.WindowHandler(live.NewWatch(dir), options))
}

// browse opens an address in the user's browser.
func browse(address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	c := exec.Command(name, args...)
	if err := c.Start(); err != nil {
		return err
	}
	go c.Wait() // it may stay as long as the browser
	return nil
}
