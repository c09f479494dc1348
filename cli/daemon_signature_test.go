package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
	pgp "github.com/ProtonMail/go-crypto/openpgp/v2"

	"braid/internal/test/mirrortest"
)

// TestDaemonSignature: a signature that a client gives counts as one beside the file does: by the keys of the daemon,
// for that file, and not at all where the daemon trusts none.
func TestDaemonSignature(t *testing.T) {
	a := mirrortest.New(t, mirrortest.Generate(1<<20, 3), mirrortest.Name("a.iso"))
	b := mirrortest.New(t, mirrortest.Generate(1<<20, 4), mirrortest.Name("b.iso"))
	both := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w,
			`<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="a.iso"><url>%s</url></file><file name="b.iso"><url>%s</url></file></metalink>`, a.URL, b.URL)
	}))
	defer both.Close()
	key, err := pgp.NewEntity("alice", "", "alice@example.org", &packet.Config{Algorithm: packet.PubKeyAlgoEd25519})
	if err != nil {
		t.Fatal(err)
	}
	var public, signature bytes.Buffer
	if err := key.Serialize(&public); err != nil {
		t.Fatal(err)
	}
	if err := pgp.DetachSign(&signature, []*pgp.Entity{key}, bytes.NewReader(a.Content.Bytes()), nil); err != nil {
		t.Fatal(err)
	}
	keyring, file := filepath.Join(t.TempDir(), "alice.pub"), filepath.Join(t.TempDir(), "a.iso.sig")
	for path, data := range map[string][]byte{keyring: public.Bytes(), file: signature.Bytes()} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := newDaemonRun(t)
	for words, wants := range map[string][2]string{"--keyring " + keyring: {"complete ", "error "},
		"": {"error the daemon trusts no key or certificate", "error the daemon trusts no key"}} {
		d.start(strings.Fields(words)...)
		for i, url := range []string{a.URL, b.URL} {
			gid, _ := d.control(exitDone, "add", "--signature", file, url)
			status := d.status(strings.TrimSpace(gid))
			told, _ := status["errorMessage"].(string)
			if want, why, _ := strings.Cut(wants[i], " "); status["status"] != want || !strings.Contains(told, why) {
				t.Errorf("%q, file %d: %v, %s; want %s", words, i, status["status"], told, wants[i])
			}
		}
		gid, _ := d.control(exitDone, "add", "--signature", file, both.URL+"/all.meta4")
		if status := d.status(strings.TrimSpace(gid)); status["status"] != "error" {
			t.Errorf("%q, a document of several files: %v", words, status)
		}
		d.end()
	}
	if _, stderr := d.control(exitUsage, "add", "--signature", file, a.URL, b.URL); !strings.Contains(stderr, "several files") {
		t.Error(stderr)
	}
}
