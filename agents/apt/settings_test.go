package apt

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// configured returns settings from items of the form "name=value".
func configured(items ...string) settings {
	m := &Message{Code: 601}
	for _, item := range items {
		m.Fields = append(m.Fields, Field{"Config-Item", item})
	}
	return readSettings(m, "braid+https")
}

func parseURL(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestReadSettings(t *testing.T) {
	s := configured("A::B=1", "a::c=x%3dy%0az", "no equals sign", "A::List::=one", "A::List::=two",
		"Binary::braid+https::A::B=2", "Binary::http::A::c=no")
	if s.get("a::b") != "2" || s.get("A::C") != "x=y\nz" || !slices.Equal(s.lists["a::list"], []string{"one", "two"}) ||
		s.get("none") != "" {
		t.Errorf("%+v", s)
	}
	s = configured("APT::Sandbox::User=")
	if _, said := s.lookup("apt::sandbox::user"); !said {
		t.Error("an empty value counts as none")
	}
}

func TestSettingsFile(t *testing.T) {
	s := configured("Dir=/", "Dir::Etc=etc/apt", "Dir::Etc::netrc=auth.conf", "Dir::State=/other/", "Dir::State::a=b",
		"Dir::C=/dev/null", "Dir::Empty=")
	for name, want := range map[string]string{"Dir::Etc::netrc": "/etc/apt/auth.conf", "Dir::State::a": "/other/b",
		"Dir::C": "", "Dir::Empty": "", "Dir::None": ""} {
		if got := s.file(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	s = configured("RootDir=/root", "Dir=/x", "Dir::F=./f", "Dir::G=g")
	if s.file("Dir::G") != "/root/x/g" || s.file("Dir::F") != "/root/f" {
		t.Errorf("%s, %s", s.file("Dir::G"), s.file("Dir::F"))
	}
}

func TestSettingsOption(t *testing.T) {
	s := configured("Acquire::http::Proxy=all", "Acquire::https::Proxy=secure", "Acquire::https::a.example::Proxy=of a",
		"Acquire::braid::Timeout=7", "Acquire::http::Dl-Limit=-1")
	for at, want := range map[string]string{"http://a.example/": "all", "https://b.example/": "secure",
		"https://a.example:444/": "of a"} {
		if got := s.option(parseURL(t, at), "Proxy"); got != want {
			t.Errorf("%s: %s, want %s", at, got, want)
		}
	}
	if s.number(anyServer, "Timeout", 30) != 7 || s.number(anyServer, "Dl-Limit", 0) != 0 {
		t.Error("numbers")
	}
	for _, word := range []string{"yes", "True", "1", "on"} {
		if !is(word, false) || is("no", true) || !is("what", true) {
			t.Error(word)
		}
	}
}

// TestCheckTrust checks that unknown settings about trust are errors and not ignored.
func TestCheckTrust(t *testing.T) {
	for item, want := range map[string]string{
		"Acquire::https::CrlFile=/x":               "crlfile is about trust",
		"Acquire::https::a.example::IssuerCert=/x": "a.example::issuercert",
		"Acquire::braid::SslForceVersion=TLSv1":    "sslforceversion",
		"Acquire::https::Verify-Host=false":        "verify-host", "Acquire::https::Pinned-Cert=x": "pinned",
		"Acquire::https::CaInfo=/none": "CaInfo", "Acquire::https::SslCert=/none": "SslCert",
		"Acquire::https::SslKey=/none":            "SslKey: a key is given without",
		"Acquire::https::a.example::CaInfo=/none": "CaInfo",
		"Acquire::https::Verify-Peer=false":       "", "Acquire::https::Verify-Host=true": "",
		"Acquire::https::CrlFile=": "", "Acquire::https::Caching=x": "", "Acquire::https::CaPath=x": "capath",
		"Acquire::gpgv::CrlFile=x": "", "Acquire::https::Proxy-Auto-Detect=/x": "",
		"Acquire::https::Pipeline-Depth=5": "", "Acquire::http::Proxy::ssl.example=DIRECT": "", "Acquire::https::No-Cache=1": "",
		"Binary::braid+https::Acquire::https::CrlFile=/x":              "crlfile is about trust",
		"Binary::braid+https::Acquire::https::a.example::CaInfo=/none": "CaInfo",
		"Binary::apt-get::Acquire::https::CrlFile=/x":                  "",
		"Acquire::https::CrlFile::=/x":                                 "crlfile is about trust",
		"Acquire::https::CaInfo::=/x":                                  "cainfo is about trust",
		"Acquire::https::OCSP=yes":                                     "ocsp", "Acquire::https::Min-TLS=1.3": "min-tls",
		"Acquire::https::Cipher-List=x": "cipher-list", "Acquire::https::No-Verify=1": "no-verify",
		"Acquire::https::Revocation=1": "revocation", "Acquire::https::Insecure=0": "insecure",
	} {
		s := configured(item)
		_, err := s.newClient(newProxies(&s))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", item, err, want)
		}
	}
}

// TestVerifyPeer checks that a setting for one server does not apply to others.
func TestVerifyPeer(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	u := parseURL(t, server.URL)
	s := configured("Acquire::https::" + u.Hostname() + "::Verify-Peer=false")
	c, err := s.newClient(newProxies(&s))
	if err != nil || c.TLS.InsecureSkipVerify || !c.TLSFor[u.Hostname()].InsecureSkipVerify {
		t.Errorf("%v: %+v", err, c.TLSFor)
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = configured("Acquire::https::CaInfo=" + ca)
	if _, err := s.newClient(newProxies(&s)); err == nil || !strings.Contains(err.Error(), "no certificate in") {
		t.Errorf("a file without certificates: %v", err)
	}
}

func TestProxies(t *testing.T) {
	for _, name := range []string{"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
		"NO_PROXY"} {
		t.Setenv(name, "")
	}
	t.Setenv("no_proxy", "near.example")
	program := filepath.Join(t.TempDir(), "detect")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ncase $1 in *direct*) echo DIRECT;; *unknown*) ;; *bad*) exit 1;; "+
		"*) echo \" http://found:1 \";; esac\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	detecting := []string{"Acquire::http::Proxy=http://default:2", "Acquire::http::Proxy-Auto-Detect=" + program}
	for _, tt := range []struct {
		items    []string
		at, want string
	}{
		{nil, "http://a.example/x", ""},
		{[]string{"Acquire::http::Proxy=http://default:2"}, "https://a.example/x", "http://default:2"},
		{[]string{"Acquire::http::Proxy=http://default:2", "Acquire::http::Proxy::a.example=DIRECT"}, "http://a.example/x", ""},
		{[]string{"Acquire::http::Proxy=DIRECT"}, "http://a.example/x", ""},
		{[]string{"Acquire::http::Proxy=http://default:2"}, "http://near.example/x", ""},
		{[]string{"Acquire::http::Proxy=gopher://x"}, "http://a.example/x", "error"},
		{detecting, "http://a.example/x", "http://found:1"},
		{detecting, "http://direct.example/x", ""},
		{detecting, "http://unknown.example/x", "http://default:2"},
		{detecting, "http://bad.example/x", "error"},
		{detecting, "http://given.example/x", "http://given:3"},
	} {
		s := configured(tt.items...)
		p := newProxies(&s)
		p.give(parseURL(t, "http://given.example/"), "http://given:3")
		got, err := p.of(parseURL(t, tt.at))
		switch {
		case tt.want == "error" && err == nil, tt.want != "error" && err != nil:
			t.Errorf("%s %q: %v", tt.at, tt.items, err)
		case err == nil && (got == nil && tt.want != "" || got != nil && got.String() != tt.want):
			t.Errorf("%s %q: %v, want %s", tt.at, tt.items, got, tt.want)
		}
	}
}

func TestCredentials(t *testing.T) {
	all := parseLogins("# nothing\nmachine a.example login me password one\nmachine http://b.example:8080/pub login her " +
		"password two\n machine braid+https://c.example\nlogin\tx\npassword y machine d.example/only login z password w")
	for at, want := range map[string]string{
		"https://a.example/x": "me:one", "https://a.example:444/x": "me:one", "http://a.example/x": "plain a.example",
		"http://b.example:8080/pub/x": "her:two", "http://b.example:8080/x": "", "http://b.example/pub": "",
		"https://b.example:8080/pub": "",
		"https://c.example/":         "x:y", "http://c.example/": "", "https://own:1@a.example/": "own:1",
		"https://d.example/only/x": "z:w", "https://d.example/x": "", "https://d.example:1/only": "",
	} {
		user, plain := credentials(all, parseURL(t, at))
		got := user.String()
		if plain != "" {
			got = "plain " + plain
		}
		if got != want {
			t.Errorf("%s: %q, want %q", at, got, want)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"auth.conf": "machine a.example login first password 1",
		"auth.conf.d/10-x.conf":    "machine a.example login second password 2 machine b.example login b password 2",
		"auth.conf.d/.hidden.conf": "machine c.example login c password 3",
		"auth.conf.d/x.conf.bak":   "machine c.example login c password 3"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := configured("Dir::Etc="+dir, "Dir::Etc::netrc=auth.conf", "Dir::Etc::netrcparts=auth.conf.d")
	logins := readLogins(&s)
	for at, want := range map[string]string{"https://a.example": "first:1", "https://b.example": "b:2", "https://c.example": ""} {
		if user, _ := credentials(logins, parseURL(t, at)); user.String() != want {
			t.Errorf("%s: %s, want %s", at, user, want)
		}
	}
}

func TestPlaces(t *testing.T) {
	list := filepath.Join(t.TempDir(), "my list")
	if err := os.WriteFile(list,
		[]byte("# comment\n\nhttp://c.example/deb\tpriority:5\nbraid+https://d.example/deb/\tpriority:1 arch:amd64 "+
			"arch:arm64 type:deb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := configured("Acquire::braid::Mirrors::x::=https://a.example/debian",
		"Acquire::braid::Mirrors::x::=http://b.example/d/", "Acquire::braid::Mirrors::y::=https://a.example/debian/",
		"Acquire::braid::Mirrors::y::=mirror+file:"+list)
	in := "braid+mirror+file:" + strings.ReplaceAll(list, " ", "%20") + "/pool/a%2bb.deb"
	for _, tt := range []struct{ uri, arch, configured, mirrors string }{
		{"braid+https://a.example/debian/pool/a%2bb.deb", "amd64", "https://a.example/debian/pool/a%2bb.deb",
			"http://b.example/d/pool/a%2bb.deb http://c.example/deb/pool/a%2bb.deb https://d.example/deb/pool/a%2bb.deb"},
		{"https://a.example/debian/x", "s390x", "https://a.example/debian/x", "http://b.example/d/x http://c.example/deb/x"},
		{"https://a.example/debian-security/x", "", "https://a.example/debian-security/x", ""},
		{in, "", "https://d.example/deb/pool/a%2bb.deb http://c.example/deb/pool/a%2bb.deb",
			"http://b.example/d/pool/a%2bb.deb https://a.example/debian/pool/a%2bb.deb"},
		{in, "s390x", "http://c.example/deb/pool/a%2bb.deb",
			"http://b.example/d/pool/a%2bb.deb https://a.example/debian/pool/a%2bb.deb"},
		{"braid+mirror+file:/nowhere/list/x", "", "error", ""},
	} {
		at, mirrors, err := s.places(tt.uri, &Message{Fields: []Field{{"Target-Architecture", tt.arch}}})
		if err != nil {
			at = []string{"error"}
		}
		if strings.Join(at, " ") != tt.configured {
			t.Errorf("%s: %v %v", tt.uri, at, err)
		}
		if got := strings.Join(mirrors, " "); got != tt.mirrors && !strings.HasPrefix(tt.uri, "braid+mirror") {
			t.Errorf("%s: mirrors are %s, want %s", tt.uri, got, tt.mirrors)
		}
	}
	for _, bad := range []string{"ftp://x/", "not a URL", "http://", "mirror+file:/nowhere"} {
		s := configured("Acquire::braid::Mirrors::=" + bad)
		if _, _, err := s.places("https://a.example/x", &Message{}); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
