package releases

import (
	"fmt"
	"html"
	"net/url"
	"strings"
)

// An index is a way to list a folder. %l is a name in a link, %n its text, %c the text cut as the servers cut it.
type index struct{ begin, row, end string }

var indexes = []index{
	{"<html>\n<head><title>Index of /pub/</title></head>\n<body>\n<h1>Index of /pub/</h1><hr><pre><a href=\"../\">../</a>\n",
		"<a href=\"%l\">%c</a>   01-Oct-2026 12:00   4\n", "</pre><hr></body>\n</html>\n"}, // nginx
	{"<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\">\n<html>\n <head><title>Index of /pub</title></head>\n <body>\n<pre>" +
		"<a href=\"?C=N;O=D\">Name</a> <a href=\"?C=M;O=A\">Last modified</a><hr><a href=\"/\">Parent Directory</a>\n",
		"<img src=\"/icons/unknown.gif\" alt=\"[   ]\"> <a href=\"%l\">%c</a> 2026-10-01 12:00   4 \n", "<hr></pre>\n</body></html>\n"}, // Apache
	{"<!DOCTYPE html>\n<html><head><title>Index of /pub/</title></head><body><table><tr class=\"d\"><td class=\"n\"><a href=\"../\">..</a>/</td></tr>\n",
		"<tr><td class=\"n\"><a href=\"%l\">%n</a></td><td class=\"m\">2026-Oct-01 12:00:00</td></tr>\n", "</table></body></html>\n"}, // lighttpd
	{"<!DOCTYPE html>\n<html><head><title>/pub/</title></head><body><a href=\"/\">/</a><a href=\"\">pub</a>\n" +
		"<a href=\"?sort=name&amp;order=desc\">Name</a><a href=\"..\">up</a>\n",
		"<tr class=\"file\"><td><a href=\"./%l\"><span class=\"name\">%n</span></a></td></tr>\n", "</body></html>\n"}, // Caddy
	{"<!DOCTYPE HTML>\n<html lang=\"en\"><head><title>Directory listing for /pub/</title></head><body><hr><ul>\n",
		"<li><a href=\"%l\">%n</a></li>\n", "</ul><hr></body></html>\n"}, // Python
	{"<!DOCTYPE HTML PUBLIC \"-//IETF//DTD HTML 2.0//EN\">\n<html><head><title>Index of generic/pub</title></head><body><h1>Index of generic/pub</h1><pre>Name    Last modified      Size</pre><hr/>\n<pre><a href=\"../\">../</a>\n",
		"<a href=\"%l\">%n</a>  01-Oct-2026 12:00  4 bytes\n", "</pre><hr/></body></html>\n"}, // Artifactory
}

// page lists names.
func (x index) page(names ...string) string {
	text := x.begin
	for _, name := range names {
		cut := html.EscapeString(name)
		if len(name) > 23 {
			cut = html.EscapeString(name[:20]) + "..&gt;"
		}
		text += strings.NewReplacer("%l", html.EscapeString(url.PathEscape(name)), "%n", html.EscapeString(name), "%c", cut).Replace(x.row)
	}
	return text + x.end
}

// folder puts the release into a folder with an index.
func (b *builder) folder() (at string, states bool) {
	base, _ := b.inFolder(b.names()...)
	return base + b.file(), false
}

// bareFolder puts the release into a folder without one. There, only lists with usual names can be found.
func (b *builder) bareFolder() (at string, states bool) {
	base, _ := b.inFolder(b.names()...)
	b.world.pages[base] = page{part: Listing, status: 403, body: "<html>403 Forbidden</html>", media: "text/html"}
	return base + b.file(), false
}

// inFolder puts all files into a folder, whose index lists names.
func (b *builder) inFolder(names ...string) (base string, x index) {
	base = fmt.Sprintf("dl%d.example.org/pub/%s/", b.number, b.version)
	for _, name := range b.names() {
		b.put(base+name, name, "")
		if p := b.world.pages[base+name]; p.part == Small {
			p.media = "text/plain"
			b.world.pages[base+name] = p
		}
	}
	x = indexes[b.number%len(indexes)]
	b.world.pages[base] = page{part: Listing, body: x.page(names...), media: "text/html; charset=utf-8"}
	return base, x
}
