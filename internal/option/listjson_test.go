package option

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	got, err := read(`{"url": "a", "mirrors": ["b", "c"], "out": "x y", "overwrite": true, "n": 12345678901234567890, "header": ["A: b", "C: d"]}` + "\r\n" +
		"d\te\n  out=z\n" + `{"url": ["f", "g"]}` + "\n  dir=h\n")
	want := []Entry{
		{1, []string{"a", "b", "c"}, []Setting{{1, "header", "A: b"}, {1, "header", "C: d"},
			{1, "n", "12345678901234567890"}, {1, "out", "x y"}, {1, "overwrite", "true"}}},
		{2, []string{"d", "e"}, []Setting{{3, "out", "z"}}},
		{4, []string{"f", "g"}, []Setting{{5, "dir", "h"}}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, line := range []string{
		`{`, `{"url": "a"} {}`, `{"url": "a"}]`, `{"out": "a"}`, `{"url": ""}`, `{"url": []}`, `{"url": {"a": 1}}`,
		`{"url": "a", "mirrors": null}`, `{"url": "a", "out": null}`,
		`{"url": "a", "out": "x\ny"}`, `{"url": "a", "": "x"}`, `{"url": "a", "out": [["x"]]}`, `{"mirrors": ["a"]}`,
	} {
		_, err := read("x\n" + line + "\ny")
		var e *Error
		if !errors.As(err, &e) || e.Line != 2 || e.Why == "" {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// FuzzJSON: generated JSON is parsed to the same values.
func FuzzJSON(f *testing.F) {
	f.Add("http://h/a", "out", "b")
	f.Add("\u00e4 b", "x", "\"\\")
	f.Fuzz(func(t *testing.T, uri, name, value string) {
		text, err := json.Marshal(map[string]any{"url": uri, name: []string{value}})
		if err != nil || len(text) > MaxLine || name == "url" || name == "mirrors" {
			return
		}
		got, err := read(string(text))
		var back map[string]any // invalid UTF-8 changes
		json.Unmarshal(text, &back)
		uri, _ = back["url"].(string)
		if uri = strings.TrimSpace(uri); err != nil {
			if uri != "" && name != "" && strings.TrimSpace(value) != "" && !strings.ContainsAny(uri+value+name, "\n\r\t=#{ ") {
				t.Fatalf("%s: %v", text, err)
			}
			return
		}
		if len(got) != 1 || len(got[0].URIs) != 1 || got[0].URIs[0] != uri || len(got[0].Options) != 1 {
			t.Fatalf("%s: %+v", text, got)
		}
	})
}
