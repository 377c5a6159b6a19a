package table

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// FuzzRecords: files with and without quotes are read as by encoding/csv. A stray quote may or may not be an error.
func FuzzRecords(f *testing.F) {
	for _, s := range []string{
		"a,b\n1,2\n3,4", "a,b\r\n1,2\r\n", "a,b\n\n1,2\n", "a,b\n\"1\n,1\",2\n3,4\n\"\",5\n", "a\n1,2\n", "",
		"a,b\n,\n", "a,b\n" + strings.Repeat("x", 1<<17) + ",2\n3,4\n", "a,b\n1,\"", "a,b\n1,2\n1,2,3\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r") {
			return // encoding/csv treats some carriage returns differently
		}
		in := &records{in: bufio.NewReaderSize(strings.NewReader(text), 16)}
		want := csv.NewReader(strings.NewReader(text))
		for n := 0; ; n++ {
			w, werr := want.Read()
			got, err := in.next()
			if n == 0 {
				in.width = len(got)
			}
			if (err == nil) != (werr == nil) || errors.Is(err, io.EOF) != errors.Is(werr, io.EOF) {
				t.Fatalf("record %d: error %v instead of %v", n, err, werr)
			}
			if err != nil {
				return
			}
			if !reflect.DeepEqual(got, w) {
				t.Fatalf("record %d: %q instead of %q", n, got, w)
			}
		}
	})
}

// TestStep: every step-th row is read, whether or not lines hold quotes.
func TestStep(t *testing.T) {
	for _, quote := range []string{"", `"`} {
		text := "t_s,cores_held\n"
		for i := range 10 {
			text += quote + strconv.Itoa(i) + quote + ",1\n"
		}
		type instant struct {
			At float64 `csv:"t_s,time"`
		}
		var got []float64
		err := NewSchema[instant]("", nil).Each(strings.NewReader(text), "test", 3, func(i *instant) bool {
			got = append(got, i.At)
			return true
		})
		if err != nil || !slices.Equal(got, []float64{0, 3, 6, 9}) {
			t.Errorf("%v, %v", got, err)
		}
	}
}
