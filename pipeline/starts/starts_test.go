package starts

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/tfexp/tfexp/pipeline/decode"
	_ "github.com/tfexp/tfexp/stages/all"
)

func TestTry(t *testing.T) {
	spec, problems := decode.File(os.Getenv("WHEN"), decode.Options{})
	if spec == nil {
		t.Fatal(problems)
	}
	tw, err := New(spec.Cells[0])
	if err != nil {
		t.Fatal(err)
	}
	n := 100
	fmt.Sscan(os.Getenv("TRIALS"), &n)
	began := time.Now()
	b, err := tw.Backtest(context.Background(), Options{Futures: 160, Trials: n, Seed: 1}.Complete(tw))
	if os.Getenv("LIST") != "" {
		for _, x := range b.Trials {
			fmt.Printf("%s %.0f actual %.0f raw %.0f cal %.0f req %.0f\n", x.Job, x.At.Seconds(), x.Actual, x.Raw.Seconds, x.Forecast.Seconds, x.Raw.Requested)
		}
	}
	b.Trials = nil
	fmt.Printf("%+v %v %s\n", b, err, time.Since(began))
}
