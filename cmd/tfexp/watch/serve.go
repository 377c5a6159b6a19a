package watch

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/filearg"
	"github.com/tfexp/tfexp/cmd/tfexp/flags"
	"github.com/tfexp/tfexp/cmd/tfexp/states"
)

//go:embed help
var helpTexts embed.FS

const about = `"tfexp serve" and "tfexp top", in another terminal, show more of a run than its own
lines do.`

func init() {
	command.Register(command.GroupLook, serveCommand)
	command.Register(command.GroupLook, topCommand)
	command.RegisterRun(func(*command.App) command.RunExtension { return command.RunExtension{About: about} })
	states.RegisterFollower(func(dir string) states.Follower { return NewFolder(dir).complete })
}

// pageFlag is the function of a flag that a feature adds (flags.Flag). It returns a page of the server for a file, with
// the page's path.
type pageFlag = func(ctx context.Context, a *command.App, file string) (path string, page http.Handler, err error)

// defaultPort is the port of the page. It is fixed so that users can bookmark the page.
const defaultPort = 8385

func serveCommand(a *command.App) *cobra.Command {
	var port int
	var open bool
	var pages []*flags.Given[pageFlag]
	cmd := &cobra.Command{
		Use:   "serve [DIR] [--port N] [--open]",
		Short: "Show runs in the browser while they go on",
		Long:  command.Help(helpTexts, "serve", "{port}", fmt.Sprint(defaultPort)),
		Example: `  tfexp serve --open
  tfexp serve /tmp/results --port 0`,
		Args:              command.Between(0, 1, ""),
		ValidArgsFunction: command.CompleteDir,
		RunE: func(_ *cobra.Command, args []string) error {
			if port < 0 || port > 65535 {
				return command.Usagef("0 chooses a free one", "--port is %d: a port is a number up to 65535", port)
			}
			dir := command.DirArgument(args)
			if len(args) > 0 && command.Exists(dir) && !filearg.IsDir(dir) {
				return command.NoResults(dir)
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			options := WebOptions{Version: command.ThisBuild().Version}
			for _, f := range pages {
				if f.Value == "" {
					continue
				}
				path, page, err := f.Do(ctx, a, f.Value)
				if err != nil {
					return err
				}
				if options.Pages == nil {
					options.Pages = map[string]http.Handler{}
				}
				options.Pages[path] = page
			}
			return serve(ctx, a, dir, port, open, options)
		},
	}
	cmd.Flags().IntVar(&port, "port", defaultPort, "port of the page; 0 chooses a free one")
	cmd.Flags().BoolVar(&open, "open", false, "open the page in a browser")
	pages = flags.Add[pageFlag](cmd)
	return cmd
}

func serve(ctx context.Context, a *command.App, dir string, port int, open bool, options WebOptions) error {
	on, err := Listen(port)
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
		return &command.Error{Code: command.ExitInternal, Err: fmt.Errorf("open port %d of this machine: %w", port, err), Hint: hint}
	}
	address := Address(on)
	fmt.Fprintf(a.Out, "%s shows %s (Ctrl-C ends it)\n", address, dir)
	if open {
		if err := browse(address); err != nil {
			fmt.Fprintf(a.Err, "the browser cannot be started: %v\n", err)
		}
	}
	return Serve(ctx, on, WebHandler(NewFolder(dir), options))
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
	go c.Wait() // the program may run as long as the browser
	return nil
}
