package download_test

import (
	"net/http"
	"strings"
	"testing"

	"braid/internal/lookup"
	"braid/verify"
)

// indexOf returns an index page of the folder.
func indexOf(names ...string) http.Handler {
	return text("<html><title>Index of /pub/</title><a href=\"" + strings.Join(names, "\">x</a><a href=\"") + "\">x</a>")
}

// TestOpposedListAsked: the list that a contradiction came from is asked for, although the index of the folder is gone, or
// has other lists before it.
func TestOpposedListAsked_Rule77(t *testing.T) {
	t.Parallel()
	right, wrong := made(mib, 1), made(mib, 2)
	const list = "disk-1.0-SHA256SUMS"
	o := newOpposing(t, map[string]string{list: sumLine(right)}, stating(wrong))
	o.put("", indexOf("disk.iso", list))
	o.refuses("the list of the index")
	o.put("", nil)
	o.refuses("no index")
	more := []string{"disk.iso"}
	for _, name := range []string{"disk-1.0-sha512sums.txt", "disk-1.1-sha512sums.txt", "disk-1.2-sha512sums.txt",
		"disk-1.3-sha512sums.txt"} {
		o.put(name, text(sum512("other")+"  other.iso\n"))
		more = append(more, name)
	}
	o.put("", indexOf(append(more, list)...))
	o.refuses("more lists")
}

// TestOpposedServedElsewhere: a contradiction is over if the server itself has the file where no list can be beside it.
func TestOpposedServedElsewhere_Rule77(t *testing.T) {
	t.Parallel()
	right, old := made(mib, 1), made(mib, 2)
	o := newOpposing(t, map[string]string{"SHA256SUMS": sumLine(old)}, stating(right))
	o.refuses("the stale list")
	o.put("disk.iso", http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.RawQuery == "" {
			http.Redirect(w, q, q.URL.Path+"?v=2", http.StatusFound)
			return
		}
		plain(right).ServeHTTP(w, q)
	}))
	o.accepts("the server's own file")
}

// TestOpposedByFeed: the digest that a feed published does not count any more once the feed has none, although the lookup
// gets no answer.
func TestOpposedByFeed_Rule81(t *testing.T) {
	t.Parallel()
	right, old := made(mib, 1), made(mib, 2)
	o := newOpposing(t, nil, stating(right))
	d, err := verify.ParseHex(verify.SHA256, sum256(string(old)))
	if err != nil {
		t.Fatal(err)
	}
	o.req.Published.Claims = []verify.Claim{{Digest: d, Field: lookup.FieldOfFeed("news"), Channel: verify.HTTP}}
	o.refuses("the stale feed")
	o.req.Published.Claims = nil
	o.put("", status(http.StatusForbidden))
	o.accepts("the feed without a digest")
}
