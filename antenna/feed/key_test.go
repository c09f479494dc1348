package feed

import (
	"slices"
	"testing"
)

func TestKey(t *testing.T) {
	for _, tt := range []struct{ url, key, folded string }{
		{"http://a.example/", "http://a.example/", "http://a.example/"},
		{"http://a.example", "http://a.example/", "http://a.example/"},
		{"HTTP://A.Example/B/", "http://a.example/B/", "http://a.example/b/"},
		{"http://a.example:80/", "http://a.example/", "http://a.example/"},
		{"https://a.example:443", "https://a.example/", "https://a.example/"},
		{"http://a.example:443/", "http://a.example:443/", "http://a.example:443/"},
		{"http://a.example:/", "http://a.example/", "http://a.example/"},
		{"http://[2001:DB8::1]:80/x", "http://[2001:db8::1]/x", "http://[2001:db8::1]/x"},
		{"http://[2001:db8::1]/x", "http://[2001:db8::1]/x", "http://[2001:db8::1]/x"},
		{"http://U:P@A.example/", "http://U:P@a.example/", "http://u:p@a.example/"},
		{"http://a.example/%7Eb/%41%2F%2f%e3", "http://a.example/~b/A%2F%2F%E3", "http://a.example/~b/a%2F%2F%E3"},
		{"http://a.example/libstdc++.tar", "http://a.example/libstdc%2B%2B.tar", "http://a.example/libstdc%2B%2B.tar"},
		{"http://a.example/libstdc%2b%2B.tar", "http://a.example/libstdc%2B%2B.tar", "http://a.example/libstdc%2B%2B.tar"},
		{"http://a.example/%28a%29%2Cb%3A%40%21%3D%26%24%27%3b%2a", "http://a.example/(a),b:@!=&$';*",
			"http://a.example/(a),b:@!=&$';*"},
		{"http://a.example/é[1]", "http://a.example/%C3%A9%5B1%5D", "http://a.example/%C3%A9%5B1%5D"},
		{"http://a.example/%c3%a9%20%25%5B%3f%23", "http://a.example/%C3%A9%20%25%5B%3F%23",
			"http://a.example/%C3%A9%20%25%5B%3F%23"},
		{"http://a.example/a[1].iso?b[]=c", "http://a.example/a%5B1%5D.iso?b%5B%5D=c", "http://a.example/a%5B1%5D.iso?b%5B%5D=c"},
		{"http://a.example/a%5b1%5D.iso", "http://a.example/a%5B1%5D.iso", "http://a.example/a%5B1%5D.iso"},
		{"http://a.example/a+b?c+d=%2b%7e%3D&é", "http://a.example/a%2Bb?c+d=%2B~%3D&%C3%A9",
			"http://a.example/a%2Bb?c+d=%2B~%3D&%C3%A9"},
		{"http://a.example/b/%49ndex.html", "http://a.example/b/Index.html", "http://a.example/b/"},
		{"http://a.example/%4", "http://a.example/%4", "http://a.example/%4"},
		{"http://a.example/b#c", "http://a.example/b", "http://a.example/b"},
		{"http://a.example#c?d", "http://a.example/", "http://a.example/"},
		{"http://a.example/b/index.html", "http://a.example/b/", "http://a.example/b/"},
		{"http://a.example/b/Index.html", "http://a.example/b/Index.html", "http://a.example/b/"},
		{"http://a.example/b/myindex.html", "http://a.example/b/myindex.html", "http://a.example/b/myindex.html"},
		{"http://a.example/index.html?Q=1", "http://a.example/index.html?Q=1", "http://a.example/index.html?q=1"},
		{"http://a.example?Q", "http://a.example/?Q", "http://a.example/?q"},
		{"ftp://a.example:21/b", "ftp://a.example/b", "ftp://a.example/b"},
	} {
		key, ok := Key(tt.url)
		folded, ok2 := FoldedKey(tt.url)
		if key != tt.key || folded != tt.folded || !ok || !ok2 {
			t.Errorf("%s: %s, %s", tt.url, key, folded)
		}
		if again, _ := Key(key); again != key {
			t.Errorf("%s: the key of %s is %s", tt.url, key, again)
		}
	}
	for _, url := range []string{"", "news:fj.rec.food", "mailto:a@b", "/a/", "//a.example/", "http:/a", "http:///a",
		"http://:80/", "http://u@/", "1http://a/", "ht tp://a/", "http://a:b/", "http://a::80/", "http://::1/", "http://[::1/"} {
		if key, ok := Key(url); ok || key != "" {
			t.Errorf("%q has key %q", url, key)
		}
	}
}

func TestIsURI(t *testing.T) {
	for _, s := range []string{"http://a.example/", "news:fj.rec.food", "http://a/?b=c;d#e", "http://[::1]/",
		"http://a/%E3%81%82", "urn:x"} {
		if !IsURI(s) {
			t.Errorf("%q is none", s)
		}
	}
	for _, s := range []string{
		"", "/a/", "a.html", "http:", ":a", "http://a/ b", "http://a/\t", "http://a/\x00", "http://a/朝", "http://a/<b>",
		"http://a/%", "http://a/%4", "http://a/%4x", "http://a/{b}", `http://a/\b`, "http://a/|", "http://a/\x7f",
		"-a:b", "a_b:c",
	} {
		if IsURI(s) {
			t.Errorf("%q is one", s)
		}
	}
}

func TestIndex(t *testing.T) {
	var x Index[int]
	for i, url := range []string{"http://a.example/B/index.html", "http://a.example/B/", "http://b.example/x",
		"http://b.example/x/", "http://c.example/x/"} {
		if !x.Add(url, i) {
			t.Fatalf("%s cannot be watched", url)
		}
	}
	if x.Add("news:a", 9) {
		t.Error("news can be watched")
	}
	for _, tt := range []struct {
		url    string
		format FormatID
		want   []int
	}{
		{"http://A.example/B/", HinaDI, []int{0, 1}},
		{"http://a.example/b/", HinaDI, nil}, // hina-di distinguishes letter case
		{"http://a.example/b/", SOIF, nil},
		{"http://a.example/b/", LIRS, []int{0, 1}},
		{"http://a.example/b/INDEX.HTML", LIRS, []int{0, 1}},
		{"http://b.example/X", LIRS, []int{2}},
		{"http://c.example/X", HinaDI, nil},
		{"news:a", LIRS, nil},
	} {
		if got := x.Find(Record{URL: tt.url, Format: tt.format}); !slices.Equal(got, tt.want) {
			t.Errorf("%s, %v: %v, want %v", tt.url, tt.format, got, tt.want)
		}
	}
	var none Index[int]
	if none.Find(Record{URL: "http://a.example/"}) != nil {
		t.Error("an empty index finds something")
	}
}

// FuzzKey checks that a key is a URI and its own key.
func FuzzKey(f *testing.F) {
	f.Add("HTTP://U@A:80/%7e/%2569ndex.html?x#y")
	f.Fuzz(func(t *testing.T, url string) {
		key, ok := Key(url)
		if !ok || !IsURI(url) {
			return
		}
		if again, _ := Key(key); again != key || !IsURI(key) {
			t.Errorf("%q: the key of %q is %q", url, key, again)
		}
		folded, _ := FoldedKey(url)
		if again, _ := FoldedKey(folded); again != folded || !IsURI(folded) {
			t.Errorf("%q: the folded key of %q is %q", url, folded, again)
		}
		if len(key) > len(url)+1 {
			t.Errorf("%q: the key is %q", url, key)
		}
	})
}

// TestIndexOfStray checks that a URL that is not escaped is found by the escaped URL of a record.
func TestIndexOfStray(t *testing.T) {
	var x Index[int]
	for i, url := range []string{"http://a.example/a b.iso", "http://a.example/{a}", "http://a.example/a[1].iso",
		"http://a.example/a%5B2%5D.iso"} {
		x.Add(url, i)
	}
	for i, url := range []string{"http://a.example/a%20b.iso", "http://a.example/%7Ba%7D",
		"http://a.example/a%5b1%5d.iso", "http://a.example/a[2].iso"} {
		if got := x.Find(Record{URL: url}); len(got) != 1 || got[0] != i {
			t.Errorf("%s: %v", url, got)
		}
	}
}
