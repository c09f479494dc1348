package search_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"braid/internal/lookup/search"
	"braid/verify"
	"braid/verify/minisign"
)

// A signer is a site whose lists are signed, if good is set.
type signer struct {
	site
	good bool
}

func (w *signer) Sign(ctx context.Context, at *url.URL, claims []verify.Claim, data []byte,
	endings []string) (unsigned, err error) {
	w.site.Sign(ctx, at, claims, data, endings)
	for i := range claims {
		if w.good {
			claims[i].Channel, claims[i].By = verify.Signed, verify.SignatureResult{Key: "K"}
		}
	}
	return nil, nil
}

// TestSignedOnce: the signature of a list is asked for once for all of its files, as long as it is good, the list is the
// same, and the same keys are trusted.
func TestSignedOnce(t *testing.T) {
	var list strings.Builder
	for n := range 20 {
		fmt.Fprintf(&list, "%064x  file%d\n", n+1, n)
	}
	keys := [][]verify.Trust{{minisign.Trust{Keys: make([]minisign.Key, 1)}}, {minisign.Trust{Keys: make([]minisign.Key, 1)}}}
	for _, tt := range []struct {
		good bool
		keys func(n int) []verify.Trust
		list func(n int) string
		want int
	}{
		{true, func(int) []verify.Trust { return keys[0] }, nil, 1},
		{true, func(n int) []verify.Trust { return keys[n%2] }, nil, 2},
		{true, func(int) []verify.Trust { return nil }, nil, 20},
		{true, func(int) []verify.Trust { return keys[0] },
			func(n int) string { return fmt.Sprintf("%064x  other%d\n", n+1, n) }, 20},
		{false, func(int) []verify.Trust { return keys[0] }, nil, 20},
	} {
		w, shared := &signer{site{pages: map[string]string{"/pub/SHA256SUMS": list.String()}, index: true}, tt.good},
			new(search.Folders)
		for n := range 20 {
			w.pages[fmt.Sprintf("/pub/file%d", n)] = ""
		}
		for n := range 20 {
			s, ok := search.New(w, shared, nil, at(t, fmt.Sprintf("file%d", n)), "")
			if !ok {
				t.Fatal("nowhere to look")
			}
			if s.Keys = tt.keys(n); tt.list != nil {
				w.pages["/pub/SHA256SUMS"], s.Anew = list.String()+tt.list(n), true
			}
			if err := s.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if c := s.Found.Claims; len(c) != 1 || (c[0].Channel == verify.Signed) != tt.good || tt.good != (c[0].By.Key == "K") {
				t.Errorf("file%d: %+v", n, c)
			}
		}
		if w.signed != tt.want {
			t.Errorf("%+v: checked %d times, want %d", tt, w.signed, tt.want)
		}
	}
}

// TestSignaturesAskedFor: beside lists of an index, signatures that the index has are asked for, and no others; without
// an index, a few.
func TestSignaturesAskedFor(t *testing.T) {
	list := fmt.Sprintf("%064x  file\n", 1)
	for _, tt := range []struct {
		index bool
		has   []string
		want  string
	}{
		{true, nil, ""},
		{true, []string{"sha256sum.txt.sig", "SHA256SUMS.gpg", "SHA256SUMS.other", "file.asc"},
			"SHA256SUMS.gpg sha256sum.txt.sig"},
		{false, []string{"SHA256SUMS.gpg"}, "SHA256SUMS.asc SHA256SUMS.sig SHA256SUMS.gpg"},
	} {
		w := &site{pages: map[string]string{"/pub/file": "", "/pub/SHA256SUMS": list, "/pub/sha256sum.txt": list},
			index: tt.index}
		for _, name := range tt.has {
			w.pages["/pub/"+name] = ""
		}
		s, ok := search.New(w, new(search.Folders), nil, at(t, "file"), "")
		if !ok {
			t.Fatal("nowhere to look")
		}
		s.Keys, s.Endings = []verify.Trust{minisign.Trust{Keys: make([]minisign.Key, 1)}},
			[]string{".asc", ".sig", ".gpg", ".sign"}
		if err := s.Run(t.Context()); err != nil || len(s.Found.Claims) != 1 {
			t.Errorf("%+v: %v, %v", tt, s.Found.Claims, err)
		}
		if got := strings.Join(w.besides, " "); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

// TestSignaturesOfFile checks that a search knows the signatures of the file, of each kind, that an index has. A list need
// not have all of them.
func TestSignaturesOfFile(t *testing.T) {
	list := fmt.Sprintf("%064x  file\n", 1)
	named := list + fmt.Sprintf("%064x  file.minisig\n%064x  other.sig\n", 2, 3)
	for _, tt := range []struct {
		index bool
		list  string
		has   []string
		want  string
	}{
		{true, "", []string{"file.sign", "file.other", "other.asc"}, "known: file.sign"},
		{true, "", []string{"file.minisig", "file.sig"}, "known: file.sig file.minisig"},
		{true, named, nil, "known:"},
		{true, list, nil, "known:"},
		{false, "", []string{"file.sign"}, ""},
		{false, list, []string{"file.sign"}, ""},
		{false, named, nil, ""},
	} {
		w := &site{pages: map[string]string{"/pub/file": ""}, index: tt.index}
		if tt.list != "" {
			w.pages["/pub/SHA256SUMS"] = tt.list
		}
		for _, name := range tt.has {
			w.pages["/pub/"+name] = ""
		}
		s, ok := search.New(w, new(search.Folders), nil, at(t, "file"), "")
		if !ok {
			t.Fatal("nowhere to look")
		}
		s.Endings = []string{".asc", ".sig", ".sign", ".minisig"}
		err := s.Run(t.Context())
		got := ""
		if s.Found.Beside != nil {
			got = "known:"
		}
		for _, u := range s.Found.Beside {
			got += " " + strings.TrimPrefix(u.String(), "http://a.example/pub/")
		}
		if err != nil || got != tt.want {
			t.Errorf("%+v: %q, %v", tt, got, err)
		}
	}
}

// TestSignatureAppears checks that ten seconds after the index was read, a signature that it does not have may exist. The
// digest stays known, although the server does not answer any more.
func TestSignatureAppears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := fmt.Sprintf("%064x  file\n", 1)
		w := &site{pages: map[string]string{"/pub/file": "", "/pub/SHA256SUMS": list}, index: true, fails: map[string]int{}}
		shared := new(search.Folders)
		for _, known := range []bool{true, false} {
			s, _ := search.New(w, shared, nil, at(t, "file"), "")
			s.Endings = []string{".asc"}
			err := s.Run(t.Context())
			if got := s.Found.Beside != nil; err != nil || got != known || len(s.Found.Claims) != 1 {
				t.Errorf("%v, %v, %v, want %v", got, s.Found.Claims, err, known)
			}
			w.fails["/pub/"], w.fails["/pub/SHA256SUMS"] = 100, 100
			time.Sleep(10 * time.Second)
		}
	})
}
