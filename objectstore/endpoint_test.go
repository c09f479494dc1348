package objectstore

import "testing"

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
