package metainfo

import (
	"errors"
	"strings"
	"testing"
)

const someHash = "0123456789abcdef0123456789abcdef01234567"

func TestMagnet(t *testing.T) {
	m, err := ParseMagnet("magnet:?xt=urn:sha1:AA&xt.1=urn:btih:" + strings.ToUpper(someHash) +
		"&dn=a+b%26&xl=12&tr=http%3A%2F%2Ft.example%2F&tr.1=udp://u.example:1&tr=x" +
		"&ws=https://h.example/a%20b&ws=file:///x&xs=http://u:p@h.example/a.torrent&xs=urn:x&x.pe=127.0.0.1:6881&x.pe=nobody")
	if err != nil {
		t.Fatal(err)
	}
	if m.InfoHash.String() != someHash || m.Name != "a b&" || m.Size != 12 ||
		strings.Join(m.Trackers, " ") != "http://t.example/ udp://u.example:1" ||
		len(m.WebSeeds) != 1 || len(m.Sources) != 1 || m.Sources[0].String() != "http://h.example/a.torrent" ||
		strings.Join(m.Peers, " ") != "127.0.0.1:6881" {
		t.Errorf("got %+v", m)
	}
	short, err := ParseMagnet("MAGNET:?xt=urn:btih:AERUKZ4JVPG66AJDIVTYTK6N54ASGRLH")
	if err != nil || short.InfoHash.String() != someHash || short.Size != -1 {
		t.Errorf("base32: %+v, %v", short, err)
	}
}

func TestMagnetRefused(t *testing.T) {
	for _, s := range []string{
		"", "http://h/?xt=urn:btih:" + someHash, "magnet:", "magnet:?dn=x", "magnet:?xt=urn:btih:" + someHash[1:],
		"magnet:?xt=urn:btih:" + someHash[1:] + "x",
		"magnet:?xt=urn:btih:" + strings.Repeat("0", 32), "magnet:?xt=urn:btmh:1220" + someHash,
		"magnet:?xt=urn:btih:" + someHash + "&a=%zz",
		"magnet:?xt=urn:btih:" + someHash + "&dn=" + strings.Repeat("x", maxMagnet),
	} {
		if m, err := ParseMagnet(s); err == nil {
			t.Errorf("%.80q: %+v", s, m)
		} else {
			checkError(t, err)
		}
	}
}

// TestMagnetSaysWhatIsMissing checks that the error for a link of version 2 names the version instead of calling the
// link invalid.
func TestMagnetSaysWhatIsMissing(t *testing.T) {
	for s, want := range map[string]string{
		"magnet:?xt=urn:btmh:1220" + someHash: "version 2 only",
		"magnet:?xt=urn:sha1:" + someHash:     "it has no hash of a torrent (xt)",
	} {
		if _, err := ParseMagnet(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", s, err, want)
		}
	}
}

// FuzzMagnet checks that the result of ParseMagnet is within the limits and that every error is an *Error.
func FuzzMagnet(f *testing.F) {
	f.Add("magnet:?xt=urn:btih:" + someHash +
		"&dn=a+b&xl=1&tr=http://t.example/?a=b%26&ws=http://h.example/%20&xs=https://h.example/x&x.pe=[::1]:1")
	f.Add("magnet:?tr.3=udp://x&xt.2=urn:btih:AERUKZ4JVPG66AJDIVTYTK6N54ASGRLH")
	f.Fuzz(func(t *testing.T, s string) {
		m, err := ParseMagnet(s)
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("error %v of type %T", err, err)
			}
			return
		}
		if max(len(m.Trackers), len(m.WebSeeds), len(m.Sources), len(m.Peers)) > mostOfOne || m.Size < -1 || len(s) > maxMagnet {
			t.Fatalf("%+v", m)
		}
	})
}
