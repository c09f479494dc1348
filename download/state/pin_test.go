package state

import (
	"errors"
	"net/url"
	"os"
	"testing"
	"time"

	"braid/verify"
	"braid/verify/openpgp"
	"braid/verify/smime"
)

var (
	openPGP, sMIME = kindsOf(openpgp.Kind), kindsOf(smime.Kind)

	strong = Pin{HTTPS: verify.SHA256}
	signed = Pin{Signatures: openPGP}
	none   = Pin{}
)

func claim(t *testing.T, a verify.Algorithm, over verify.Channel) verify.Claim {
	t.Helper()
	d, err := verify.NewDigest(a, make([]byte, a.Size()))
	if err != nil {
		t.Fatal(err)
	}
	return verify.Claim{Digest: d, Field: "Digest", Channel: over}
}

func TestPinOf(t *testing.T) {
	got := PinOf([]verify.Claim{
		claim(t, verify.SHA256, verify.HTTPS), claim(t, verify.MD5, verify.HTTPS), claim(t, verify.SHA1, verify.HTTP),
		claim(t, verify.SHA512, verify.User),
	}, "application/metalink4+xml", "application/pgp-signature", "text/html")
	if want := (Pin{HTTPS: verify.SHA256, HTTP: verify.SHA1, Signatures: openPGP}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, kind := range []string{
		"application/pkcs7-signature", "application/pkcs7-mime", "application/x-pkcs7-signature", "application/x-pkcs7-mime",
	} {
		if got := PinOf(nil, kind); got != (Pin{Signatures: sMIME}) {
			t.Errorf("%s: %+v", kind, got)
		}
	}
}

// Offers that were made before and are missing now, and those that may be missing (rule 64).
func TestDowngrade_Rule64(t *testing.T) {
	all := Pin{HTTPS: verify.SHA512, HTTP: verify.SHA512, Signatures: openPGP | sMIME, Pieces: true}
	for _, tt := range []struct {
		name        string
		before, now Pin
		want        string // "" if none is missing
	}{
		{"nothing was offered", none, none, ""},
		{"all is there", all, all, ""},
		{"the same", strong, strong, ""},
		{"more", strong, all, ""},
		{"none", strong, none, "gave sha-256 over https before, but now gives no digest"},
		{"over http", strong, Pin{HTTP: verify.SHA512}, "gave sha-256 over https before, but now gives sha-512 over http only"},
		{"weak", strong, Pin{HTTPS: verify.SHA1, HTTP: verify.SHA256},
			"gave sha-256 over https before, but now gives sha-1 only"},
		{"weaker", Pin{HTTPS: verify.SHA512}, strong, "gave sha-512 over https before, but now gives sha-256 only"},
		{"a weak digest was offered", Pin{HTTPS: verify.SHA1}, none, ""},
		{"over http it was offered", Pin{HTTP: verify.SHA512}, none, ""},
		{"pieces were offered", Pin{Pieces: true}, none, ""},
		{"OpenPGP", signed, strong, "named an OpenPGP signature before, and now names none"},
		{"S/MIME", Pin{Signatures: sMIME}, strong, "named an S/MIME signature before, and now names none"},
		{"another kind of signature", signed, Pin{Signatures: sMIME}, "named an OpenPGP signature before, and now names none"},
		{"all is missing", all, none, "gave sha-512 over https before, but now gives no digest; " +
			"it named an OpenPGP signature before, and now names none; it named an S/MIME signature before, and now names none"},
	} {
		s, u := fresh(t), parse(t, "https://h/a")
		s.KeepPin(u, tt.before)
		for _, s := range []*Store{s, s.again(), {Dir: s.Dir, PinsOnly: true}} {
			err := s.CheckPin(u, tt.now)
			var e *DowngradeError
			switch {
			case tt.want == "" && err != nil || tt.want != "" && (err == nil || err.Error() != "this URL "+tt.want):
				t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
			case err != nil && (!errors.As(err, &e) || e.Before != tt.before || e.Now != tt.now):
				t.Errorf("%s: %+v", tt.name, e)
			}
		}
	}
}

func TestWhichURLsAreOne(t *testing.T) {
	const first = "https://example.org/a/b%20c"
	s := fresh(t)
	s.KeepPin(parse(t, first), strong)
	for _, tt := range []struct {
		url  string
		same bool
	}{
		{first, true}, {"https://EXAMPLE.org:443/a/b%20c", true}, {"https://me:pass@example.org/a/b%20c", true},
		{first + "#x", true}, {first + "?", true},
		{"http://example.org/a/b%20c", false}, {"http://example.org:443/a/b%20c", false},
		{"https://example.org:444/a/b%20c", false}, {"https://example.net/a/b%20c", false},
		{"https://example.org/a/b", false}, {"https://example.org/A/b%20c", false}, {first + "/", false},
		{first + "?file=1", false}, {"ftp://example.org/a/b%20c", false},
	} {
		if got := s.CheckPin(parse(t, tt.url), none) != nil; got != tt.same {
			t.Errorf("%s: %v, want %v", tt.url, got, tt.same)
		}
	}
	s = fresh(t)
	for _, text := range []string{first + "?file=1", "ftp://example.org/", "file:///a", "https:///a", "mailto:a"} {
		s.KeepPin(parse(t, text), strong)
		s.ForgetPin(parse(t, text))
	}
	s.KeepPin(nil, strong)
	s.ForgetPin(nil)
	if _, err := os.Stat(s.Dir); err == nil || s.CheckPin(nil, none) != nil {
		t.Error("something is kept")
	}
	s.KeepPin(parse(t, "https://example.org"), strong)
	if s.CheckPin(parse(t, "https://example.org/"), none) == nil {
		t.Error("an empty path is /")
	}
}

// Only the user lowers what a server offered.
func TestKeepNeverLowers(t *testing.T) {
	s, u := fresh(t), parse(t, "https://example.org/a")
	for _, p := range []Pin{{HTTPS: verify.SHA256, Pieces: true}, {Signatures: openPGP | sMIME}, {HTTP: verify.MD5}, none} {
		s.KeepPin(u, p)
		s = s.again()
	}
	if got := s.pinAt(t, u); got != (Pin{verify.SHA256, verify.MD5, openPGP | sMIME, true}) {
		t.Errorf("%+v", got)
	}
	s.ForgetPin(u)
	if s.CheckPin(u, none) != nil {
		t.Error("not forgotten")
	}
	s.KeepPin(u, signed)
	if got := s.again().pinAt(t, u); got != signed {
		t.Errorf("after it was forgotten: %+v", got)
	}
	s.ForgetPin(u)
	if got := entries(t, s); len(got) != 0 {
		t.Errorf("not forgotten: %v", got)
	}
}

func (s *Store) pinAt(t *testing.T, u *url.URL) Pin {
	t.Helper()
	name, ok := s.pinName(u)
	if !ok {
		t.Fatal(u)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pin(name)
}

// Two programs keep each other's pins, and do not restore one that the other forgot.
func TestPinsOfTwoPrograms(t *testing.T) {
	a, u, gone := fresh(t), parse(t, "https://h/shared"), parse(t, "https://h/gone")
	a.KeepPin(gone, strong)
	b := a.again()
	b.CheckPin(gone, strong)
	a.KeepPin(u, strong)
	a.ForgetPin(gone)
	b.KeepPin(u, signed)
	b.KeepPin(gone, none)
	if got := a.pinAt(t, u); got != (Pin{HTTPS: verify.SHA256, Signatures: openPGP}) {
		t.Errorf("%+v", got)
	}
	if got := a.pinAt(t, gone); got != none {
		t.Errorf("it came back: %+v", got)
	}
}

// A pin without news is not written: most downloads are of known URLs.
func TestPinIsWrittenOnce(t *testing.T) {
	s, u := fresh(t), parse(t, "https://example.org/a")
	s.KeepPin(u, none)
	if _, err := os.Stat(s.Dir); err == nil {
		t.Error("written with nothing to say")
	}
	s.KeepPin(u, strong)
	then := time.Now().Add(-time.Hour).Truncate(time.Second)
	setTime(t, s, then)
	s.KeepPin(u, strong)
	s.CheckPin(u, strong)
	if info, err := os.Stat(entries(t, s)[0]); err != nil || !info.ModTime().Equal(then) {
		t.Errorf("written again: %v, %v", info.ModTime(), err)
	}
}

// Pins in memory are limited, too.
func TestPinsInMemoryAreBounded(t *testing.T) {
	s := &Store{}
	u := url.URL{Scheme: "https", Host: "h"}
	for i := range pinned.most + 100 {
		u.Path = "/" + time.Duration(i).String()
		s.KeepPin(&u, strong)
	}
	if len(s.pins) != pinned.most {
		t.Errorf("%d pins", len(s.pins))
	}
}

// TestPinRecord: entries are as earlier releases wrote them, and unknown kinds of signatures in them are
// ignored.
func TestPinRecord(t *testing.T) {
	all := Pin{HTTPS: verify.SHA256, Signatures: openPGP | sMIME, Pieces: true}
	old := `{"V":1,"HTTPS":"sha-256","OpenPGP":true,"SMIME":true,"Pieces":true,"Other":true}`
	var r pinRecord
	if !decode([]byte(checksum([]byte(old))+" "+old), &r) || r != all.record() {
		t.Errorf("%s: %+v", old, r)
	}
	if got := string(encode(all.record())[17:]); got != `{"HTTPS":"sha-256","OpenPGP":true,"Pieces":true,"SMIME":true,"V":1}` {
		t.Errorf("written is %s", got)
	}
	if got := string(encode(strong.record())[17:]); got != `{"V":1,"HTTPS":"sha-256"}` {
		t.Errorf("written is %s", got)
	}
}
