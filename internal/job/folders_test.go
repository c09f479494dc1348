package job

import "testing"

// TestSettingsFile_Rule78: a relative XDG_CONFIG_HOME does not hide the anchors in the user's home.
func TestSettingsFile_Rule78(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	want := SettingsFile("trust.json")
	for _, word := range []string{"conf", "./conf", "../conf"} {
		t.Setenv("XDG_CONFIG_HOME", word)
		if got := SettingsFile("trust.json"); got != want || got == "" {
			t.Errorf("XDG_CONFIG_HOME=%s: %q, want %q", word, got, want)
		}
	}
	t.Setenv("HOME", "")
	if got := SettingsFile("trust.json"); got != "" {
		t.Errorf("without a home: %q", got)
	}
}
