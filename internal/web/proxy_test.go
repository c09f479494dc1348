package web

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func mustURL(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func text(u *url.URL) string {
	if u == nil {
		return ""
	}
	return u.String()
}

func TestFromEnvironment(t *testing.T) {
	for _, tt := range []struct {
		name string
		env  map[string]string
		want map[string]string // URL to proxy
	}{
		{"nothing", nil, map[string]string{"http://a/": "", "https://a/": "", "ftp://a/": ""}},
		{"by scheme", map[string]string{"http_proxy": "p:8080", "https_proxy": "https://q", "ftp_proxy": "socks5://f"},
			map[string]string{"http://a/": "http://p:8080", "https://a/": "https://q:443",
				"ftps://a/": "socks5://f:1080", "gopher://a/": ""}},
		{"for all", map[string]string{"ALL_PROXY": "socks5h://u:p@s:9050/", "https_proxy": "http://q:1"},
			map[string]string{"http://a/": "socks5h://u:p@s:9050", "https://a/": "http://q:1",
				"ftp://a/": "socks5h://u:p@s:9050"}},
		{"small letters first", map[string]string{"http_proxy": "a:1", "HTTP_PROXY": "b:1"},
			map[string]string{"http://x/": "http://a:1"}},
		{"capital", map[string]string{"HTTP_PROXY": "b:1"}, map[string]string{"http://x/": "http://b:1"}},
		{"run by a web server", map[string]string{"HTTP_PROXY": "b:1", "REQUEST_METHOD": "GET"},
			map[string]string{"http://x/": ""}},
		{"this machine", map[string]string{"all_proxy": "p:1"},
			map[string]string{"http://localhost/": "", "http://127.3.2.1:80/": "", "http://[::1]/": "",
				"http://[::ffff:127.0.0.1]/": "", "http://127.example/": "http://p:1"}},
		{"this machine in other forms", map[string]string{"all_proxy": "p:1"}, map[string]string{
			"http://2130706433/": "", "http://0x7f.1/": "", "http://017700000001/": "", "http://127.1/": "",
			"http://[::ffff:7f00:1]/": "", "http://localhost./": "",
			"http://x.LOCALHOST/": "", "http://localhost.example/": "http://p:1", "http://128.1/": "http://p:1",
			"http://nas/": "http://p:1",
		}},
		{"an exception in another form", map[string]string{"all_proxy": "p:1", "no_proxy": "10.0.0.0/8"},
			map[string]string{"http://0xa.1/": "", "http://012.1/": "", "http://11.1/": "http://p:1"}},
		{"exceptions", map[string]string{"all_proxy": "[::2]:1",
			"NO_PROXY": "Example.org, .net,*.de 10.0.0.0/8,1.2.3.4:81,[2001:db8::1]:8,2001:db8::2,c.test:444"},
			map[string]string{
				"http://example.org/": "", "http://a.EXAMPLE.org:1/": "", "http://notexample.org/": "http://[::2]:1",
				"http://x.net./": "", "http://x.de/": "",
				"http://10.1.2.3/": "", "http://11.1.2.3/": "http://[::2]:1", "http://1.2.3.4/": "http://[::2]:1",
				"http://1.2.3.4:81/":       "",
				"https://[2001:db8::1]:8/": "", "https://[2001:db8::1]/": "http://[::2]:1", "https://[2001:db8::2]/": "",
				"https://c.test/": "http://[::2]:1", "https://c.test:444": "", "ftp://b.c.test:444/": "",
			}},
		{"everything", map[string]string{"all_proxy": "p:1", "no_proxy": "a,*"}, map[string]string{"http://x/": ""}},
	} {
		r, err := ProxiesFromEnvironment(func(name string) string { return tt.env[name] })
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		for u, want := range tt.want {
			if got := text(r.For(mustURL(t, u))); got != want {
				t.Errorf("%s: %s goes through %q, want %q", tt.name, u, got, want)
			}
		}
	}
}

// An invalid proxy is not the same as no proxy, and errors do not contain its password (rule 62).
func TestFromEnvironmentRefuses_Rule62(t *testing.T) {
	for name, value := range map[string]string{
		"http_proxy": "socks4://u:s3cret@h", "HTTPS_PROXY": "http://h:s3cret", "all_proxy": "http://u:s3cret@/",
		"FTP_PROXY": "http://h:1 s3cret/",
	} {
		_, err := ProxiesFromEnvironment(func(n string) string { return map[string]string{name: value}[n] })
		var e *VariableError
		if !errors.As(err, &e) || e.Name != name || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
}

// A proxy for all requests applies to requests to this machine, too.
func TestOneProxy(t *testing.T) {
	proxy := mustURL(t, "http://p:1")
	r := OneProxy(proxy, ParseNoProxy("127.0.0.2"))
	for u, want := range map[string]*url.URL{"http://127.0.0.1/": proxy, "ftp://localhost/": proxy, "https://127.0.0.2/": nil} {
		if got := r.For(mustURL(t, u)); got != want {
			t.Errorf("%s goes through %v", u, got)
		}
	}
}

// FuzzParseProxy: a proxy has a known scheme and a port, and parses back to itself.
func FuzzParseProxy(f *testing.F) {
	for _, seed := range []string{"h", "h:1", "http://u:p@h", "socks5://[::1]:9", "https://h/?x", "u@h",
		"http://[fe80::1%25lo]:1", "http://%41"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, word string) {
		u, err := ParseProxy(word)
		if err != nil {
			return
		}
		if u.Port() == "" || ports[u.Scheme] == "" || u.Hostname() == "" || u.Path+u.RawQuery+u.Fragment != "" {
			t.Fatalf("%q is %+v", word, u)
		}
		if again, err := ParseProxy(u.String()); err != nil || again.String() != u.String() {
			t.Fatalf("%q is %s, and that is %v, %v", word, u, again, err)
		}
	})
}

// FuzzNoProxy: an address is an exception if and only if a word includes it.
func FuzzNoProxy(f *testing.F) {
	f.Add("10.0.0.0/8,1.2.3.4", uint32(0x0a000001))
	f.Add("a.b:1 [::1]:2,*.x", uint32(1))
	f.Fuzz(func(t *testing.T, list string, bits uint32) {
		a := netip.AddrFrom4([4]byte{byte(bits >> 24), byte(bits >> 16), byte(bits >> 8), byte(bits)})
		u := &url.URL{Scheme: "http", Host: a.String()}
		e := ParseNoProxy(list)
		if !ParseNoProxy(list + "," + a.String()).match(u) {
			t.Fatalf("%q with %v has it not", list, a)
		}
		if e.match(u) && !strings.ContainsAny(list, "*0123456789") {
			t.Fatalf("%q has %v", list, a)
		}
	})
}

// TestEnvironment: requests to this machine do not use the proxy of the environment.
func TestEnvironment(t *testing.T) {
	t.Setenv("http_proxy", "p:1")
	for u, want := range map[string]string{"http://127.0.0.1/": "", "http://a.example/": "http://p:1"} {
		if got, err := Environment()(mustURL(t, u)); text(got) != want || err != nil {
			t.Errorf("%s goes through %v, %v", u, got, err)
		}
	}
}
