package sums

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"braid/verify"
)

// FuzzParse: a list stays within its limits, and gives each of its files the digests that stand beside it, or says that
// they contradict each other.
func FuzzParse(f *testing.F) {
	f.Add("SHA256SUMS", h256+"  a\n"+h256+" *./b\n\\"+h256+"  c\\\\d\\n\n")
	f.Add("CHECKSUM", "# a: 1 bytes\nSHA256 (a) = "+h256+"\nMD5(x/a)= "+h5+"\nBLAKE2b (a) = "+h512+"\nSHA2-256(stdin)= "+h256)
	f.Add("a.sha512.txt", "\ufeff"+h512+"\r\n")
	f.Add("B2SUMS", h512+"  a")
	f.Add("", "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n- "+h256+
		"  -\n-----BEGIN PGP SIGNATURE-----\n\n-----END PGP SIGNATURE-----\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		list, err := readStrict(name, []byte(text))
		if err != nil {
			known(t, err)
			return
		}
		entries := all(list)
		for _, e := range entries {
			if e.Digest.IsZero() || e.Line < 1 || e.Line > 1+strings.Count(text, "\n") || len(e.Name) > maxLine {
				t.Fatalf("%+v", e)
			}
			finds(t, list, e)
		}
	})
}

// known fails if the error is none of the package's, or too long to be shown.
func known(t *testing.T, err error) {
	t.Helper()
	var wrong *Error
	var limit *LimitError
	if !errors.As(err, &wrong) && !errors.As(err, &limit) || len(err.Error()) > 1000 {
		t.Fatalf("%T: %v", err, err)
	}
}

// finds looks for the file of e.
func finds(t *testing.T, list List, e Entry) {
	t.Helper()
	if strings.Trim(e.Name, "./") == "" || e.Name == "-" {
		return // nothing to ask for
	}
	claims, err := findStrict(list, e.Name, "LIST", verify.HTTP)
	var conflict *verify.ConflictError
	if errors.As(err, &conflict) && conflict.A.Digest != conflict.B.Digest {
		return
	}
	if err != nil || !slices.ContainsFunc(claims, func(c verify.Claim) bool { return c.Digest == e.Digest }) {
		t.Fatalf("%+v: %v, %v", e, claims, err)
	}
}
