package smime

import (
	"braid/verify"
	"bytes"
	"encoding/asn1"
	"encoding/hex"
	"strings"
	"testing"
)

// TestToDER has what X.690 says in sections 8.1 and 8.7 about BER, and in section 10 about DER.
func TestToDER(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("3080", n) + "0500" + strings.Repeat("0000", n) }
	for _, tt := range []struct{ name, ber, want string }{
		{"DER", "3003020101", "3003020101"},
		{"empty", "3000", "3000"},
		{"indefinite", "30800201010000", "3003020101"},
		{"indefinite and empty", "30800000", "3000"},
		{"indefinite in indefinite", "3080a0800201010000" + "02010200" + "00", "3008a003020101020102"},
		{"indefinite in definite", "3009a0800201010000" + "0500", "3007a0030201010500"},
		{"length with leading zeros", "3085000000000" + "3020101", "3003020101"},
		{"length in the long form", "3081030201" + "01", "3003020101"},
		{"string in pieces", "2480" + "0402aabb" + "0401cc" + "0000", "0403aabbcc"},
		{"string in pieces, definite", "2407" + "0402aabb" + "0401cc", "0403aabbcc"},
		{"string in pieces in pieces", "2480" + "2480" + "0401aa" + "0000" + "0401bb" + "0000", "0402aabb"},
		{"string of no pieces", "24800000", "0400"},
		{"string with a piece that is none", "2480" + "020101" + "0000", ""},
		{"zeros that are content", "30800402000" + "00000", "300404020000"},
		{"unexpected end of contents", "30020000", ""},
		{"end at the beginning", "0000", ""},
		{"primitive and indefinite", "048000000000", ""},
		{"indefinite without end", "3080020101", ""},
		{"indefinite with half an end", "308002010100", ""},
		{"cut in the length", "3082", ""},
		{"cut in the content", "300302", ""},
		{"length beyond everything", "3084ffffffff", ""},
		{"length beyond 64 bits", "3089010000000000000003" + "020101", ""},
		{"length of 127 bytes", "30ff" + strings.Repeat("ff", 127), ""},
		{"inner longer than outer", "3003020201" + "01", ""},
		{"behind the end", "30000500", ""},
		{"tag of two bytes", "1f1f00", ""},
		{"tag of two bytes, or not", "1f00", ""},
		{"one byte", "30", ""},
		{"nothing", "", ""},
		{"as deep as may be", deep(maxDepth - 1), "*"},
		{"deeper", deep(maxDepth), ""},
	} {
		ber, err := hex.DecodeString(tt.ber)
		if err != nil {
			t.Fatal(tt.name, err)
		}
		got, fault := toDER(ber)
		switch {
		case tt.want == "" && fault == nil:
			t.Errorf("%s: %x, want an error", tt.name, got)
		case tt.want == "*" && fault != nil:
			t.Errorf("%s: %v", tt.name, fault)
		case tt.want != "" && tt.want != "*" && (fault != nil || hex.EncodeToString(got) != tt.want):
			t.Errorf("%s: %x, %v, want %s", tt.name, got, fault, tt.want)
		}
	}
	if _, fault := toDER(unhex(t, deep(maxDepth))); fault == nil || fault.Code != verify.SignatureTooLarge {
		t.Errorf("too deep: %v", fault)
	}
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestLengths: lengths of each form come out as package asn1 writes them.
func TestLengths(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, 255, 256, 65535, 65536, 1<<20 - 5} {
		content := bytes.Repeat([]byte{7}, n)
		want, err := asn1.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		pieces := []byte{tagOctetString | constructed, indefinite}
		for rest := content; len(rest) > 0; {
			k := min(len(rest), 100)
			pieces = appendElement(pieces, tagOctetString, rest[:k])
			rest = rest[k:]
		}
		for name, ber := range map[string][]byte{"whole": want, "in pieces": append(pieces, 0, 0)} {
			if got, fault := toDER(ber); fault != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes %s: %d bytes, %v, want %d", n, name, len(got), fault, len(want))
			}
		}
	}
}

// TestHostileBER: what keeps a parser without limits busy for minutes costs no more than its length.
func TestHostileBER(t *testing.T) {
	const n = verify.MaxSignature / 2
	for name, ber := range map[string][]byte{
		"lists": bytes.Repeat([]byte{tagSequence, indefinite}, n),
		"sets":  bytes.Repeat([]byte{tagSet, indefinite}, n),
		"texts": bytes.Repeat([]byte{tagOctetString | constructed, indefinite}, n),
	} {
		var fault *verify.SignatureError
		allocs := testing.AllocsPerRun(1, func() { _, fault = toDER(ber) })
		if fault == nil || fault.Code != verify.SignatureTooLarge || allocs > 10 {
			t.Errorf("%s: %v after %v allocations", name, fault, allocs)
		}
	}
	wide := bytes.Repeat([]byte{tagNull, 0}, n-5*maxDepth)
	for range maxDepth - 1 {
		wide = tlv(tagSequence, wide)
	}
	allocs := testing.AllocsPerRun(1, func() {
		if got, fault := toDER(wide); fault != nil || !bytes.Equal(got, wide) {
			t.Errorf("wide: %v", fault)
		}
	})
	if allocs > 3*maxDepth {
		t.Errorf("wide: %v allocations", allocs)
	}
}
