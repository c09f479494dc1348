package download

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"braid/download/partfile"
	"braid/verify"
)

// However many bytes wait to be hashed or to go out, the end of the context comes first.
func TestHasherHeedsContext(t *testing.T) {
	part, err := partfile.OpenTemp(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer part.Close()
	if _, err := part.WriteAt(make([]byte, 3*hashBuffer), 0); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	h := &hasher{part: part, check: verify.NewChecker(-1, nil), stream: &out, moved: func(int64) { cancel() }}
	err = h.read(ctx, make([]byte, hashBuffer), 0, 3*hashBuffer)
	if !errors.Is(err, context.Canceled) || out.Len() != hashBuffer || h.check.Written() != hashBuffer {
		t.Errorf("%d bytes out, %d hashed, %v", out.Len(), h.check.Written(), err)
	}
}
