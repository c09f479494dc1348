package httpsource

import (
	"net/http"
	"strings"

	"braid/verify"
)

// keptFields are the fields that are read after the answer was judged, in canonical form. An answer to a redirect is
// kept until the download ends, and so is the last answer of each source that failed: what nothing reads is not kept
// with it.
var keptFields = append([]string{
	"Digest", "Repr-Digest", "Content-Digest", "Want-Digest", "Want-Repr-Digest", "Content-Type", "Content-Encoding", "Content-Length",
	"Content-Range", "Content-Disposition", "Accept-Ranges", "Etag", "Last-Modified", "Date", "Link",
}, verify.StoreFieldNames()...)

// mostKept is how many bytes of the fields of one of a mirror's answers are kept (rule 20). A mirror's Links are not
// used, and its digest, type and validators take some hundred bytes.
const mostKept = 4 << 10

// kept returns a copy of those fields of h that are read later. Of a mirror's answer those that are too long are left out.
func kept(h http.Header, mirror bool) http.Header {
	k, n := http.Header{}, 0
	for _, name := range keptFields {
		values := h[name]
		if len(values) == 0 {
			continue
		}
		size := 0
		for _, v := range values {
			size += len(v) + fieldCost
		}
		if mirror && n+size > mostKept {
			continue
		}
		n += size
		k[name] = make([]string, len(values)) // a slice of net/http's shares its memory with the other fields
		for i, v := range values {
			k[name][i] = strings.Clone(v)
		}
	}
	return k
}

// fieldCost is what a value takes beside its bytes.
const fieldCost = 16
