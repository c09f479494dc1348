package verify_test

import (
	"fmt"
	"strings"
	"testing"

	"braid/verify"
)

// TestStoreFields: the fields of stores carry digests of the whole file, and what does not is no claim and no error.
func TestStoreFields(t *testing.T) {
	const (
		test   = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
		base64 = "n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="
		md5    = "CY9rzUYh03PK3k6DJie09g=="
	)
	for _, tt := range []struct {
		header    map[string][]string
		want      string // claims
		malformed int
	}{
		{header: map[string][]string{"X-Checksum-Sha256": {test}}, want: "sha-256 from X-Checksum-Sha256 over https"},
		{header: map[string][]string{"X-Checksum-Sha256": {strings.ToUpper(test)}},
			want: "sha-256 from X-Checksum-Sha256 over https"},
		{header: map[string][]string{"X-Checksum-Sha512": {test}}, malformed: 1},
		{header: map[string][]string{"X-Checksum-Sha256": {""}}, malformed: 1},
		{header: map[string][]string{"X-Checksum-Sha1": {"a94a8fe5ccb19ba61c4c0873d391e987982fbbd3"}}},
		{header: map[string][]string{"X-Linked-Etag": {`"` + test + `"`}, "X-Linked-Size": {"4"}},
			want: "sha-256 from X-Linked-Etag over https"},
		{header: map[string][]string{"X-Linked-Etag": {`"` + test + `"`}}},
		{header: map[string][]string{"X-Linked-Etag": {`"` + test + `"`}, "X-Linked-Size": {"-4"}}},
		{header: map[string][]string{"X-Linked-Etag": {`"a94a8fe5ccb19ba61c4c0873d391e987982fbbd3"`}, "X-Linked-Size": {"4"}}},
		{header: map[string][]string{"X-Amz-Checksum-Sha256": {base64}}, want: "sha-256 from X-Amz-Checksum-Sha256 over https"},
		{
			header: map[string][]string{"X-Amz-Checksum-Sha256": {base64}, "X-Amz-Checksum-Type": {"FULL_OBJECT"}},
			want:   "sha-256 from X-Amz-Checksum-Sha256 over https",
		},
		{header: map[string][]string{"X-Amz-Checksum-Sha256": {base64}, "X-Amz-Checksum-Type": {"COMPOSITE"}}},
		{header: map[string][]string{"X-Amz-Checksum-Sha256": {base64 + "-3"}}},
		{header: map[string][]string{"X-Amz-Checksum-Sha256": {base64[1:]}}, malformed: 1},
		{header: map[string][]string{"Docker-Content-Digest": {"sha256:" + test}},
			want: "sha-256 from Docker-Content-Digest over https"},
		{header: map[string][]string{"Docker-Content-Digest": {"sha384:" + test}}},
		{header: map[string][]string{"Docker-Content-Digest": {test}}, malformed: 1},
		{header: map[string][]string{"Content-Md5": {md5}}, want: "md5 from Content-Md5 over https"},
		{header: map[string][]string{"Content-Md5": {md5[1:]}}, malformed: 1},
		{header: map[string][]string{"X-Goog-Hash": {"crc32c=AAAAAA==", "md5=" + md5}}, want: "md5 from X-Goog-Hash over https"},
		{header: map[string][]string{"X-Goog-Hash": {"crc32c=AAAAAA==, md5=" + md5}}, want: "md5 from X-Goog-Hash over https"},
		{header: map[string][]string{"X-Goog-Hash": {"crc32c=AAAAAA=="}}},
		{header: map[string][]string{"X-Goog-Hash": {"md5=" + md5}, "X-Goog-Stored-Content-Encoding": {"gzip"}}},
		{header: map[string][]string{"X-Goog-Hash": {"md5=" + md5}, "X-Goog-Stored-Content-Encoding": {"identity"}},
			want: "md5 from X-Goog-Hash over https"},
		{
			header: map[string][]string{"Digest": {"SHA-256=" + base64}, "X-Checksum-Sha256": {test}},
			want:   "sha-256 from Digest over https", // once, and as an Instance Digest
		},
		{header: map[string][]string{"Digest": {"SHA-256=" + base64}, "X-Checksum-Sha256": {"x"}},
			want: "sha-256 from Digest over https", malformed: 1},
	} {
		claims, malformed, err := verify.ReadHeader(tt.header, verify.HTTPS)
		var got []string
		for _, c := range claims {
			got = append(got, c.String())
		}
		if err != nil || strings.Join(got, "; ") != tt.want || len(malformed) != tt.malformed {
			t.Errorf("%v: %v, %v, %v", tt.header, got, malformed, err)
		}
		if _, err := verify.FromHeader(tt.header, verify.HTTPS); err != nil {
			t.Errorf("%v: %v", tt.header, err)
		}
	}
	other := map[string][]string{"Digest": {"SHA-256=" + base64}, "X-Checksum-Sha256": {strings.Repeat("0", 64)}}
	if claims, err := verify.FromHeader(other, verify.HTTPS); err == nil {
		t.Error("two digests that contradict each other are", fmt.Sprint(claims))
	}
}
