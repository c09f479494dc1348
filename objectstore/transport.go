package objectstore

import (
	"errors"
	"io"
	"net/http"
)

// mostAnswer limits the size of a response in bytes, except that of an object. A page with a thousand entries is less
// than a tenth of that.
const mostAnswer = 16 << 20

// mostPages limits the pages of a listing. A page has up to a thousand entries.
const mostPages = 1000

var (
	errLongAnswer = errors.New("the response is endless")
	errEndless    = errors.New("the listing is endless, or repeats itself")
)

// ifMatch is the context key of the If-Match field of a DELETE request: the library has no option for this field.
type ifMatch struct{}

// A bounded is a RoundTripper that limits responses other than objects to mostAnswer bytes. It adds If-Match to a DELETE.
type bounded struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(q *http.Request) (*http.Response, error) {
	if tag, ok := q.Context().Value(ifMatch{}).(string); ok && q.Method == http.MethodDelete {
		q = q.Clone(q.Context())
		q.Header.Set("If-Match", tag)
	}
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
