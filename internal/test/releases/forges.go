package releases

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// object is a JSON object.
type object = map[string]any

func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// gitHub puts the release to GitHub, which delivers files elsewhere and states the digests of newer ones.
func (b *builder) gitHub() (at string, states bool) {
	base := fmt.Sprintf("github.com/acme/%s/releases/download/v%s/", b.repo(), b.version)
	for _, name := range b.names() {
		b.put(base+name, name, fmt.Sprintf("release-assets.githubusercontent.com/github-production-release-asset/%d/%s", b.number, name))
	}
	b.gitHubSays(base, nil)
	return base + b.file(), b.states
}

// gitHubSays makes the answer of GitHub about the release at base. If change is not nil, it may change the assets.
func (b *builder) gitHubSays(base string, change func(asset object)) {
	var assets []object
	for i, name := range b.names() {
		a := object{
			"url": fmt.Sprintf("https://api.github.com/repos/acme/%s/releases/assets/%d", b.repo(), i), "id": i, "name": name,
			"label": "", "content_type": "application/octet-stream", "state": "uploaded", "size": len(b.bodies[name]),
			"digest": nil, "download_count": 12, "browser_download_url": "https://" + base + name,
		}
		if b.states {
			a["digest"] = "sha256:" + sha256sum.hex(b.bodies[name])
		}
		if change != nil {
			change(a)
		}
		assets = append(assets, a)
	}
	b.answer(fmt.Sprintf("api.github.com/repos/acme/%s/releases/tags/v%s", b.repo(), b.version),
		encode(object{"tag_name": "v" + b.version, "draft": false, "prerelease": false, "assets": assets}))
}

// gitLab puts it to GitLab, where each link of a release leads to a package or an upload.
func (b *builder) gitLab() (at string, states bool) {
	base := fmt.Sprintf("gitlab.com/acme/%s/-/releases/v%s/downloads/", b.repo(), b.version)
	kept := fmt.Sprintf("gitlab.com/api/v4/projects/%d/packages/generic/%s/%s/", b.number, b.tool, b.version)
	if b.chance.IntN(2) == 0 {
		kept = fmt.Sprintf("gitlab.com/-/project/%d/uploads/%032x/", b.number, b.chance.Uint64())
	}
	var links []object
	for i, name := range b.names() {
		b.put(base+name, name, kept+name)
		links = append(links, object{"id": i, "name": name, "url": "https://" + kept + name,
			"direct_asset_url": "https://" + base + name, "link_type": "package"})
	}
	b.answer(fmt.Sprintf("gitlab.com/api/v4/projects/acme%%2F%s/releases/v%s", b.repo(), b.version),
		encode(object{"tag_name": "v" + b.version, "assets": object{"count": len(links), "links": links}}))
	return base + b.file(), false
}

// forgejo puts it to a Forgejo, which delivers some files under another path.
func (b *builder) forgejo() (at string, states bool) {
	base := fmt.Sprintf("codeberg.org/acme/%s/releases/download/v%s/", b.repo(), b.version)
	elsewhere := b.chance.IntN(3) == 0
	var assets []object
	for i, name := range b.names() {
		kept := ""
		if elsewhere {
			kept = fmt.Sprintf("codeberg.org/attachments/%08x-0000-4000-8000-%012x", b.number, i)
		}
		b.put(base+name, name, kept)
		assets = append(assets, object{"id": i, "name": name, "size": len(b.bodies[name]), "type": "attachment",
			"browser_download_url": "https://" + base + name})
	}
	b.answer(fmt.Sprintf("codeberg.org/api/v1/repos/acme/%s/releases/tags/v%s", b.repo(), b.version),
		encode(object{"tag_name": "v" + b.version, "assets": assets}))
	return base + b.file(), false
}

// alone makes the release one of a single file without a list.
func (b *builder) alone(name string) {
	b.bodies = map[string]string{name: b.bodies[b.file()]}
	b.files, b.list, b.rule = []string{name}, "", ""
}

// pyPI puts it to PyPI, which redirects names that are not normalized.
func (b *builder) pyPI() (at string, states bool) {
	project := fmt.Sprintf("tool_%d", b.number)
	b.alone(project + "-" + b.version + []string{"-py3-none-any.whl", ".tar.gz", "-cp312-cp312-manylinux_2_17_x86_64.whl"}[b.chance.IntN(3)])
	base := fmt.Sprintf("files.pythonhosted.org/packages/%02x/%02x/%060x/", b.number%256, 7, b.number)
	b.put(base+b.file(), b.file(), "")
	api := "pypi.org/pypi/%s/" + b.version + "/json"
	b.answer(fmt.Sprintf(api, strings.ReplaceAll(project, "_", "-")), encode(object{"info": object{"name": project},
		"urls": []object{{"filename": b.file(), "url": "https://" + base + b.file(),
			"digests": object{"md5": md5sum.hex(b.bodies[b.file()]), "sha256": sha256sum.hex(b.bodies[b.file()])}}}}))
	b.world.pages[fmt.Sprintf(api, project)] = page{part: Hop, to: "https://" + fmt.Sprintf(api, strings.ReplaceAll(project, "_", "-"))}
	return base + b.file(), true
}

// crates puts it to crates.io.
func (b *builder) crates() (at string, states bool) {
	name := fmt.Sprintf("tool%d", b.number)
	b.alone(name + "-" + b.version + ".crate")
	at = fmt.Sprintf("crates.io/api/v1/crates/%s/%s/download", name, b.version)
	b.put(at, b.file(), fmt.Sprintf("static.crates.io/crates/%s/%s", name, b.file()))
	before := encode(object{"name": name, "vers": "0.0.1", "cksum": sha256sum.hex("before")})
	b.answer("index.crates.io/"+name[:2]+"/"+name[2:4]+"/"+name,
		before+"\n"+encode(object{"name": name, "vers": b.version, "cksum": sha256sum.hex(b.bodies[b.file()])})+"\n")
	return at, true
}

// rubyGems puts it to RubyGems.
func (b *builder) rubyGems() (at string, states bool) {
	name, platform := fmt.Sprintf("tool-%d", b.number), []string{"ruby", "x86_64-linux"}[b.chance.IntN(2)]
	file := name + "-" + b.version
	if platform != "ruby" {
		file += "-" + platform
	}
	b.alone(file + ".gem")
	at = "rubygems.org/downloads/" + b.file()
	b.put(at, b.file(), "")
	b.answer("rubygems.org/api/v1/versions/"+name+".json", encode([]object{
		{"number": b.version, "platform": "java", "sha": sha256sum.hex("java")},
		{"number": b.version, "platform": platform, "sha": sha256sum.hex(b.bodies[b.file()])}}))
	return at, true
}

// hub puts it to Hugging Face, which states the digest of a large file at the redirect to its store, and none of small ones.
func (b *builder) hub() (at string, states bool) {
	if b.chance.IntN(5) == 0 {
		b.alone("config.json")
		at = fmt.Sprintf("huggingface.co/acme/model-%d/resolve/main/config.json", b.number)
		b.put(at, b.file(), "")
		b.world.pages[at] = b.world.pages[at].with(object{"X-Repo-Commit": sha1sum.hex(at)})
		return at, false
	}
	b.alone("model.safetensors")
	at = fmt.Sprintf("huggingface.co/acme/model-%d/resolve/main/model.safetensors", b.number)
	b.put(at, b.file(), fmt.Sprintf("cas-bridge.xethub.hf.co/xet-bridge/%d", b.number))
	body := b.bodies[b.file()]
	b.world.pages[at] = b.world.pages[at].with(object{"X-Repo-Commit": sha1sum.hex(at), "X-Linked-Size": len(body),
		"X-Linked-Etag": `"` + sha256sum.hex(body) + `"`})
	return at, true
}

// artifactory puts it to an Artifactory.
func (b *builder) artifactory() (at string, states bool) {
	b.alone(b.file())
	at = fmt.Sprintf("art%d.example.org/artifactory/generic/%s", b.number, b.file())
	b.put(at, b.file(), "")
	body := b.bodies[b.file()]
	b.world.pages[at] = b.world.pages[at].with(object{"X-Checksum-Md5": md5sum.hex(body), "X-Checksum-Sha1": sha1sum.hex(body),
		"X-Checksum-Sha256": sha256sum.hex(body)})
	return at, true
}

// with is the page with more header fields.
func (p page) with(fields object) page {
	header := maps.Clone(p.header)
	if header == nil {
		header = map[string]string{}
	}
	for name, value := range fields {
		header[name] = fmt.Sprint(value)
	}
	p.header = header
	return p
}
