package objectstore

import (
	"net/http"
	"strings"
	"testing"
)

// TestEndpoint checks that different spellings of an endpoint are one, and that stores at different ports are not.
func TestEndpoint(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"https://S3.example:443": "https://s3.example", "http://s3.example:80/": "http://s3.example",
		"http://s3.example:443": "http://s3.example:443", "http://[::1]:9000": "http://[::1]:9000",
		"": amazon, "https://s3.dualstack.eu-west-1.amazonaws.com": amazon,
	} {
		env := map[string]string{
			"AWS_ENDPOINT_URL_S3": word, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret-0123",
			"AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
		}
		s, err := Open("s3://bucket/", Options{Getenv: func(name string) string { return env[name] }})
		if err != nil {
			t.Fatal(word, err)
		}
		if got := s.Endpoint(); got != want {
			t.Errorf("%s is %s, want %s", word, got, want)
		}
	}
}

// TestProxy checks that the store is reached through the proxy in the environment, and that an invalid proxy is an error
// that does not show its password (rule 62), instead of a direct connection.
func TestProxy(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"http://me:pw-0123@proxy.example:3128": "http://me:pw-0123@proxy.example:3128", "http://me:pw-0123@h%zz/": "an error",
		"http://me:pw-0123@h:port/": "an error", "": "",
	} {
		env := map[string]string{
			"HTTPS_PROXY": word, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret-0123",
			"AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
		}
		s := &Store{options: Options{Getenv: func(name string) string { return env[name] }}}
		c, err := readConfig(s.options.Getenv)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := s.transport(c)
		if err != nil {
			if said := configFault("s3://bucket/", err).Error(); want != "an error" || strings.Contains(said, "pw-0123") {
				t.Errorf("%s: %s", word, said)
			}
			continue
		}
		proxy, err := tr.Proxy(&http.Request{URL: c.endpoint})
		got := ""
		if proxy != nil {
			got = proxy.String()
		}
		if got != want || err != nil {
			t.Errorf("%s: the proxy is %s, want %s; error: %v", word, got, want, err)
		}
	}
}
