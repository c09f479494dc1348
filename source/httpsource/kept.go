package httpsource

import (
	"net/http"
	"strings"

	"braid/verify"
)

// keptFields are the fields that are read after the answer was judged, in canonical form. Responses with redirects, and
// the last response of each failed source, stay in memory until the download ends, without their other fields.
var keptFields = append([]string{
	"Digest", "Repr-Digest", "Content-Digest", "Want-Digest", "Want-Repr-Digest", "Content-Type", "Content-Encoding",
	"Content-Length",
	"Content-Range", "Content-Disposition", "Accept-Ranges", "Etag", "Last-Modified", "Date", "Link",
}, verify.StoreFieldNames()...)

// mostKept limits the size of the fields that are kept of a mirror's response (rule 20). A mirror's Links are not used,
// and its digest, type and validators take some hundred bytes.
const mostKept = 4 << 10

// kept returns a copy of the fields of h that are read later. For a mirror, fields beyond mostKept are omitted.
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
		k[name] = make([]string, len(values)) // net/http's slice shares its memory with the other fields
		for i, v := range values {
			k[name][i] = strings.Clone(v)
		}
	}
	return k
}

// fieldCost is the number of bytes of memory that a value needs in addition to its text.
const fieldCost = 16
