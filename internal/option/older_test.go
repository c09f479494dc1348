package option_test

import (
	"os"
	"slices"
	"testing"

	"github.com/BurntSushi/toml"

	"braid/internal/option"
)

// TestOlderSettings_Rule8 checks that all keys of revision 696ef86 are read, with their values.
func TestOlderSettings_Rule8(t *testing.T) {
	data, err := os.ReadFile("testdata/696ef86.toml")
	if err != nil {
		t.Fatal(err)
	}
	settings, err := option.ParseSettings(data)
	if err != nil {
		t.Fatal(err)
	}
	var tables map[string]map[string]any
	if err := toml.Unmarshal(data, &tables); err != nil {
		t.Fatal(err)
	}
	sites := tables["site"]
	delete(tables, "site")
	for command, keys := range tables {
		for key, want := range keys {
			if v, ok := settings.Value(command, key); !ok || !slices.Equal(v.Words, words(want)) {
				t.Errorf("[%s] %s is %v, want %v", command, key, v.Words, want)
			}
		}
	}
	if len(settings.Sites) != len(sites) {
		t.Fatalf("%d sites, want %d", len(settings.Sites), len(sites))
	}
	for key, want := range sites[settings.Sites[0].Pattern].(map[string]any) {
		if got := settings.Sites[0].Values[key]; !slices.Equal(got, words(want)) {
			t.Errorf("%s of the site is %v, want %v", key, got, want)
		}
	}
}

// words returns the words of a value of the settings.
func words(value any) (all []string) {
	switch v := value.(type) {
	case bool:
		return []string{"true"}
	case string:
		return []string{v}
	case []any:
		for _, word := range v {
			all = append(all, word.(string))
		}
	}
	return all
}

// TestOlderTrust_Rule8 checks that keys that revision e09d6b8, the first with braid trust, has recorded are read without
// loss.
func TestOlderTrust_Rule8(t *testing.T) {
	data, err := os.ReadFile("testdata/e09d6b8.json")
	if err != nil {
		t.Fatal(err)
	}
	trust, err := option.ParseTrust(data)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := trust.Format(); err != nil || string(again) != string(data) {
		t.Errorf("%v; it is read as\n%s", err, again)
	}
}
