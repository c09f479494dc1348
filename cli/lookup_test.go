package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"braid/internal/test/mirrortest"
)

// TestForgeTokens: what is no token goes into no header field.
func TestForgeTokens_Rule27(t *testing.T) {
	for token, want := range map[string]string{"ghp_1a2B": "ghp_1a2B", "": "", "a b": "", "a\r\nX: y": ""} {
		t.Setenv("GITHUB_TOKEN", token)
		if got := forgeTokens()["api.github.com"]; got != want {
			t.Errorf("%q: %q", token, got)
		}
	}
}

// TestNoLookup_Rule77: the line, the environment, the site and the settings of everything say whether a checksum is
// looked for, in this order.
func TestNoLookup_Rule77(t *testing.T) {
	for _, tt := range []struct {
		name, settings, variable string
		flags                    []string
		looks                    bool
	}{
		{name: "by default", looks: true},
		{name: "flag", flags: []string{"--no-lookup"}},
		{name: "variable", variable: "true"},
		{name: "settings", settings: "no-lookup = true\n"},
		{name: "site", settings: "[site.\"http://127.0.0.1:PORT/\"]\nno-lookup = true\n"},
		{name: "another site", settings: "[site.\"http://127.0.0.2/\"]\nno-lookup = true\n", looks: true},
		{name: "site against settings",
			settings: "no-lookup = true\n[site.\"http://127.0.0.1:PORT/\"]\nno-lookup = false\n", looks: true},
		{name: "variable against site", settings: "[site.\"http://127.0.0.1:PORT/\"]\nno-lookup = true\n",
			variable: "false", looks: true},
		{name: "flag against variable", variable: "false", flags: []string{"--no-lookup"}},
		{name: "flag against settings", settings: "no-lookup = true\n", flags: []string{"--no-lookup=false"},
			looks: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := []byte("some bytes")
			server := mirrortest.New(t, file, mirrortest.Name("a.bin"))
			dir := t.TempDir()
			t.Setenv("HOME", dir)
			t.Setenv("XDG_CONFIG_HOME", dir)
			t.Setenv("BRAID_NO_LOOKUP", tt.variable)
			if tt.variable == "" {
				os.Unsetenv("BRAID_NO_LOOKUP")
			}
			settings := filepath.Join(dir, "braid", "config.toml")
			os.Mkdir(filepath.Dir(settings), 0o755)
			port := server.Addr[strings.LastIndexByte(server.Addr, ':')+1:]
			if err := os.WriteFile(settings, []byte(strings.ReplaceAll(tt.settings, "PORT", port)),
				0o600); err != nil {
				t.Fatal(err)
			}
			code, _, stderr := command(t, append([]string{"get", "-d", dir, server.URL}, tt.flags...)...)
			if looks := len(server.Requests()) > 1; code != 0 || looks != tt.looks {
				t.Errorf("exit %d, %d requests, want a lookup: %v\n%s", code, len(server.Requests()), tt.looks,
					stderr)
			}
		})
	}
}
