//go:build linux

package torture

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"braid/internal/test/mirrortest"
	"braid/verify/minisign"
)

// looks makes the client look for a digest beside the file. It is given more time than other cases, because a list that
// is too late is none: on a busy machine the file would be judged by fewer of them.
func (w *world) looks() {
	w.req.alone = true
	w.req.flags = append(w.req.flags, "--timeout", "6s")
	w.env = append(w.env, "BRAID_NO_LOOKUP=false")
}

// published makes a server the asked one that has more than the file.
func published(options ...option) func(*world) {
	return func(w *world) {
		w.looks()
		w.ask(w.serve(options...))
	}
}

// at gives one path of a server an answer of its own.
func at(path string, options ...option) option {
	return mirrortest.When(func(r *http.Request) bool { return r.URL.Path == path }, options...)
}

// otherPaths gives all paths but that of the file an answer.
func otherPaths(options ...option) option {
	return mirrortest.When(func(r *http.Request) bool { return r.URL.Path != "/"+fileName }, options...)
}

// answers is a body of a media type.
func answers(kind, text string) option {
	return mirrortest.Handler(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", kind)
		io.WriteString(rw, text)
	}))
}

// refuses is a status without a body, with a field if its name is not empty.
func refuses(status int, name, value string) option {
	return mirrortest.Handler(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		if name != "" {
			rw.Header().Set(name, value)
		}
		rw.WriteHeader(status)
	}))
}

// leads is a redirect.
func leads(to string) option { return refuses(http.StatusFound, "Location", to) }

// mute is an answer that does not come.
func mute() option {
	return mirrortest.Raw(func(c net.Conn) { io.Copy(io.Discard, c) })
}

const (
	listPath    = "/SHA256SUMS"
	listedWrong = "1111111111111111111111111111111111111111111111111111111111111111"
	wrongLine   = listedWrong + "  " + fileName + "\n"
)

// rightLine is the line of a list with the digest of the file.
var rightLine = fmt.Sprintf("%s  %s\n", content.Digest().Hex(), fileName)

// found are lists, indexes and pages that a server has beside a file (rule 77).
func found() []torment {
	list := func(text string) option { return mirrortest.Document(listPath, "text/plain", []byte(text)) }
	index := func(links string) option {
		return at("/", answers("text/html", "<html><title>Index of /</title><a href=\"file.bin\">file.bin</a>\n"+links+"</html>"))
	}
	soft := func(kind, text string) func(*world) { return published(otherPaths(answers(kind, text))) }
	redirected := func(path, line string) func(*world) {
		return func(w *world) {
			m := w.serve(at(listPath, answers("text/plain", line)),
				at("/", answers("text/html", "<title>Index of /</title><a href=file.bin>file.bin</a><a "+
					"href=SHA256SUMS>SHA256SUMS</a>")))
			published(at(path, leads("http://"+m.Addr+path)))(w)
		}
	}
	return demanded([]torment{
		{"77", "a list is in order", published(list(rightLine)), isRight},
		{"77", "a list has another digest", published(list(wrongLine)), fails(11, "SHA256SUMS beside it.*the digest is from")},
		{"77", "a list has the name twice, with two digests", published(list(rightLine + wrongLine)), fails(7, "")},
		{"77", "a list has the name twice, with one digest", published(list(rightLine + rightLine)), isRight},
		{"77", "two lists contradict each other", published(list(rightLine), mirrortest.Document("/checksums.txt",
			"text/plain", []byte(wrongLine))), fails(7, "")},
		{"77", "a list is of another folder",
			published(list(listedWrong + "  old/" + fileName + "\n" + listedWrong + "  ../" + fileName + "\n")), isUnverified},
		{"77", "a list has control characters",
			published(list(strings.Replace(wrongLine, "  ", "  \x1b]0;pwned\a", 1))), isUnverified},
		{"77", "a list has 1 GiB", published(at(listPath, flood(ok+"Content-Length: 1073741824\r\n\r\n", rightLine))),
			fails(12, "SHA256SUMS: it has more than")},
		{"77", "a list has no end", published(at(listPath, flood(ok+"\r\n", rightLine))),
			fails(12, "SHA256SUMS: it has more than")},
		{"77", "a list has a line without end", published(at(listPath, flood(ok+"\r\n", "x"))), isUnverified},
		{"77", "a list comes slowly", published(at(listPath, drip(ok+"\r\n", "#\n"))), isUnverified},
		{"77", "a list goes silent", published(at(listPath, mute())), isUnverified},
		{"77", "a list is refused for an hour", published(at(listPath, refuses(429, "Retry-After", "3600"))),
			fails(12, "SHA256SUMS: status 429")},
		{"77", "a list redirects to a file", published(at(listPath, leads("file:///etc/passwd"))), isUnverified},
		{"77", "a list redirects in a loop", published(at(listPath, leads(listPath))), isUnverified},
		{"77", "a list with the right digest redirects to a mirror", redirected(listPath, rightLine),
			fails(12, "a list from [0-9.:]+, a mirror")},
		{"77", "a list with another digest redirects to a mirror", redirected(listPath, wrongLine), isUnverified},
		{"77", "an index redirects to a mirror, which has a list of its own", redirected("/", wrongLine), isUnverified},
		{"77", "a mirror has a list, too", func(w *world) {
			published(mirrortest.ETag(`"1"`), mirrortest.Rate(slow))(w)
			m := mirrortest.New(w.t, content, mirrortest.ETag(`"1"`), at(listPath, answers("text/plain", wrongLine)))
			w.web, w.req.urls = append(w.web, m), append(w.req.urls, m.URL)
			w.asked = append(w.asked, func() string {
				for _, r := range m.Requests() {
					if r.Path != "/"+fileName {
						return "a mirror was asked for " + r.Path
					}
				}
				return ""
			})
		}, isUnverified},
		{"77", "redirects to a mirror, which has a list of its own", func(w *world) {
			w.looks()
			m := w.serve(at(listPath, answers("text/plain", wrongLine)))
			w.ask(w.serve(at("/"+fileName, leads(m.URL)), at(listPath, refuses(404, "", ""))))
		}, isUnverified},
		{"77", "answers each path with a page that has the name and 64 digits",
			soft("text/html", "<h1>Not found</h1><pre>\n"+wrongLine+"</pre>"), isUnverified},
		{"77", "answers each path with a page that is a list", soft("text/html", wrongLine), isUnverified},
		{"77", "answers each path with a text that has the name and 64 digits",
			soft("text/plain", "there is no "+fileName+"\n"+wrongLine), isUnverified},
		{"77", "answers each path with the file", published(), isUnverified},
		{"77", "answers each path without end", published(otherPaths(flood(ok+"\r\n", "<a href=file.bin>"))), isUnverified},
		{"77", "an index leads out", func(w *world) {
			c := w.canary()
			published(index("<a href=\"http://" + c.Addr + listPath + "\">SHA256SUMS</a><a href=\"//" + c.Addr +
				"/x_checksums.txt\">x</a><a href=\"file:///etc/sha256sum\">y</a>"))(w)
		}, isUnverified},
		{"77", "an index leads to another folder",
			published(index("<a href=\"../sha256sum.txt\">a</a><a href=\"old/SHA256SUMS\">b</a>"),
				mirrortest.Document("/old/SHA256SUMS", "text/plain", []byte(wrongLine))), isUnverified},
		{"77", "an index has a million names",
			published(at("/", answers("text/html",
				"<title>Index of /</title>"+strings.Repeat("<a href=\"x.sha256\">x</a>", 1e6)))), isUnverified},
		{"77", "an index has names with control characters", published(index("<a href=\"%1b]0;pwned%07_checksums.txt\">x</a>"),
			mirrortest.Document("/\x1b]0;pwned\a_checksums.txt", "text/plain", []byte(rightLine))), isUnverified},
	})
}

// demanded makes the cases that do not end unverified demand a digest. The end then waits for what is looked for.
func demanded(all []torment) []torment {
	for i, c := range all {
		if c.want.class == unverified {
			continue
		}
		all[i].set = func(w *world) {
			c.set(w)
			w.req.flags = append(w.req.flags, "--require", "digest")
		}
	}
	return all
}

// assetPath is that of a file of a release.
const assetPath = "/acme/tool/releases/download/v1/" + fileName

// forges are answers of the API of a forge that the user's settings name (rule 77).
func forges() (all []torment) {
	asset := func(change func(a map[string]any)) func(base string) string {
		return func(base string) string {
			a := map[string]any{"name": fileName, "browser_download_url": base + assetPath,
				"digest": "sha256:" + content.Digest().Hex()}
			change(a)
			text, err := json.Marshal(map[string]any{"tag_name": "v1", "assets": []any{a}})
			if err != nil {
				panic(err)
			}
			return string(text)
		}
	}
	with := func(field string, value any) func(base string) string {
		return asset(func(a map[string]any) { a[field] = value })
	}
	right := asset(func(map[string]any) {})
	answer := func(text func(base string) string) func(w *world, base string) option {
		return func(_ *world, base string) option { return answers("application/json", text(base)) }
	}
	is := func(o option) func(*world, string) option { return func(*world, string) option { return o } }
	for _, c := range []struct {
		does string
		api  func(w *world, base string) option
		want want
	}{
		{"is in order", answer(right), isRight},
		{"has the digest of an asset that was replaced", answer(with("digest", "sha256:"+listedWrong)), fails(11, "sha-256")},
		{"answers about another tag", answer(func(base string) string {
			return with("digest", "sha256:"+listedWrong)(strings.Replace(base, "https://", "https://old.", 1))
		}), isUnverified},
		{"has an asset of that name at another URL", answer(func(base string) string {
			return strings.Replace(with("digest", "sha256:"+listedWrong)(base), "/v1/", "/v0/", 1)
		}), isUnverified},
		{"has no digest", answer(with("digest", nil)), isUnverified},
		{"has a digest that is too short", answer(with("digest", "sha256:11")), isUnverified},
		{"has a number in place of a digest", answer(with("digest", 7)), isUnverified},
		{"has two digests", answer(func(base string) string {
			entry := func(answer string) string {
				return answer[strings.Index(answer, "[")+1 : strings.LastIndex(answer, "]")]
			}
			return `{"assets":[` + entry(right(base)) + "," + entry(with("digest", "sha256:"+listedWrong)(base)) + "]}"
		}), want{refused, []int{7, 11}, ""}},
		{"has control characters in its names", answer(func(base string) string {
			return strings.Replace(with("digest", nil)(base), "[",
				`[{"name":"\u001b]0;pwned\u0007","browser_download_url":"`+base+
					`/acme/tool/releases/download/v1/%1b]0;pwned_checksums.txt"},`, 1)
		}), isUnverified},
		{"is a page", is(answers("text/html", "<html>"+wrongLine)), isUnverified},
		{"is nested deeply", is(answers("application/json", strings.Repeat(`{"assets":[`, 1<<18))), isUnverified},
		{"has no end", is(flood(ok+"\r\n", `{"assets":[`)), isUnverified},
		{"comes slowly", is(drip(ok+"\r\n", " ")), isUnverified},
		{"is a limit of requests", is(refuses(403, "", "")), fails(12, "tags/v1: status 403")},
		{"is a limit of requests for an hour", is(refuses(429, "Retry-After", "3600")), fails(12, "tags/v1: status 429")},
		{"redirects to another host, which has the digest", func(w *world, base string) option {
			m := w.canary()
			return leads("http://" + m.Addr + "/api")
		}, isUnverified},
	} {
		all = append(all, torment{"77", "a forge " + c.does, func(w *world) { w.forge(c.api) }, c.want})
	}
	return demanded(all)
}

// forge makes a file of a forge what is downloaded. The user has a token for another forge.
func (w *world) forge(api func(w *world, base string) option) {
	w.looks()
	s := w.serve(mirrortest.TLS(nil), mirrortest.Name(assetPath[1:]))
	base := "https://" + s.Addr
	s.Set(mirrortest.When(func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") }, api(w, base)))
	w.asked = append(w.asked, func() string {
		for _, r := range s.Requests() {
			if strings.HasPrefix(r.Path, "/api/v1/repos/acme/tool/releases/tags/v1") {
				return ""
			}
		}
		return "the forge was not asked"
	})
	w.trust(s)
	w.env = append(w.env, "GITHUB_TOKEN="+secret)
	settings := fmt.Sprintf("[forge.own]\nlike = \"Forgejo\"\nhost = %q\ndigest = \"digest\"\n", s.Addr)
	dir := filepath.Join(w.yard.home, "config", "braid")
	check(w.t, os.MkdirAll(dir, 0o700))
	check(w.t, os.WriteFile(filepath.Join(dir, "config.toml"), []byte(settings), 0o600))
	w.req.urls = append(w.req.urls, base+assetPath)
}

// keyed are signatures of minisign and SSH that are not what they should be (rules 47 and 48).
func keyed() (all []torment) {
	const dir = "../../../verify/minisign/testdata/"
	read := func(w *world, path string) []byte {
		data, err := os.ReadFile(path)
		check(w.t, err)
		return data
	}
	signs := func(w *world, name string, data []byte) string {
		s, err := minisign.NewSigner(read(w, dir+"secret.key"), nil)
		check(w.t, err)
		signing, err := s.Begin(name, time.Now())
		check(w.t, err)
		signing.Write(data)
		sig, err := signing.Signature()
		check(w.t, err)
		return string(sig)
	}
	for _, c := range []struct {
		does string
		file string // of which the signature is
		data []byte
		edit func(sig string) string
		key  func(key string) string
		want want
	}{
		{does: "is in order", file: fileName, data: body, want: isRight},
		{does: "is of other bytes", file: fileName, data: body[1:], want: fails(10, "")},
		{does: "is of a file of another name", file: "old.bin", data: body, want: fails(10, "old.bin")},
		{does: "has a changed trusted comment", file: "old.bin", data: body, want: fails(10, ""),
			edit: func(sig string) string { return strings.Replace(sig, "file:old.bin", "file:"+fileName, 1) }},
		{does: "has no global signature", file: fileName, data: body, want: want{refused, []int{10, 12}, ""},
			edit: func(sig string) string { return strings.Join(strings.SplitAfter(sig, "\n")[:3], "") }},
		{does: "is by a key whose id is that of the trusted one", file: fileName, data: body, want: fails(10, ""),
			key: func(key string) string {
				raw, err := base64.StdEncoding.DecodeString(key)
				if err != nil {
					panic(err)
				}
				return base64.StdEncoding.EncodeToString(append(raw[:len(raw)-32:len(raw)-32], bytes.Repeat([]byte{9}, 32)...))
			}},
		{does: "is by another key", file: fileName, data: body, want: fails(9, ""),
			key: func(key string) string { return "RWRVH7VHb2404OjT/mNS0b7/0U4mz3t7zSCR8g2iGgghlKaB4vfqzJ54" }},
		{does: "is 2 MiB long", file: fileName, data: body, want: want{refused, []int{10, 12, 14}, ""},
			edit: func(sig string) string { return sig + strings.Repeat("\n", 2<<20) }},
	} {
		all = append(all, torment{"48", "a signature of minisign " + c.does, func(w *world) {
			sig := signs(w, c.file, c.data)
			if c.edit != nil {
				sig = c.edit(sig)
			}
			_, key, _ := strings.Cut(strings.TrimSpace(string(read(w, dir+"secret.pub"))), "\n")
			if c.key != nil {
				key = c.key(key)
			}
			published(mirrortest.Document("/"+fileName+".minisig", "text/plain", []byte(sig)))(w)
			w.req.flags = []string{"--require", "signature", "--key", key}
		}, c.want})
	}
	for does, c := range map[string]struct {
		sig  string
		want want
	}{"is for a file": {"ed25519.sig", isRight}, "is for a commit": {"git.sig", fails(10, "")}} {
		all = append(all, torment{"48", "a signature of SSH " + does, func(w *world) {
			const dir = "../../../verify/sshsig/testdata/"
			w.looks()
			w.body = read(w, dir+"tool.tar")
			s := mirrortest.New(w.t, w.body, mirrortest.Document("/"+fileName+".sig", "text/plain", read(w, dir+c.sig)))
			w.web = append(w.web, s)
			w.ask(s)
			w.req.flags = []string{"--signature", ".sig", "--key", w.beside("key.pub", read(w, dir+"ed25519.pub"))}
		}, c.want})
	}
	return all
}
