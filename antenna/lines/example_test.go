package lines_test

import (
	"fmt"
	"io"
	"strings"

	"braid/antenna/feed"
	"braid/antenna/lines"
)

// Lines end where agents end them.
func ExampleScanner() {
	s := lines.NewScanner(strings.NewReader("one\r\ntwo\nthr"), feed.Limits{})
	for {
		l, err := s.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(l.Number, string(l.Raw), l.End)
	}
	// Output:
	// 1 one crlf
	// 2 two lf
	// 3 thr
}
