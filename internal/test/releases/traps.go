package releases

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A trap is a release that misleads.
type trap struct {
	name string
	rule string // for the name of its list; "" is none
	host string
	put  func(b *builder) (at string)
	exit []int // see Release.Exits
}

// set puts the release into a world.
func (t trap) set(w *World, chance *rand.Rand, number int) *Release {
	b, _ := newBuilder(w, chance, number, t.rule)
	b.states = false
	b.bodies = mapOf(b.files, func(file string) string { return b.bodies[file] })
	at := t.put(b)
	return &Release{URL: "https://" + at, Host: t.host, Rule: t.rule, Trap: t.name, Body: b.bodies[b.file()], Exits: t.exit}
}

func mapOf(names []string, value func(string) string) map[string]string {
	m := map[string]string{}
	for _, name := range names {
		m[name] = value(name)
	}
	return m
}

// other is the digest of another file.
var other = sha256sum.hex("another file")

// lines is a list with a digest for each of files.
func lines(digest string, files ...string) (text string) {
	for _, file := range files {
		text += digest + "  " + file + "\n"
	}
	return text
}

// in puts the release into a folder, with a list of that content if it is not empty. The list is in the index.
func in(list func(b *builder) string) func(b *builder) string {
	return func(b *builder) string {
		b.bodies[b.list] = list(b)
		at, _ := b.folder()
		return at
	}
}

// softly makes a folder without an index answer everything with status 200.
func softly(media string, text func(b *builder) string) func(b *builder) string {
	return func(b *builder) string {
		base, _ := b.inFolder()
		host, _, _ := strings.Cut(base, "/")
		delete(b.world.pages, base)
		b.world.soft[host] = func(string) page { return page{body: text(b), media: media} }
		return base + b.file()
	}
}

// forged puts the release to GitHub, with an answer that change makes misleading.
func forged(change func(b *builder, asset object)) func(b *builder) string {
	return func(b *builder) string {
		b.states = true
		at, _ := b.gitHub()
		b.gitHubSays(strings.TrimSuffix(at, b.file()), func(a object) { change(b, a) })
		return at
	}
}

var traps = []trap{
	{"a page with status 200 that has the name and 64 digits", "", "folder", softly("text/html", func(b *builder) string {
		return "<html><h1>Not found</h1>\n<p>" + b.file() + "\n" + lines(other, b.file()) + "</html>"
	}), nil},
	{"text with status 200 that has the name and 64 digits", "", "folder", softly("text/plain", func(b *builder) string {
		return "There is no " + b.file() + ". Request " + other + "\n"
	}), nil},
	{"a page as a list in the index", "SHA256SUMS", "folder", in(func(b *builder) string {
		return "<!doctype html>\n" + lines(other, b.file())
	}), nil},
	{"a list of another folder", "SHA256SUMS", "folder", in(func(b *builder) string {
		return lines(other, "../old/"+b.file(), "old/"+b.file(), "/srv/old/"+b.file())
	}), nil},
	{"the name twice", "checksums.txt", "folder", in(func(b *builder) string {
		return lines(other, b.file()) + lines(sha256sum.hex(b.bodies[b.file()]), b.file())
	}), []int{7}},
	{"a list of another version", "X_checksums.txt", "folder", func(b *builder) string {
		b.bodies["0.0.1_checksums.txt"] = lines(other, strings.ReplaceAll(b.file(), b.version, "0.0.1")+".old")
		at, _ := b.folder()
		return at
	}, nil},
	{"another version's list of a file with the same name", "X_checksums.txt", "folder", func(b *builder) string {
		b.files, b.bodies = []string{"tool-linux"}, map[string]string{"tool-linux": b.bodies[b.file()]}
		b.bodies["0.0.1_checksums.txt"] = lines(other, "tool-linux")
		b.bodies[b.version+"_checksums.txt"] = lines(sha256sum.hex(b.bodies["tool-linux"]), "tool-linux")
		at, _ := b.folder()
		return at
	}, []int{7}},
	{"a mirror answers the list", "SHA256SUMS", "folder", func(b *builder) string {
		b.bodies[b.list] = lines(sha256sum.hex(b.bodies[b.file()]), b.file())
		at, _ := b.folder()
		b.put(strings.TrimSuffix(at, b.file())+b.list, b.list, fmt.Sprintf("mirror.example.net/%d/", b.number))
		return at
	}, nil},
	{"an index with links out", "SHA256SUMS", "folder", func(b *builder) string {
		base, x := b.inFolder(b.file())
		out := fmt.Sprintf("mirror.example.net/%d/SHA256SUMS", b.number)
		b.world.pages[out] = page{part: Small, body: lines(other, b.file())}
		text := strings.Replace(x.page(b.file()), x.end, "<a href=\"https://"+out+"\">SHA256SUMS</a>\n"+x.end, 1)
		b.world.pages[base] = page{part: Listing, body: text, media: "text/html"}
		return base + b.file()
	}, nil},
	{"a list with only zeros", "X.sha256", "folder", in(func(*builder) string { return strings.Repeat("0", 64) + "\n" }), nil},
	{"a list named after the file that has another", "X.sha256", "folder", in(func(b *builder) string {
		return lines(other, strings.TrimSuffix(b.file(), ".gz")+".tar")
	}), nil},
	{"a list of weak digests", "checksums.txt", "folder", in(func(b *builder) string {
		return md5sum.hex(b.bodies[b.file()]) + "  " + b.file() + "\n"
	}), nil},
	{"a list too long", "SHA256SUMS", "folder", in(func(b *builder) string {
		return lines(sha256sum.hex(b.bodies[b.file()]), b.file()) + strings.Repeat("#\n", 3<<20)
	}), nil},
	{"files that only look like lists", "", "folder", func(b *builder) string {
		for _, name := range []string{"checksums.txt.pem", "sha256.json", b.file() + ".sha256.sig", "SHA256SUMS.bak"} {
			b.bodies[name] = lines(other, b.file())
		}
		at, _ := b.folder()
		return at
	}, nil},
	{"an asset of another tag", "", "GitHub", forged(func(b *builder, a object) {
		a["browser_download_url"] = strings.Replace(fmt.Sprint(a["browser_download_url"]), "/v"+b.version+"/", "/v0.0.1/", 1)
	}), nil},
	{"an upload that has not ended", "", "GitHub", forged(func(_ *builder, a object) { a["state"] = "starter" }), nil},
	{"an asset with a malformed digest", "", "GitHub", forged(func(b *builder, a object) {
		a["digest"] = []string{"sha256:", "sha256:" + strings.Repeat("0", 64), other, "md5:" + md5sum.hex("x")}[b.number%4]
	}), nil},
	{"an asset that was replaced", "", "GitHub", forged(func(_ *builder, a object) { a["digest"] = "sha256:" + other }), []int{11}},
	{"a rate limit", "", "GitHub", func(b *builder) string {
		at, _ := b.gitHub()
		b.world.pages[fmt.Sprintf("api.github.com/repos/acme/%s/releases/tags/v%s", b.repo(), b.version)] = page{part: Question,
			status: 403, body: `{"message":"API rate limit exceeded","digest":"sha256:` + other + `"}`, media: "application/json"}
		return at
	}, nil},
	{"a list of the release that GitHub delivers from elsewhere", "checksums.txt", "GitHub", func(b *builder) string {
		b.bodies[b.list] = lines(sha256sum.hex(b.bodies[b.file()]), b.file())
		at, _ := b.gitHub()
		b.put(strings.TrimSuffix(at, b.file())+b.list, b.list, fmt.Sprintf("mirror.example.net/%d/", b.number))
		return at
	}, nil},
	{"a project with a file of the same name", "", "PyPI", func(b *builder) string {
		at, _ := b.pyPI()
		twin := strings.Replace(at, "/packages/", "/packages/ff/", 1)
		b.world.pages[twin] = b.world.pages[at]
		return twin
	}, nil},
	{"a redirect with the hash of a commit", "", "Hugging Face", func(b *builder) string {
		b.alone("model.bin")
		at := fmt.Sprintf("huggingface.co/acme/model-%d/resolve/main/model.bin", b.number)
		b.put(at, b.file(), fmt.Sprintf("cas-bridge.xethub.hf.co/xet-bridge/%d", b.number))
		b.world.pages[at] = b.world.pages[at].with(object{"X-Linked-Etag": `"` + sha1sum.hex("x") + `"`, "X-Linked-Size": 7})
		return at
	}, nil},
	{"a redirect that states another size and digest", "", "Hugging Face", func(b *builder) string {
		at := "huggingface.co"
		for strings.HasSuffix(at, "huggingface.co") || strings.HasSuffix(at, "config.json") {
			at, _ = b.hub()
		}
		b.world.pages[at] = b.world.pages[at].with(object{"X-Linked-Size": 1, "X-Linked-Etag": `"` + other + `"`})
		return at
	}, []int{11}},
	{"a store that states another file", "", "Artifactory", func(b *builder) string {
		at, _ := b.artifactory()
		b.world.pages[at] = b.world.pages[at].with(object{"X-Checksum-Sha256": other})
		return at
	}, []int{11}},
}

// TrapNames are the names of all traps.
func TrapNames() (names []string) {
	for _, t := range traps {
		names = append(names, t.name)
	}
	return slices.Sorted(slices.Values(names))
}
