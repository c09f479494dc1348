package state

import (
	"reflect"
	"testing"

	"braid/verify"
)

// Proves rule 77: what contradicted another host is there in the next run, until it is replaced or removed.
func TestOpposed_Rule77(t *testing.T) {
	s, u := fresh(t), parse(t, "https://example.org/f")
	d, err := verify.NewDigest(verify.SHA512, make([]byte, verify.SHA512.Size()))
	if err != nil {
		t.Fatal(err)
	}
	claims := []verify.Claim{{Digest: d, Field: "SHA512SUMS beside it", Channel: verify.HTTP}}
	s.KeepOpposed(u, claims)
	if got := s.again().Opposed(u); !reflect.DeepEqual(got, claims) {
		t.Errorf("%v, want %v", got, claims)
	}
	(&Store{Dir: s.Dir, PinsOnly: true}).KeepOpposed(u, nil)
	if got := s.Opposed(u); len(got) != 1 {
		t.Errorf("%v: PinsOnly has removed it", got)
	}
	(&Store{Dir: s.Dir, PinsOnly: true, Opposing: true}).KeepOpposed(u, claims[:0])
	if got := s.Opposed(u); len(got) != 0 {
		t.Errorf("%v: Opposing has not removed it", got)
	}
	s.KeepOpposed(u, claims)
	if s.KeepOpposed(u, nil); s.Opposed(u) != nil || (*Store)(nil).Opposed(u) != nil {
		t.Error("it is not removed")
	}
}
