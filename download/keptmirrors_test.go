package download_test

import (
	"net/http"
	"strings"
	"testing"

	"braid/internal/test/mirrortest"
)

// Proves rules 39 and 40 for mirrors without a URL in the journal, because it has secrets (rule 62) or is
// long: a download that is resumed after a repair asks them.
func TestRepairAsksMaskedMirrors_Rule39_Rule40(t *testing.T) {
	t.Parallel()
	const size = 6 * mib // too small to request a document before
	right := made(size, 7)
	for name, query := range map[string]string{"a query": "?token=x", "a long one": "?" + strings.Repeat("x", 400)} {
		linked := func(origin, mirror *mirrortest.Server) {
			origin.Set(mirrortest.Link("<" + mirror.URL + query + ">; rel=duplicate"))
		}
		t.Run(name+", of a download", func(t *testing.T) {
			t.Parallel()
			mirror := sized(t, size, mirrortest.Rate(8*mib))
			origin := described(t, size, right)
			linked(origin, mirror)
			origin.Set(mirrortest.Rate(8*mib), mirrortest.Corrupt(marks(mib, size)...))
			r := newRun(t, origin.URL)
			res := r.right(mirror.Content)
			banned(t, res, origin, mirror)
		})
		t.Run(name+", of a file", func(t *testing.T) {
			t.Parallel()
			mirror := sized(t, size)
			origin := described(t, size, right)
			linked(origin, mirror)
			origin.Set(mirrortest.When(func(q *http.Request) bool {
				return q.Method == http.MethodGet && !strings.HasSuffix(q.URL.Path, ".meta4")
			},
				mirrortest.Status(503)))
			r := newRun(t, origin.URL)
			r.client.Tries = 2
			r.onDisk(changed(right, 0))
			r.repaired(mirror.Content, piece)
		})
	}
}
