package job

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"braid/download"
	"braid/internal/option"
	"braid/internal/problem"
)

// bindTo binds a URL to keys of package minisign.
func bindTo(t *testing.T, trust *option.Trust, at string, keys ...string) {
	t.Helper()
	b, err := option.NewBound(at)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range keys {
		data, err := os.ReadFile(filepath.Join("../../verify/minisign/testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		trust.Add(b, option.TrustedKey{Name: name, Text: string(data)})
	}
}

// TestMirrorsBind_Rule78: a request is bound to the keys of each URL that the user, a list or a client gives for it,
// wherever that stands among them. Two URLs with different keys are an error.
func TestMirrorsBind_Rule78(t *testing.T) {
	const free, bound, same, other = "http://free/f0", "http://pub/f0", "https://same/f0", "http://other/f0"
	trust := &option.Trust{}
	bindTo(t, trust, "http://pub/", "key.pub", "secret.pub")
	bindTo(t, trust, "http://same/", "secret.pub", "key.pub")
	bindTo(t, trust, "http://other/", "key.pub")
	document := writeDocument(t, 1)
	settings := option.Setting{Name: "require", Value: "none"}
	entry := func(d *Defaults, e option.Entry) (download.Request, error) {
		client, err := d.Client()
		if err == nil {
			err = d.Prepare(client)
		}
		if err == nil {
			err = d.ReadSums(t.Context(), client, nil)
		}
		if err != nil {
			return download.Request{}, err
		}
		e.Options = append(e.Options, settings)
		return d.Request(e)
	}
	for name, request := range map[string]func(d *Defaults, urls []string) (download.Request, error){
		"URLs of a line or a client": func(d *Defaults, urls []string) (download.Request, error) {
			return entry(d, option.Entry{URIs: urls})
		},
		"mirror= of a line": func(d *Defaults, urls []string) (download.Request, error) {
			e := option.Entry{URIs: urls[:1]}
			for _, word := range urls[1:] {
				e.Options = append(e.Options, option.Setting{Name: "mirror", Value: word})
			}
			return entry(d, e)
		},
		"mirror= beside a document of a client": func(d *Defaults, urls []string) (download.Request, error) {
			var e option.Entry
			for _, word := range urls {
				e.Options = append(e.Options, option.Setting{Name: "mirror", Value: word})
			}
			return entry(d, e)
		},
		"--mirror": func(d *Defaults, urls []string) (download.Request, error) {
			d.Mirror = urls[1:]
			return operandOf(t, d, urls[0])
		},
		"--mirror beside a document on disk": func(d *Defaults, urls []string) (download.Request, error) {
			d.Mirror = urls
			return operandOf(t, d, document)
		},
		"git-lfs": func(d *Defaults, urls []string) (r download.Request, err error) {
			all, err := ParseURLs(urls, url.Parse)
			if err == nil {
				r.URL, r.Mirrors = all[0], all[1:]
				err = d.ForSite(&r)
			}
			return r, err
		},
	} {
		for _, tt := range []struct {
			urls     []string
			bound    bool
			contrary bool
		}{
			{urls: []string{free, free}},
			{urls: []string{bound, free}, bound: true},
			{urls: []string{free, bound}, bound: true},
			{urls: []string{free, free, bound}, bound: true},
			{urls: []string{bound, same}, bound: true},
			{urls: []string{bound, free, other}, contrary: true},
			{urls: []string{free, other, bound}, contrary: true},
		} {
			d := &Defaults{}
			d.HTTP.Sites = NewSites(&Settings{Trust: trust})
			r, err := request(d, tt.urls)
			if tt.contrary {
				if err == nil || problem.Of(err).Kind != download.Usage ||
					!strings.Contains(err.Error(), bound) || !strings.Contains(err.Error(), other) {
					t.Errorf("%s, %q: %v", name, tt.urls, err)
				}
				continue
			}
			if err != nil || r.Trust.Anchors.Any() != tt.bound || (r.Trust.Require == download.RequireSignature) != tt.bound {
				t.Errorf("%s, %q: %v, %+v", name, tt.urls, err, r.Trust)
			}
		}
	}
}

// operandOf returns the request for the only file of an operand.
func operandOf(t *testing.T, d *Defaults, word string) (r download.Request, err error) {
	client, err := d.Client(word)
	if err != nil {
		return r, err
	}
	l, err := NewList(t.Context(), d, client, []string{word})
	if err != nil {
		return r, err
	}
	for r = range l.All() {
	}
	return r, l.Err
}

// TestLookForTrust_Rule78: a folder that exists and cannot be searched may have keys, so it is an error. A folder above it
// that cannot be searched shows nothing, which is told.
func TestLookForTrust_Rule78(t *testing.T) {
	const path = "/home/me/.config/braid/trust.json"
	for _, tt := range []struct {
		name         string
		file, folder error // of lstat
		there        bool
		unread       string
		fails        bool
	}{
		{name: "a file", there: true},
		{name: "no file", file: syscall.ENOENT},
		{name: "no folder", file: syscall.ENOENT, folder: syscall.ENOENT},
		{name: "a folder that cannot be searched", file: syscall.EACCES, fails: true},
		{name: "a home that cannot be searched", file: syscall.EACCES, folder: syscall.EACCES,
			unread: "/home/me/.config: permission denied"},
		{name: "a damaged disk", file: syscall.EIO, there: true},
	} {
		there, unread, err := lookForTrust(path, func(name string) (fs.FileInfo, error) {
			of := tt.folder
			if name == path {
				of = tt.file
			}
			if of != nil {
				of = &fs.PathError{Op: "lstat", Path: name, Err: of}
			}
			return nil, of
		})
		p, _ := err.(*problem.Problem)
		if there != tt.there || unread != tt.unread || (p != nil) != tt.fails ||
			p != nil && (p.Kind != download.Usage || p.Where != "/home/me/.config/braid") {
			t.Errorf("%s: %v, %q, %v", tt.name, there, unread, err)
		}
	}
}
