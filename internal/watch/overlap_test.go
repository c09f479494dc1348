package watch

import (
	"braid/internal/option"
	"errors"
	"strings"
	"testing"
)

// Two watches never have the same file: neither two single files, nor a glob that covers the file of another watch.
func TestAlone(t *testing.T) {
	const base = "[feed.f]\nurl = 'http://a.example/f'\n"
	watch := func(name, where string, more ...string) string {
		key := "url"
		if strings.Contains(where, "*") {
			key = "glob"
		}
		return "[watch." + name + "]\n" + key + " = '" + where + "'\ndir = 'd'\n" + strings.Join(more, "\n") + "\n"
	}
	for _, tt := range []struct {
		a, b string
		want string // part of the error
	}{
		{watch("a", "http://a.example/pub/*.iso"), watch("b", "http://a.example/pub/disk.iso"),
			"watch.b.name: watch.a may write the same file, /etc/braid/d/disk.iso"},
		{watch("a", "http://a.example/pub/disk.iso"), watch("b", "http://a.example/pub/*.iso"),
			"watch.b.name: watch.a may write the same file, /etc/braid/d/disk.iso"},
		{watch("a", "http://a.example/pub/**"), watch("b", "http://b.example/x/disk.iso"), "may write the same file"},
		{watch("a", "http://a.example/pub/**", "name = '{path}'"), watch("b", "http://b.example/x/disk.iso"), ""},
		{watch("a", "http://a.example/**", "name = '{path}'"), watch("b", "http://b.example/x/disk.iso",
			"name = 'pub/x.iso'"), "may write the same file"},
		{watch("a", "http://a.example/pub/*.img"), watch("b", "http://a.example/pub/disk.iso"), ""},
		{watch("a", "http://a.example/pub/*.iso", "name = '{watch}/{base}'"), watch("b", "http://a.example/pub/disk.iso"), ""},
		{watch("a", "http://a.example/pub/*.iso", "name = '{host}-{base}'"), watch("b", "http://b.example/disk.iso",
			"name = 'a.example-disk.iso'"), "may write the same file"},
		{watch("a", "http://a.example/pub/*.iso", "name = '{hash}.iso'"), watch("b", "http://b.example/disk.iso"), ""},
		{watch("a", "http://a.example/pub/*.iso", "name = '{hash}.iso'"), watch("b", "http://b.example/x",
			"name = '0123456789ab.iso'"), "may write the same file"},
		{watch("a", "http://a.example/a%20b/*.iso", "name = '{path}'"), watch("b", "http://b.example/x",
			"name = 'a b/x.iso'"), "may write the same file"},
		{watch("a", "http://a.example/pub/*.iso"), watch("b", "http://a.example/**.iso"), "watch.a may write the same file"},
		{watch("a", "http://a.example/**.iso"), watch("b", "http://b.example/**.iso"), ""},
		{watch("a", "http://a.example/x", "name = 'x-{date}'"), watch("b", "http://a.example/y",
			"name = 'x-2026-11-22'"), "may write the same file"},
		{watch("a", "http://a.example/x", "name = 'x-{date}'"), watch("b", "http://a.example/y", "name = 'x-of-today-'"), ""},
		{watch("a", "http://a.example/x", "name = 'x-{time}'"), watch("b", "http://a.example/y", "name = 'x-{time}'"),
			"may write the same file"},
		{watch("a", "http://a.example/pub/*.iso", "name = '{base}-{query}'"), watch("b", "http://a.example/x",
			"name = 'a.iso-b%3Dc'"), "may write the same file"},
	} {
		_, err := ParseConfig([]byte(base+tt.a+tt.b), options)
		e, ok := errors.AsType[*option.Error](err)
		switch {
		case tt.want == "" && err != nil, tt.want != "" && (!ok || !strings.Contains(e.Error(), tt.want) || e.Line == 0):
			t.Errorf("%s%s\n%v, want %q", tt.a, tt.b, err, tt.want)
		}
	}
}
