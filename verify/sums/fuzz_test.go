package sums_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"braid/verify"
	"braid/verify/sums"
)

// FuzzParse: a list stays within its limits, is the same when it is printed and read again, and gives each of
// its files the digests that stand beside it, or says that they contradict each other.
func FuzzParse(f *testing.F) {
	f.Add("SHA256SUMS", h256+"  a\n"+h256+" *./b\n\\"+h256+"  c\\\\d\\n\n")
	f.Add("CHECKSUM", "# a: 1 bytes\nSHA256 (a) = "+h256+"\nMD5(x/a)= "+h5+"\nBLAKE2b (a) = "+h512+"\nSHA2-256(stdin)= "+h256)
	f.Add("a.sha512.txt", "\ufeff"+h512+"\r\n")
	f.Add("B2SUMS", h512+"  a")
	f.Add("", "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n- "+h256+"  -\n-----BEGIN PGP SIGNATURE-----\n\n-----END PGP SIGNATURE-----\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		list, err := sums.Parse(name, []byte(text))
		if err != nil {
			known(t, err)
			return
		}
		entries := slices.Collect(list.All())
		for _, e := range entries {
			if e.Digest.IsZero() || e.Line < 1 || e.Line > 1+strings.Count(text, "\n") || len(e.Name) > sums.MaxLine {
				t.Fatalf("%+v", e)
			}
			finds(t, list, e)
		}
		again(t, list, entries)
	})
}

// known fails if the error is none of the package's, or too long to be shown.
func known(t *testing.T, err error) {
	t.Helper()
	var wrong *sums.Error
	var limit *sums.LimitError
	if !errors.As(err, &wrong) && !errors.As(err, &limit) || len(err.Error()) > 1000 {
		t.Fatalf("%T: %v", err, err)
	}
}

// finds looks for the file of e.
func finds(t *testing.T, list sums.List, e sums.Entry) {
	t.Helper()
	if strings.Trim(e.Name, "./") == "" || e.Name == "-" {
		return // nothing to ask for
	}
	claims, err := list.Find(e.Name, "LIST", verify.HTTP)
	var conflict *verify.ConflictError
	if errors.As(err, &conflict) && conflict.A.Digest != conflict.B.Digest {
		return
	}
	if err != nil || !slices.ContainsFunc(claims, func(c verify.Claim) bool { return c.Digest == e.Digest }) {
		t.Fatalf("%+v: %v, %v", e, claims, err)
	}
}

// again prints the list and reads that.
func again(t *testing.T, list sums.List, entries []sums.Entry) {
	t.Helper()
	text := list.String()
	if len(entries) == 0 || len(text) > sums.MaxSize || slices.ContainsFunc(entries, func(e sums.Entry) bool { return len(e.String()) > sums.MaxLine }) {
		return // escapes may make it longer than what was read
	}
	second, err := sums.Parse("", []byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	for i := range entries {
		entries[i].Line = i + 1
	}
	if got := slices.Collect(second.All()); !slices.Equal(got, entries) {
		t.Fatalf("%q is\n%+v, was\n%+v", text, got, entries)
	}
	if second.String() != text {
		t.Fatalf("printed again: %q, was %q", second.String(), text)
	}
}
