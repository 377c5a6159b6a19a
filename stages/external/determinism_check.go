package external

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/tfexp/tfexp/stages"
)

// determinismChecked has the programs that were checked, by command and settings.
var determinismChecked sync.Map

// checkDeterminism sends the same messages to a second process, once for each program. It describes the first answer
// that differs; empty if all are the same.
func (d *programAdmitter) checkDeterminism(ctx context.Context, t *stages.Task) string {
	_, before := determinismChecked.LoadOrStore(fmt.Sprint(t.Base, t.Policy.Settings), true)
	if before || len(d.transcript.exchanges) == 0 {
		return ""
	}
	proc, err := startProcess(ctx, t)
	if err != nil {
		return fmt.Sprintf("a second process of its program was sent the same messages: %v", err)
	}
	defer func() {
		proc.kill("")
		proc.waitForExit(exitPatience)
	}()
	for i, said := range d.transcript.exchanges {
		answer, err := proc.roundTrip(said[0])
		switch {
		case ctx.Err() != nil:
			return ""
		case err != nil:
			return fmt.Sprintf("a second process of its program was sent the same messages: %v", err)
		case !bytes.Equal(answer, said[1]):
			return fmt.Sprintf("its program answers differently to the same events: message %d had the answer %s, and a second "+
				"time %s; draw random numbers from the seed in its first message, and use nothing but the messages", i+1,
				excerpt(said[1]), excerpt(answer))
		}
	}
	return ""
}
