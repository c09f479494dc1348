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
	sum        string
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
			o.there, o.version, o.body, o.mark, o.sum = true, o.version+1, "1.1\n", "1.1", ""
		}
		match := r.Header.Get("If-Match")
		if r.Header.Get("If-None-Match") == "*" && o.there || match != "" && match != fmt.Sprintf(`"%d"`, o.version) {
			w.WriteHeader(http.StatusPreconditionFailed)
			fmt.Fprint(w, xmlHead+`<Error><Code>PreconditionFailed</Code></Error>`)
			return
		}
		data, _ := io.ReadAll(r.Body)
		o.there, o.body, o.mark = true, string(data), r.Header.Get("X-Amz-Meta-Braid-Latest")
		o.sum = r.Header.Get("X-Amz-Meta-Braid-Latest-Sha256")
		o.version++
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, o.version))
	case o.there && strings.HasSuffix(r.URL.Path, "tool.latest"):
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, o.version))
		w.Header().Set("Last-Modified", "Mon, 02 Nov 2026 10:00:00 GMT")
		if o.mark != "" {
			w.Header().Set("X-Amz-Meta-Braid-Latest", o.mark)
			if o.sum != "" {
				w.Header().Set("X-Amz-Meta-Braid-Latest-Sha256", o.sum)
			}
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

// TestLatestDamaged_Rule80 checks that an object of a link whose content does not match its metadata is neither used
// nor replaced.
func TestLatestDamaged_Rule80(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(*shelf){
		"torn": func(o *shelf) { o.body = "1." }, "empty": func(o *shelf) { o.body = "" },
		"changed": func(o *shelf) { o.body, o.mark = "9.9\n", "9.9" }, "other text": func(o *shelf) { o.mark = "9.9" },
	} {
		o := &shelf{}
		s := against(t, o.serve)
		if err := s.SetLatest(t.Context(), "tool.latest", "1.0"); err != nil {
			t.Fatal(err)
		}
		damage(o)
		if got, err := s.Latest(t.Context(), "tool.latest"); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if err := s.SetLatest(t.Context(), "tool.latest", "1.1"); err == nil || o.version != 1 {
			t.Errorf("%s: replaced: %v", name, err)
		}
	}
}
