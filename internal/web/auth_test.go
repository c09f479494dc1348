package web

import (
	"strings"
	"testing"
)

// param returns a parameter of an answer.
func param(answer, name string) string {
	for _, c := range parseChallenges(answer) {
		return c.params[name]
	}
	return ""
}

// The examples of RFC 7616, section 3.9.1, of RFC 2617, section 3.5, and of RFC 2069 as corrected by its errata.
func TestAnswerVectors(t *testing.T) {
	const challenge = `realm="http-auth@example.org", qop="auth, auth-int", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`
	mufasa := question{User: "Mufasa", Password: "Circle of Life", Method: "GET", URI: "/dir/index.html",
		Nonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", Count: 1}
	older, oldest := mufasa, mufasa
	older.Password, older.Nonce = "Circle Of Life", "0a4f113b"
	oldest.Password = "CircleOfLife"
	for _, tt := range []struct {
		challenge string
		question  question
		want      string
	}{
		{"Digest " + challenge + ", algorithm=MD5", mufasa, "8ca523f5e9506fed4657c9700eebdbec"},
		{"Digest " + challenge + ", algorithm=SHA-256", mufasa,
			"753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"},
		{`Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"`, older, "6629fae49393a05397450978507c4ef1"},
		{`Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"`, oldest, "1949323746fe6a43ef61f9606e7febea"},
	} {
		c, ok := choose([]string{tt.challenge})
		if !ok {
			t.Errorf("%s: cannot be answered", tt.challenge)
			continue
		}
		if got := param(c.answer(tt.question), "response"); got != tt.want {
			t.Errorf("%s: %s", tt.challenge, c.answer(tt.question))
		}
	}
}

// The example of section 3.9.2, with the values of its erratum: RFC 7616 has those of SHA-512, cut off.
func TestAnswerUserHash(t *testing.T) {
	c, ok := choose([]string{`Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", charset=UTF-8, userhash=true`})
	if !ok {
		t.Fatal("cannot be answered")
	}
	q := question{User: "J\u00e4s\u00f8n Doe", Password: "Secret, or not?", Method: "GET", URI: "/doe.json",
		Nonce: "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v", Count: 1}
	got := c.answer(q)
	for name, want := range map[string]string{
		"username": "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b",
		"response": "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5", "userhash": "true", "nc": "00000001",
	} {
		if param(got, name) != want {
			t.Errorf("%s is %s, want %s", name, param(got, name), want)
		}
	}
	c.params["userhash"] = "false"
	if got := c.answer(q); !strings.Contains(got, "username*=UTF-8''J%C3%A4s%C3%B8n%20Doe,") ||
		strings.Contains(got, "userhash") {
		t.Error(got)
	}
}

func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		fields []string
		want   string // scheme and algorithm
	}{
		{nil, ""},
		{[]string{"Negotiate", "NTLM TlRMTVNTUAAB==", "Bearer realm=x"}, ""},
		{[]string{`Basic realm="a, Digest b=\"c"`}, "basic"},
		{[]string{"Basic"}, "basic"},
		{[]string{`NTLM abc=, Basic realm=x, Digest realm=x, nonce=n`}, "digest MD5"},
		{[]string{`Digest nonce=a, algorithm=MD5, Digest nonce=b, algorithm="sha-256", Basic realm=""`}, "digest SHA-256"},
		{[]string{`Digest nonce=a, algorithm=SHA-256`,
			`digest NONCE = "b" , Algorithm=SHA-512-256-sess,qop="auth-int, AUTH"`}, "digest SHA-512-256-sess"},
		{[]string{`Digest nonce=a, qop="auth-int", Basic realm=x`}, "basic"},
		{[]string{`Digest nonce=a, algorithm=TOKEN`}, ""},
		{[]string{`Digest realm=a`}, ""},
		{[]string{`Digest nonce="a`}, ""},
		{[]string{`nonce=a, Basic realm=x`}, ""},
	} {
		c, ok := choose(tt.fields)
		got := c.scheme
		if c.isDigest() {
			got += " " + c.algorithm.name
		}
		if ok != (tt.want != "") || got != tt.want {
			t.Errorf("%q: %q, %v; want %q", tt.fields, got, ok, tt.want)
		}
	}
	if c, _ := choose([]string{`Digest nonce=a, stale=TRUE`}); !c.stale() {
		t.Error("not stale")
	}
}

// FuzzAnswer: for every challenge, the answer is a single line that parses back to the same values, and does not
// contain the password.
func FuzzAnswer(f *testing.F) {
	f.Add(`Digest realm="a\"b", nonce="x", qop=auth, opaque="\\"`, "me", "pw")
	f.Add(`Basic x, Digest nonce=y,algorithm=md5-sess`, "J\u00e4", "\"\n")
	f.Fuzz(func(t *testing.T, field, user, password string) {
		c, ok := choose([]string{field})
		if !ok {
			return
		}
		got := c.answer(question{User: user, Password: password, Method: "GET", URI: "/", Nonce: "n", Count: 7})
		if c.isDigest() {
			if len(password) > 6 && strings.Contains(got, password) && !strings.Contains(field+user, password) {
				t.Fatalf("the password is in %q", got)
			}
			for _, name := range []string{"realm", "nonce", "opaque"} {
				if param(got, name) != c.params[name] {
					t.Fatalf("%s: %q became %q in %s", name, c.params[name], param(got, name), got)
				}
			}
		}
		if !strings.ContainsAny(field, "\r\n") && strings.ContainsAny(got, "\r\n") {
			t.Fatalf("%q has several lines", got)
		}
	})
}
