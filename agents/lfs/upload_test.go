package lfs

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// TestUpload checks that git-lfs is run to upload the object, with a setting that keeps it from starting this agent
// again. The name of the setting contains the URL of the repository only if git and git-lfs parse it correctly.
func TestUpload(t *testing.T) {
	upload := strings.NewReplacer(`"download"`, `"upload"`)
	question := `{"event":"upload","oid":"` + oid + `","size":11,"path":"x"}`
	for _, tt := range []struct{ remote, endpoint, args, named string }{
		{"origin", "https://me:pw@example.org/x.git/info/lfs?a=./evil", "lfs push --object-id -- origin " + oid,
			"https://me@example.org/x.git/info/lfs"},
		{"https://example.org/r.git", "https://example.org/r.git/info/lfs",
			"lfs push --object-id -- " + unnamed + " " + oid, "https://example.org/r.git/info/lfs"},
		{"origin", "file:///srv/repo", "lfs push --object-id -- origin " + oid, "file:///srv/repo"},
		{"origin", "https://example.org/a=b", "lfs push --object-id -- origin " + oid, ""},
		{"origin", "https://example.org/lfs.CustomTransfer.x.path", "lfs push --object-id -- origin " + oid, ""},
	} {
		k := newTalk(t, nil)
		k.remote = tt.endpoint
		said, err := k.say(upload.Replace(strings.Replace(first, "origin", tt.remote, 1)), question, last)
		if err != nil || said[1] != `{"event":"complete","oid":"`+oid+`"}` || !slices.Contains(k.asked, tt.args) {
			t.Errorf("%q, %v, %q", said, err, k.asked)
		}
		named := "" // as found in the settings
		for _, c := range k.config {
			if name, ok := strings.CutSuffix(strings.TrimPrefix(c[0], "lfs."), ".standalonetransferagent"); ok && c[1] == "" {
				named = name
			}
		}
		if named != tt.named || !slices.Contains(k.config, [2]string{"lfs.standalonetransferagent"}) {
			t.Errorf("%s: %q, want %s", tt.endpoint, k.config, tt.named)
		}
		if set := slices.Contains(k.config, [2]string{"remote." + unnamed + ".url", tt.remote}); set != (tt.remote != "origin") {
			t.Errorf("%s: %q", tt.remote, k.config)
		}
	}
}

// TestEndpoints checks that the endpoint that a repository configures is refused unless it is a URL, because it becomes
// part of the name of a setting.
func TestEndpoints(t *testing.T) {
	for _, word := range []string{"customtransfer.x.path=./evil", "./evil", "-c", "<unknown>",
		"https:customtransfer.x.path=./evil", "git://example.org/x", "ext::sh -c id"} {
		for _, operation := range []string{"upload", "download"} {
			k := newTalk(t, nil)
			k.remote = word
			said, err := k.say(strings.Replace(first, "download", operation, 1),
				`{"event":"`+operation+`","oid":"`+oid+`","size":11}`, last)
			if err != nil || len(said) != 2 || !strings.Contains(said[1], "is not a URL of an LFS server") || len(k.asked) != 1 {
				t.Errorf("%s: %q, %v, %q", word, said, err, k.asked)
			}
		}
	}
}

// TestHandedBackOnce checks that an upload fails with a git that does not read settings from the environment, because
// git-lfs would start the agent again and again.
func TestHandedBackOnce(t *testing.T) {
	t.Setenv("GIT_CONFIG_KEY_3", handedBack)
	k := newTalk(t, nil)
	said, err := k.say(strings.Replace(first, "download", "upload", 1), `{"event":"upload","oid":"`+oid+`","size":11}`, last)
	if err != nil || !strings.Contains(said[1], "git 2.31 or newer is needed") || len(k.asked) != 1 {
		t.Errorf("%q, %v, %q", said, err, k.asked)
	}
}

// TestConfigured checks that configured keeps the settings that are in the environment already.
func TestConfigured(t *testing.T) {
	config := [][2]string{{"lfs.https://a/?b=c.x", ""}, {"d.e", "f"}}
	got := strings.Join(configured([]string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=user.name",
		"GIT_CONFIG_VALUE_0=me"}, config), "\n")
	want := "GIT_CONFIG_COUNT=1\nGIT_CONFIG_KEY_0=user.name\nGIT_CONFIG_VALUE_0=me\nGIT_CONFIG_KEY_1=lfs.https://a/?b=c.x\nGIT_CONFIG_VALUE_1=\nGIT_CONFIG_KEY_2=d.e\nGIT_CONFIG_VALUE_2=f\nGIT_CONFIG_COUNT=3"
	if got != want {
		t.Errorf("%s\n\nwant %s", got, want)
	}
}

// TestPlainHost checks which hosts are refused because ssh would read them as an option, or a shell in ProxyCommand as
// a command. A repository chooses the host.
func TestPlainHost(t *testing.T) {
	for word, want := range map[string]bool{
		"git@example.org": true, "example.org": true, "me.you@[2001:db8::1]": true, "": false, "git@": false,
		"-oProxyCommand=x":     false,
		"git@-oProxyCommand=x": false, "-l@h": false, "git@h$(id)": false, "git@h`id`": false, "a;b@h": false,
		"git@h h": false, "git@h\n": false,
	} {
		if plainHost(word) != want {
			t.Errorf("%q: %v", word, !want)
		}
		if _, err := (&Agent{Git: newTalk(t, nil).git}).newLogin(t.Context(),
			place{ssh: word + ":/x", endpoint: &url.URL{}}); (err == nil) != want {
			t.Errorf("%q: %v", word, err)
		}
	}
}

// TestPlainPath checks that the path of a remote is one word for the server's shell, whatever it contains. A repository
// chooses the path.
func TestPlainPath(t *testing.T) {
	for path, want := range map[string]string{
		"/r.git": "git-lfs-authenticate /r.git download", "/r;id": "git-lfs-authenticate '/r;id' download",
		"/$(id)": "git-lfs-authenticate '/$(id)' download",
		"/a b":   "git-lfs-authenticate '/a b' download", "/';id;'": "", `/\`: "", "/a\nid": "", "/a\x00": "",
	} {
		l, err := (&Agent{Git: newTalk(t, nil).git}).newLogin(t.Context(), place{ssh: "git@h:" + path, endpoint: &url.URL{}})
		if (err == nil) != (want != "") || err == nil && l.command[len(l.command)-1] != want {
			t.Errorf("%q: %+v, %v, want %q", path, l, err, want)
		}
	}
}
