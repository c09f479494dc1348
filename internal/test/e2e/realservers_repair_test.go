//go:build realservers

package e2e

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Proves S3 and rule 40 for files on disk: two damaged pieces of a file that nginx has cost two pieces on the wire, whoever
// brings them. What else goes there is the document that has the digests of the pieces, and header sections.
func TestRealRepairCostsPieces_S3_Rule40(t *testing.T) {
	t.Parallel()
	const size, piece, headers = 32 << 20, 256 << 10, 8 << 10
	root, dir := publicDir(t), t.TempDir()
	data := make([]byte, size)
	rand.NewChaCha8([32]byte{1}).Read(data)
	if err := os.WriteFile(filepath.Join(root, "a.iso"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	m := &meter{}
	mirror := "http://" + newRelay(t, nginx.start(t, site{root: root}), m.add).addr + "/a.iso"
	braid(t, "meta", "-q", "--piece-length", "256K", "--mirror", mirror, filepath.Join(root, "a.iso"))
	document := filepath.Join(root, "a.iso.meta4")
	info, err := os.Stat(document)
	if err != nil {
		t.Fatal(err)
	}
	origin := "http://" + newRelay(t, nginx.start(t, site{root: root, headers: append(digestFields(data),
		fmt.Sprintf("Link: <%s>; rel=duplicate", mirror),
		`Link: </a.iso.meta4>; rel=describedby; type="application/metalink4+xml"`)}), m.add).addr + "/a.iso"
	file := filepath.Join(dir, "a.iso")
	for from, overhead := range map[string]int64{origin: info.Size() + headers, document: headers} {
		damaged := bytes.Clone(data)
		damaged[5<<20], damaged[20_000_000] = ^damaged[5<<20], ^damaged[20_000_000]
		if err := os.WriteFile(file, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		m.sum.Store(0)
		braid(t, "verify", "-q", "--repair", "--from", from, file)
		if sumFile(t, file) != sha256.Sum256(data) {
			t.Fatalf("--from %s: it is not the right file", from)
		}
		if sent := m.sum.Load(); sent < 2*piece || sent > 2*piece+overhead {
			t.Errorf("--from %s: %d bytes were sent, and two pieces are %d", from, sent, 2*piece)
		} else {
			t.Logf("--from %s: %d bytes beside the pieces", from, sent-2*piece)
		}
	}
}

// braid runs the command, which has to succeed.
func braid(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(binary, args...).CombinedOutput(); err != nil {
		t.Fatalf("braid %s: %v\n%s", args[0], err, out)
	}
}
