package job

import (
	"slices"
	"strings"
	"testing"

	"braid/download"
	"braid/fleet"
	"braid/internal/option"
)

// TestJobURLDigest checks that a job has the digests that its URLs name as options.
func TestJobURLDigest(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	e := option.Entry{
		URIs:    []string{"https://example.org/a.iso", "https://example.net/a.iso#sha256=" + sum},
		Options: []option.Setting{{Name: "mirror", Value: "https://example.com/a.iso#md5=" + sum[:32]}},
	}
	j, err := FleetJob(e, &download.Request{Name: "a.iso"})
	want := []fleet.Option{
		{Name: "mirror", Value: e.Options[0].Value}, {Name: "checksum", Value: "sha-256=" + sum},
		{Name: "checksum", Value: "md5=" + sum[:32]},
	}
	if err != nil || !slices.Equal(j.Options, want) || len(e.Options) != 1 {
		t.Errorf("got %+v, %v", j.Options, err)
	}
	for _, wrong := range []string{"sha256=12", "sha256=" + strings.Repeat("0", 64)} {
		e.URIs[0] = "https://example.org/a.iso#" + wrong
		if j, err := FleetJob(e, &download.Request{Name: "a.iso"}); err == nil {
			t.Errorf("%s: got %+v", wrong, j)
		}
	}
}
