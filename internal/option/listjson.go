package option

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A list may also have an object of JSON in a line, which is one file with its options:
//
//	{"url": "https://example.org/a.iso", "mirrors": ["https://mirror.example.net/a.iso"], "out": "a.iso", "overwrite": true}
//
// "url" is one URI or a list of them, "mirrors" adds to it; the other keys are options, and a list is an option several times. Lines
// of both forms may follow each other.
func isJSON(text string) bool { return strings.HasPrefix(text, "{") }

// parseJSON makes an entry of an object.
func parseJSON(text string, line int) (Entry, error) {
	e := Entry{Line: line}
	wrong := func(why string) (Entry, error) { return Entry{}, &Error{Line: line, Why: why} }
	var object map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&object); err != nil {
		return wrong("not an object of JSON: " + strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); err != io.EOF {
		return wrong("more than one object of JSON")
	}
	for _, key := range []string{"url", "mirrors"} {
		words, why := wordsOf(object[key])
		if _, given := object[key]; why != "" && given {
			return wrong(key + ": " + why)
		}
		e.URIs = append(e.URIs, words...)
	}
	if object["url"] == nil || len(e.URIs) == 0 {
		return wrong(`an object without "url"`)
	}
	if strings.ContainsAny(e.URIs[0][:1], "#{") {
		return wrong("url: not a URL")
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if key == "url" || key == "mirrors" {
			continue
		}
		words, why := wordsOf(object[key])
		if why == "" && (key == "" || strings.TrimSpace(key) != key || strings.ContainsAny(key, "=#\n\r\t")) {
			why = "not the name of an option"
		}
		if why != "" {
			return wrong(fmt.Sprintf("%+q: %s", key, why))
		}
		for _, w := range words {
			e.Options = append(e.Options, Setting{line, key, w})
		}
	}
	return e, nil
}

// wordsOf are the words of a value: a string, a number, true or false, or a list of those.
func wordsOf(v any) (words []string, why string) {
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	for _, v := range list {
		word := ""
		switch v := v.(type) {
		case string:
			word = strings.TrimSpace(v)
		case bool:
			word = strconv.FormatBool(v)
		case json.Number:
			word = v.String()
		default:
			return nil, "write a string, a number, true or false, or a list of those"
		}
		if strings.ContainsAny(word, "\n\r\t") {
			return nil, "a line break or a tab in it"
		}
		if word == "" {
			return nil, "it is empty"
		}
		words = append(words, word)
	}
	return words, ""
}
