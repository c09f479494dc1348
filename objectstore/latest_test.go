package objectstore

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// A shelf has one object. others is the number of the next PUTs that another process precedes by its own.
type shelf struct {
	mu         sync.Mutex
	there      bool
	body, mark string
	version    int
	others     int
}

func (o *shelf) serve(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case r.URL.Query().Has("location"), r.URL.Query().Has("uploads"):
		fmt.Fprint(w, xmlHead+`<X></X>`)
	case r.Method == http.MethodPut && r.URL.Path == "/bucket/isos/tool.latest":
		if o.others > 0 {
			o.others--
			o.there, o.version, o.body, o.mark = true, o.version+1, "1.1\n", "1.1"
		}
		match := r.Header.Get("If-Match")
		if r.Header.Get("If-None-Match") == "*" && o.there || match != "" && match != fmt.Sprintf(`"%d"`, o.version) {
			w.WriteHeader(http.StatusPreconditionFailed)
			fmt.Fprint(w, xmlHead+`<Error><Code>PreconditionFailed</Code></Error>`)
			return
		}
		data, _ := io.ReadAll(r.Body)
		o.there, o.body, o.mark = true, string(data), r.Header.Get("X-Amz-Meta-Braid-Latest")
		o.version++
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, o.version))
	case o.there && strings.HasSuffix(r.URL.Path, "tool.latest"):
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, o.version))
		w.Header().Set("Last-Modified", "Mon, 02 Nov 2026 10:00:00 GMT")
		if o.mark != "" {
			w.Header().Set("X-Amz-Meta-Braid-Latest", o.mark)
		}
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(o.body))
	default:
		w.WriteHeader(http.StatusNotFound)
		if r.Method != http.MethodHead {
			fmt.Fprint(w, xmlHead+`<Error><Code>NoSuchKey</Code></Error>`)
		}
	}
}

// TestLatest_Rule80: the object of a link has the last version, is written again only if it changes, and an object of
// another program stays.
func TestLatest_Rule80(t *testing.T) {
	t.Parallel()
	o := &shelf{}
	s := against(t, o.serve)
	for i, version := range []string{"1.0", "1.0", "1.1", "1.2"} {
		if version == "1.2" {
			o.others = 2
		}
		if err := s.SetLatest(t.Context(), "tool.latest", version); err != nil {
			t.Fatal(i, err)
		}
		if got, err := s.Latest(t.Context(), "tool.latest"); got != version || err != nil || o.body != version+"\n" {
			t.Errorf("%s: %q, %q, %v", version, got, o.body, err)
		}
	}
	if o.version != 5 { // 1.0, 1.1, twice another process, 1.2
		t.Errorf("the object was written %d times", o.version)
	}
	isOlder := func(than string) bool { return than > "1.1" }
	if err := s.RaiseLatest(t.Context(), "tool.latest", "1.1", isOlder); err != nil || o.body != "1.2\n" {
		t.Errorf("an older version: %v, %q", err, o.body)
	}
	o.body, o.mark = "mine", ""
	if err := s.SetLatest(t.Context(), "tool.latest", "1.3"); err == nil || o.body != "mine" {
		t.Errorf("an object of another program: %v, %q", err, o.body)
	}
	if _, err := s.Latest(t.Context(), "tool.latest"); err == nil {
		t.Error("it was taken for a link")
	}
}
