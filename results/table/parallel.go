package table

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// blockRows is the number of rows that one goroutine formats at a time.
const blockRows = 1024

// AddAll writes n rows with the values of the extra columns. The output is the same as of n calls of Add. The rows are
// formatted on all cores: several goroutines call fill, which sets the i-th row, at the same time. Fields that fill
// does not set keep the values of an earlier row.
func (t *writer[T]) AddAll(n int, fill func(i int, row *T), extra []string) error {
	blocks := (n + blockRows - 1) / blockRows
	turns := make([]chan struct{}, blocks+1) // turns[i] is closed when block i may be written
	for k := range turns {
		turns[k] = make(chan struct{})
	}
	var (
		taken   atomic.Int64
		failed  error // only the goroutine whose turn it is may use it
		workers sync.WaitGroup
	)
	for range min(blocks, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			var row T
			var b []byte
			for k := int(taken.Add(1)) - 1; k < blocks; k = int(taken.Add(1)) - 1 {
				b = b[:0]
				for i := k * blockRows; i < min(n, (k+1)*blockRows); i++ {
					fill(i, &row)
					b = t.append(b, unsafe.Pointer(&row), extra)
				}
				<-turns[k]
				if failed == nil {
					_, failed = t.w.Write(b)
				}
				close(turns[k+1])
			}
		})
	}
	close(turns[0])
	workers.Wait()
	return failed
}
