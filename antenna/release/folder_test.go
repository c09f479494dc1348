package release

import "testing"

// TestFolderOf checks which folders of an index page are versions.
func TestFolderOf(t *testing.T) {
	for _, tt := range []struct{ template, url, want string }{
		{"https://h/pub/tool/{version}/tool-{version}.tar.xz", "https://h/pub/tool/1.2.3/",
			"1.2.3 https://h/pub/tool/1.2.3/tool-1.2.3.tar.xz"},
		{"https://h/pub/v{version}/tool.tar.xz", "https://H:443/pub/v1.2/", "1.2 https://h/pub/v1.2/tool.tar.xz"},
		{"https://h/pub/{tag}/tool-{version}.tar.xz", "https://h/pub/tool-1.2/", "1.2 https://h/pub/tool-1.2/tool-1.2.tar.xz"},
		{"https://h/{major}.{minor}/a-{major}.{minor}.zip", "https://h/1.2/", "1.2 https://h/1.2/a-1.2.zip"},
		{"https://h/{version}/{major}/a?v={version}", "https://h/3.1/", "3.1 https://h/3.1/3/a?v=3.1"},
		{"https://me:pw@h/{version}/a", "https://h/3.1/", "3.1 https://me:pw@h/3.1/a"},
		{"https://h/v{major}.x/linux-{version}.tar.xz", "https://h/v6.x/", ""}, // the folder does not have the whole version
		{"https://h/{version}/a-{date}", "https://h/3.1/", ""},
		{"https://h/pub/{version}/a", "https://h/pub/3.1", ""},
		{"https://h/pub/{version}/a", "https://h/pub/3.1/more/", ""},
		{"https://h/pub/{version}/a", "https://h/3.1/", ""},
		{"https://h/pub/{version}/a", "https://other/pub/3.1/", ""},
		{"https://h/pub/{version}/a", "https://h/pub/../", ""},
		{"https://h/pub/{version}/a", "https://h/pub/a%2Fb/", ""},
	} {
		x := parse(t, tt.template, Patterns{})
		got := ""
		if r, ok := x.FolderOf(tt.url); ok {
			got = r.Version + " " + r.URL
		}
		if got != tt.want || !x.HasFolders() {
			t.Errorf("%s: %s is %q, want %q", tt.template, tt.url, got, tt.want)
		}
	}
	for _, text := range []string{"https://h/pub/tool-{version}.tar.xz", "https://h/pub?v={version}/a",
		"https://h/a?b=/{version}/c"} {
		if parse(t, text, Patterns{}).HasFolders() {
			t.Errorf("%s has no field in a folder", text)
		}
	}
}
