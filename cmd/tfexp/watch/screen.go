package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/tfexp/tfexp/cmd/tfexp/live"
)

// every is the time between two reads of the folder.
const every = 500 * time.Millisecond

// PrintScreen prints the screen once, for output that is not a terminal.
func PrintScreen(w io.Writer, results *Folder, width int) error {
	m := &screenModel{results: results}
	v := m.look("", "")
	if v.trouble != nil {
		return v.trouble
	}
	if v.chosen < len(v.all) { // the answer, which the screen reads in the background
		x := &v.all[v.chosen]
		if dir, err := results.Path(x.Name); err == nil && x.Answer == nil && x.Finished+x.Failed > 0 {
			x.Answer = readHeadline(dir)
		}
	}
	const height = 40
	rows := v.draw(width, height)
	_, err := fmt.Fprintln(w, strings.Join(rows[:len(rows)-1], "\n")) // without the line about keys
	return err
}

// ShowScreen shows the screen on the terminal until the user quits or ctx is done.
func ShowScreen(ctx context.Context, out io.Writer, results *Folder, color bool) error {
	m := &screenModel{results: results, width: 80, height: 24}
	m.view.color = color
	options := []tea.ProgramOption{tea.WithContext(ctx), tea.WithOutput(out),
		tea.WithFilter(func(_ tea.Model, message tea.Msg) tea.Msg {
			if size, ok := message.(tea.WindowSizeMsg); ok {
				return tea.WindowSizeMsg{Width: min(size.Width, mostWidth), Height: min(size.Height, mostHeight)}
			}
			return message
		})}
	if size := live.TerminalSize(out); size != nil {
		// Hide the terminal's file, so that the library cannot read the giant size.
		if width, height := size(); width > mostWidth || height > mostHeight {
			options = append(options, tea.WithOutput(struct{ io.Writer }{out}),
				tea.WithWindowSize(min(width, mostWidth), min(height, mostHeight)))
		}
	}
	_, err := tea.NewProgram(m, options...).Run()
	if errors.Is(err, tea.ErrInterrupted) || errors.Is(err, tea.ErrProgramKilled) {
		return nil
	}
	return err
}

// screenModel is the state of the screen.
type screenModel struct {
	results       *Folder
	view          screenView
	name, cell    string // the user's choice; if empty, the running experiment or cell is shown
	width, height int
}

// folderRead is the message that the folder was read.
type folderRead screenView

// Init implements tea.Model.
func (m *screenModel) Init() tea.Cmd { return m.read(0) }

// read reads the folder in the background, after a delay.
func (m *screenModel) read(after time.Duration) tea.Cmd {
	name, cell := m.name, m.cell
	return tea.Tick(after, func(time.Time) tea.Msg { return folderRead(m.look(name, cell)) })
}

// look reads all experiments, and one cell of the experiment with this name. An empty name selects the running
// experiment.
func (m *screenModel) look(name, cell string) screenView {
	v := screenView{dir: m.results.Dir}
	var err error
	if v.all, err = m.results.Experiments(); err != nil {
		v.trouble = err
		return v
	}
	for i, x := range v.all {
		if x.Name == name || name == "" && x.State == "running" {
			v.chosen = i
			break
		}
	}
	if len(v.all) == 0 {
		return v
	}
	v.cell, err = m.results.Cell(v.all[v.chosen].Name, cell)
	if err != nil && !errors.Is(err, ErrUnknown) {
		v.trouble = err
	}
	return v
}

// Update implements tea.Model.
func (m *screenModel) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := message.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case folderRead:
		color, scroll := m.view.color, m.view.scroll
		m.view = screenView(msg)
		m.view.color, m.view.scroll, m.view.asked = color, scroll, m.cell != ""
		return m, m.read(every)
	case tea.KeyPressMsg:
		return m, m.key(msg.String())
	}
	return m, nil
}

func (m *screenModel) key(key string) tea.Cmd {
	switch key {
	case "q", "ctrl+c":
		return tea.Quit
	case "up", "k":
		m.choose(-1)
	case "down", "j":
		m.choose(1)
	case "left", "h":
		m.other(-1)
	case "right", "l":
		m.other(1)
	case "esc":
		m.cell, m.view.asked = "", false
	case "pgdown", "space":
		m.view.scroll += 10
	case "pgup", "b":
		m.view.scroll = max(0, m.view.scroll-10)
	}
	return nil
}

// choose selects the experiment by places further in the list.
func (m *screenModel) choose(by int) {
	if n := len(m.view.all); n > 0 {
		m.view.chosen = max(0, min(n-1, m.view.chosen+by))
		m.name, m.cell, m.view.scroll = m.view.all[m.view.chosen].Name, "", 0
	}
}

// other selects the cell by places further in the order of the plan.
func (m *screenModel) other(by int) {
	if m.view.cell == nil {
		return
	}
	name := m.view.all[m.view.chosen].Name
	_, rows, _, err := m.results.Experiment(name)
	if err != nil {
		return
	}
	at := m.cell
	if at == "" {
		at = m.view.cell.Cell
	}
	for i, r := range rows {
		if r.Cell == at {
			m.name, m.cell, m.view.scroll = name, rows[max(0, min(len(rows)-1, i+by))].Cell, 0
			return
		}
	}
}

// View implements tea.Model.
func (m *screenModel) View() tea.View {
	v := tea.NewView(strings.Join(m.view.draw(m.width, m.height), "\n"))
	v.AltScreen = true
	return v
}
