package smime

import (
	"braid/verify"
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"
)

// FuzzNew: whatever is said to be a signature, nothing panics, no file passes that nobody signed, without roots nothing
// passes, and every refusal is an *Error that can be printed.
func FuzzNew(f *testing.F) {
	made := recordings(f)
	var roots []*x509.Certificate
	for _, name := range []string{"root", "self", "elsewhere"} {
		roots = append(roots, certificateOf(f, made, name))
	}
	now := roots[0].NotBefore.Add(time.Hour)
	for name, data := range made {
		if strings.HasSuffix(name, ".p7") {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, sig []byte) {
		given := bytes.Clone(sig)
		for _, anchors := range [][]*x509.Certificate{nil, roots} {
			got, err := check(sig, anchors, now, strings.NewReader("nobody signed this\n"))
			if _, ok := verify.GoodSignature(got); ok {
				t.Errorf("%d roots: a file that nobody signed: %v", len(anchors), got)
			}
			inWords(t, got, err)
		}
		got, err := check(sig, roots, now, strings.NewReader(signed))
		inWords(t, got, err)
		if !bytes.Equal(sig, given) {
			t.Error("the signature was changed")
		}
	})
}

// inWords says whether a verdict is of the right type and fit for a line.
func inWords(t *testing.T, got []verify.SignatureResult, err error) {
	t.Helper()
	var lines []string
	for _, s := range got {
		lines = append(lines, s.String(), s.Signer, s.Reason)
	}
	if err != nil {
		lines = append(lines, err.Error())
		if _, ok := errors.AsType[*verify.SignatureError](err); !ok {
			t.Errorf("error of type %T: %v", err, err)
		}
	}
	for _, line := range lines {
		if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("%q cannot be printed at %d", line, i)
		}
	}
}

// FuzzToDER: what comes out is DER by the standard library's reading, stays as it is, and is not longer than what went
// in, but for what longer headers take.
func FuzzToDER(f *testing.F) {
	for name, data := range recordings(f) {
		if strings.HasSuffix(name, ".p7") && data[0] == tagSequence {
			f.Add(data)
		}
	}
	for _, hex := range []string{"30800201010000", "2480040161040162000000", "248024800401610000040162" + "0000",
		"3085000000000" + "3020101"} {
		f.Add(unhex(f, hex))
	}
	f.Fuzz(func(t *testing.T, ber []byte) {
		if len(ber) > verify.MaxSignature {
			return // New refuses it before
		}
		der, fault := toDER(ber)
		if fault != nil {
			return
		}
		var v asn1.RawValue
		if rest, err := asn1.Unmarshal(der, &v); err != nil || len(rest) > 0 {
			t.Errorf("%x is no DER: %v", der, err)
		}
		if len(der) > len(ber)+maxDepth {
			t.Errorf("%d bytes became %d", len(ber), len(der))
		}
		if again, fault := toDER(der); fault != nil || !bytes.Equal(again, der) {
			t.Errorf("%x became %x, %v", der, again, fault)
		}
	})
}

// FuzzParseRoots: nothing panics, and there are roots or an error, never both or neither.
func FuzzParseRoots(f *testing.F) {
	for name, data := range recordings(f) {
		if strings.HasSuffix(name, ".crt") {
			f.Add(data)
			f.Add(data[:len(data)-10])
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		roots, err := ParseRoots(data)
		if (err == nil) != (len(roots) > 0) {
			t.Errorf("%d roots, %v", len(roots), err)
		}
	})
}
