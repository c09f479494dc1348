package serve

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"braid/byterange"
)

// maxRanges is the maximum number of ranges in one answer: "A server that supports range requests MAY ignore or reject
// a Range header field that contains [...] many small ranges" (RFC 9110, section 14.2).
const maxRanges = 64

// dateHolds reports whether a date in If-Range, if there is one, may be compared. A date is a strong validator only if
// the server "reliably knows that the associated representation did not change twice during the second covered by the
// presented validator" (RFC 9110, section 8.8.2.2). No server knows that before the second is over. A condition with
// such a date is false (section 13.1.5).
func dateHolds(r *http.Request, now time.Time) bool {
	date, err := http.ParseTime(r.Header.Get("If-Range"))
	return err != nil || !now.Before(date.Add(time.Second))
}

// withRanges returns r with a Range field that package http handles as RFC 9110 requires. It removes a field that must
// be ignored: its unit is not bytes (section 14.2), or it is malformed. A field that selects no existing byte is
// replaced by one that results in a 416. For HEAD the field is removed, so that the answer is that of a GET of the
// whole file (V3): "GET is the only method" that ranges are defined for (section 14.2).
func withRanges(r *http.Request, size int64) *http.Request {
	fields := r.Header["Range"]
	if len(fields) == 0 {
		return r
	}
	r = r.Clone(r.Context())
	r.Header.Del("Range")
	if r.Method == http.MethodHead {
		return r
	}
	ranges, err := byterange.ParseRange(strings.Join(fields, ","), size)
	switch {
	case errors.Is(err, byterange.ErrUnsatisfiable):
		r.Header.Set("Range", byterange.Range{Start: size, End: byterange.Unbounded}.Field())
	case err == nil && len(ranges) <= maxRanges:
		var specs []string
		for _, part := range ranges {
			specs = append(specs, part.String())
		}
		r.Header.Set("Range", "bytes="+strings.Join(specs, ","))
	}
	return r
}
