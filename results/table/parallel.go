package table

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// blockRows is how many rows are put into words at once.
const blockRows = 1024

// AddAll writes n rows and the values of the extra columns, as Add would one after the other. Many rows are
// formatted on all cores: fill, which sets the row of a number, is called for several at the same time. Fields that
// fill does not set keep their earlier values.
func (t *writer[T]) AddAll(n int, fill func(i int, row *T), extra []string) error {
	blocks := (n + blockRows - 1) / blockRows
	turns := make([]chan struct{}, blocks+1) // closed when it is the block's turn to be written
	for k := range turns {
		turns[k] = make(chan struct{})
	}
	var (
		taken   atomic.Int64
		failed  error // of whose turn it is
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
