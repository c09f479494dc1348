package objectstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"braid/download"
)

const xmlHead = `<?xml version="1.0" encoding="UTF-8"?>`

// against opens a store that h serves.
func against(t *testing.T, h http.HandlerFunc) *Store {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	env := map[string]string{
		"AWS_ENDPOINT_URL_S3": server.URL, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "the-secret-0123",
		"AWS_SESSION_TOKEN": "the-token-4567",
		"AWS_REGION":        "us-east-1", "AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
	}
	s, err := Open("s3://bucket/isos/", Options{Getenv: func(name string) string { return env[name] }, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFaultOfTLS checks that an untrusted certificate and a server without TLS are errors of kind TLS, and that an
// unreachable server is one of kind Network.
func TestFaultOfTLS(t *testing.T) {
	t.Parallel()
	secure, plain := httptest.NewTLSServer(http.NotFoundHandler()), httptest.NewServer(http.NotFoundHandler())
	defer secure.Close()
	defer plain.Close()
	for url, want := range map[string]download.Kind{
		secure.URL: download.TLS, strings.Replace(plain.URL, "http", "https", 1): download.TLS,
		"http://127.0.0.1:1": download.Network,
	} {
		_, err := (&http.Client{Transport: &http.Transport{}}).Get(url) // the client library would try ten times
		if e, ok := errors.AsType[*download.Error]((&Store{}).fault(t.Context(), "x", err)); !ok || e.Kind != want {
			t.Errorf("%s: %v, want kind %v", url, err, want)
		}
	}
}

// TestHostileListing checks that a listing of uploads with too many pages or an endless response is an error, and that
// a listing of parts ends when it repeats itself.
func TestHostileListing(t *testing.T) {
	t.Parallel()
	var pages atomic.Int64
	endless := against(t, func(w http.ResponseWriter, q *http.Request) {
		n := pages.Add(1)
		if q.URL.Query().Has("uploadId") {
			fmt.Fprintf(w,
				xmlHead+
					`<ListPartsResult><IsTruncated>true</IsTruncated><NextPartNumberMarker>%d</NextPartNumberMarker><Part><PartNumber>1</PartNumber><ETag>e</ETag><Size>9</Size></Part></ListPartsResult>`, n)
			return
		}
		fmt.Fprintf(w,
			xmlHead+
				`<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>isos/%09d</NextKeyMarker><NextUploadIdMarker>u</NextUploadIdMarker>`+
				`<Upload><Key>elsewhere</Key><UploadId>u</UploadId></Upload></ListMultipartUploadsResult>`, n)
	})
	if parts, err := endless.parts(t.Context(), "isos/x", "u"); err != nil || len(parts) != 1 {
		t.Errorf("%d parts, %v", len(parts), err)
	}
	pages.Store(0)
	if all, err := endless.Left(t.Context()); len(all) > 0 || !strings.Contains(fmt.Sprint(err), errEndless.Error()) ||
		pages.Load() != mostPages {
		t.Errorf("%d uploads of %d pages, %v", len(all), pages.Load(), err)
	}
	long := against(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, xmlHead+`<ListMultipartUploadsResult>`)
		for filler := strings.Repeat("<Prefix>x</Prefix>", 10_000); ; {
			if _, err := io.WriteString(w, filler); err != nil {
				return
			}
		}
	})
	if _, err := long.Left(t.Context()); !strings.Contains(fmt.Sprint(err), errLongAnswer.Error()) {
		t.Error(err)
	}
}

// TestListing checks that Left reads all pages of a listing that breaks off between the uploads of one key.
func TestListing(t *testing.T) {
	t.Parallel()
	s := against(t, func(w http.ResponseWriter, q *http.Request) {
		n, _ := strconv.Atoi(q.URL.Query().Get("upload-id-marker"))
		fmt.Fprintf(w,
			xmlHead+
				`<ListMultipartUploadsResult><IsTruncated>%t</IsTruncated><NextKeyMarker>isos/x</NextKeyMarker><NextUploadIdMarker>%d</NextUploadIdMarker>`+
				`<Upload><Key>isos/x</Key><UploadId>%d</UploadId></Upload></ListMultipartUploadsResult>`, n < 4, n+1, n)
	})
	if all, err := s.Left(t.Context()); len(all) != 5 || err != nil {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestHostileRedirect_Rule73 checks that a request signed for the store is not sent to another host.
func TestHostileRedirect_Rule73(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := against(t, func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, other.URL+q.URL.Path, status) })
		if _, err := s.Existing(t.Context(), "x"); err == nil {
			t.Errorf("%d: an object is there", status)
		}
		if _, err := s.Left(t.Context()); err == nil || asked.Load() > 0 {
			t.Errorf("%d: %v, %d requests elsewhere", status, err, asked.Load())
		}
	}
}

// TestHostileText_Rule73 checks that the text of a store in an error is short and contains none of the credentials that
// were sent.
func TestHostileText_Rule73(t *testing.T) {
	t.Parallel()
	s := against(t, func(w http.ResponseWriter, q *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, xmlHead+`<Error><Code>`+strings.Repeat("Code", 1000)+`</Code><Message>`+strings.Repeat("m",
			190)+q.Header.Get("X-Amz-Security-Token")+" the-secret-0123"+strings.Repeat("m", 10_000)+`</Message></Error>`)
	})
	_, err := s.Left(t.Context())
	e, ok := errors.AsType[*download.Error](err)
	if !ok || e.Kind != download.Auth {
		t.Fatal(err)
	}
	if text := e.Error(); len(text) > 500 || strings.Contains(text, "the-t") || strings.Contains(text, "the-s") {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}

// TestHostileComplete_Rule71 checks that complete returns an error if a response of status 200 contains an error, or is
// no result at all.
func TestHostileComplete_Rule71(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`<Error><Code>InternalError</Code><Message>again</Message></Error>`,
		`<Error><Code>PreconditionFailed</Code></Error>`, ``, `<html>ok</html>`, `<Complete`,
	} {
		s := against(t, func(w http.ResponseWriter, q *http.Request) {
			switch {
			case q.Method == http.MethodHead:
				w.WriteHeader(http.StatusNotFound)
			case q.Method == http.MethodPost && q.URL.Query().Has("uploadId"):
				io.WriteString(w, body)
			}
		})
		s.probed.found, s.probed.obeys = true, true
		u := newUpload(s, "isos/x")
		u.journal, u.heading = noJournal{}, heading{Upload: "u", Token: "t"}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // some are retried
		if _, err := u.complete(ctx, download.UploadFinal{}, Evidence{}); err == nil {
			t.Errorf("%q: an object is there", body)
		}
		cancel()
	}
}

// TestHostileName_Rule73 checks that a name that leads out of the prefix, or that a proxy would change, is refused
// without a request.
func TestHostileName_Rule73(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	s := against(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	for _, name := range []string{"", ".", "..", "../x", "a/../../x", "a//b", "/x", "a/", "a\nb", "a\x00", "a\x7f",
		"\xff", strings.Repeat("n", 1100)} {
		u := s.Upload(name)
		_, err := u.Existing(t.Context())
		_, _, resume := u.Resume(t.Context())
		for _, err := range []error{err, resume} {
			if e, ok := errors.AsType[*download.Error](err); !ok || e.Kind != download.Usage {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
	if asked.Load() > 0 {
		t.Errorf("%d requests", asked.Load())
	}
}

// TestOpenedWhileGivenUp_Rule72 checks that an upload that the store opens just as the download is cancelled is
// aborted, because no journal names it yet.
func TestOpenedWhileGivenUp_Rule72(t *testing.T) {
	t.Parallel()
	ctx, giveUp := context.WithCancel(t.Context())
	var ended atomic.Int64
	s := against(t, func(w http.ResponseWriter, q *http.Request) {
		switch {
		case q.Method == http.MethodPost:
			giveUp()
			io.WriteString(w,
				xmlHead+
					`<InitiateMultipartUploadResult><Bucket>bucket</Bucket><Key>isos/x</Key><UploadId>u</UploadId></InitiateMultipartUploadResult>`)
		case q.Method == http.MethodDelete && q.URL.Query().Get("uploadId") == "u":
			ended.Add(1)
			w.WriteHeader(http.StatusNoContent)
		default:
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, xmlHead+`<Error><Code>NoSuchUpload</Code></Error>`)
		}
	})
	u := newUpload(s, "isos/x")
	if err := u.begun(ctx, download.UploadPart{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if ended.Load() != 1 || u.heading.Upload != "" {
		t.Errorf("ended %d times, goes on with %q", ended.Load(), u.heading.Upload)
	}
	u.Close()
}

// TestProbedWhileGivenUp_Rule72 checks that the object of the test for conditional requests is removed if the download is
// cancelled while the store creates it.
func TestProbedWhileGivenUp_Rule72(t *testing.T) {
	t.Parallel()
	ctx, giveUp := context.WithCancel(t.Context())
	var made, removed atomic.Value
	s := against(t, func(w http.ResponseWriter, q *http.Request) {
		switch q.Method {
		case http.MethodPut:
			io.Copy(io.Discard, q.Body)
			made.Store(q.URL.Path)
			giveUp()
		case http.MethodDelete:
			removed.Store(q.URL.Path)
			w.WriteHeader(http.StatusNoContent)
		}
	})
	if _, known := s.probed.hold(ctx, "isos/x"); known {
		t.Error("a test that was cancelled has a result")
	}
	if made.Load() == nil || removed.Load() != made.Load() {
		t.Errorf("made is %v, removed %v", made.Load(), removed.Load())
	}
}

// TestBucketMissing checks that Existing reports a missing bucket. The response to HEAD does not tell the two cases
// apart, so it sends a GET request; once the bucket is known to exist, it does not ask again.
func TestBucketMissing(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]int64{"NoSuchBucket": 2, "NoSuchKey": 1} {
		var gets atomic.Int64
		s := against(t, func(w http.ResponseWriter, q *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			if q.Method == http.MethodGet {
				gets.Add(1)
				io.WriteString(w, xmlHead+`<Error><Code>`+code+`</Code></Error>`)
			}
		})
		for range 2 {
			_, err := s.Existing(t.Context(), "x")
			e, own := errors.AsType[*download.Error](err)
			if missing := own && e.Kind == download.Refused; missing != (code == "NoSuchBucket") ||
				!missing && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", code, err)
			}
		}
		if gets.Load() != want {
			t.Errorf("%s: asked %d times", code, gets.Load())
		}
	}
}

// TestReasonOfHead checks that the error for a failed HEAD request has the reason, although the response to HEAD has no
// body.
func TestReasonOfHead(t *testing.T) {
	t.Parallel()
	s := against(t, func(w http.ResponseWriter, q *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		if q.Method != http.MethodHead {
			io.WriteString(w,
				xmlHead+
					`<Error><Code>AuthorizationHeaderMalformed</Code><Message>the region is wrong; expecting us-west-2</Message></Error>`)
		}
	})
	_, err := s.Existing(t.Context(), "x")
	e, ok := errors.AsType[*download.Error](err)
	if !ok || e.Kind != download.Usage || !strings.Contains(e.Error(), "expecting us-west-2") || e.Hint != hintEndpoint {
		t.Errorf("%v", err)
	}
}
