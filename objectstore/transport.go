package objectstore

import (
	"errors"
	"io"
	"net/http"
)

// mostAnswer is how long an answer may be that is no object. A thousand entries of a listing are less than a tenth of it.
const mostAnswer = 16 << 20

// mostPages is how many answers a listing may have, of a thousand entries each.
const mostPages = 1000

var (
	errLongAnswer = errors.New("the answer has no end")
	errEndless    = errors.New("the listing has no end, or leads back to where it was")
)

// A bounded transport ends answers that are no objects after mostAnswer bytes.
type bounded struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(q *http.Request) (*http.Response, error) {
	r, err := b.RoundTripper.RoundTrip(q)
	if err == nil && (q.Method != http.MethodGet || q.URL.RawQuery != "") {
		r.Body = &boundedBody{r.Body, mostAnswer}
	}
	return r, err
}

type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLongAnswer
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
