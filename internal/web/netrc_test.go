package web

import (
	"errors"
	"strings"
	"testing"
)

const netrcExample = `# who I am
machine Ftp.Example.org login me password s3cret
machine two.example
	login "a b"
	account x
	password "q\"u\\o#te" # not of the word
macdef init
	machine evil.example login x password y

machine three.example login nobody
machine three.example login first password 1
machine three.example login second password 2
machine hash.example login #me password #s3cret #not of the word
# login x password y
machine lines.example # login x
	login me # a comment
	password
	#1 # another
default login anonymous password me@
machine late.example login late password 3
`

func TestNetrc(t *testing.T) {
	f, err := ParseNetrc(strings.ReplaceAll(netrcExample, "\n", "\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ host, name, want string }{
		{"ftp.example.org", "", "me:s3cret"}, {"FTP.EXAMPLE.ORG.", "", "me:s3cret"}, {"ftp.example.org", "me", "me:s3cret"},
		{"two.example", "", `a b:q"u\o#te`}, {"three.example", "", "first:1"}, {"three.example", "second", "second:2"},
		{"three.example", "third", ""}, {"hash.example", "", "#me:#s3cret"}, {"lines.example", "", "me:#1"},
		{"evil.example", "", "anonymous:me@"}, {"sub.ftp.example.org", "", "anonymous:me@"},
		{"late.example", "", "anonymous:me@"}, {"late.example", "late", "late:3"}, {"x", "me", ""},
	} {
		login, password, ok := f.Find(tt.host, tt.name)
		if got := login + ":" + password; ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s, %q: %q, %v; want %q", tt.host, tt.name, got, ok, tt.want)
		}
	}
	if _, _, ok := (Netrc{}).Find("x", ""); ok {
		t.Error("nothing says something")
	}
}

// Errors contain no word that might be a secret (rule 62).
func TestParseNetrcRefuses_Rule62(t *testing.T) {
	for text, line := range map[string]int{
		"machine a\nlogin b\ns3cret c": 3, "login s3cret": 1, "\n\nmachine a login b password": 3,
		"machine a password \"s3cret\n\"": 1,
		"machine a password \"s3cret\\":   1,
	} {
		_, err := ParseNetrc(text)
		var e *LineError
		if !errors.As(err, &e) || e.Line != line || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzParseNetrc: a quoted entry is found again, whatever precedes it.
func FuzzParseNetrc(f *testing.F) {
	f.Add(netrcExample, "pass word")
	f.Add("macdef x", `\"`)
	f.Fuzz(func(t *testing.T, before, password string) {
		_, err := ParseNetrc(before)
		var e *LineError
		if err != nil && (!errors.As(err, &e) || e.Line < 1 || e.Line > 1+strings.Count(before, "\n")) {
			t.Fatal(err)
		}
		if err != nil || password == "" || strings.Contains(password, "\n") {
			return
		}
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(password)
		file, err := ParseNetrc(before + "\n\nmachine only.here login unusual.name password \"" + quoted + "\"")
		if err != nil {
			t.Fatal(err)
		}
		if _, got, ok := file.Find("only.here", "unusual.name"); !ok ||
			got != password && !strings.Contains(before, "unusual.name") {
			t.Fatalf("%q: %q, %v", password, got, ok)
		}
	})
}
