package kubernetes

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// The rest of a log is waited for as long as pieces of it arrive. If none arrives, the log is not complete.
func TestRestOfALog(t *testing.T) {
	for pieces, want := range map[int]bool{10: true, 0: false} {
		synctest.Test(t, func(t *testing.T) {
			o := &output{copied: make(chan error, 1)}
			ctx, cancel := context.WithCancel(t.Context())
			o.stop = cancel
			copied := o.copied
			go func() {
				for range pieces {
					time.Sleep(endPatience - time.Second)
					o.got.Add(1)
				}
				if pieces == 0 {
					<-ctx.Done()
				}
				copied <- nil
			}()
			if err := o.finish(endPatience); (err == nil) != want {
				t.Errorf("after %d pieces: %v", pieces, err)
			}
		})
	}
}
