package cli

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write doc/json.md anew, and add to the fields that must stay")

// jsonEvents are the lines of --json, by who writes them, in the order of the page.
var jsonEvents = []struct {
	command string
	types   []string
}{
	{"braid get", []string{
		"startEvent", "OfferEvent", "resumeEvent", "mirrorEvent", "rangeEvent", "rangeAnswerEvent", "rangeCutEvent",
		"rangeEndEvent", "progressEvent", "compareEvent",
		"retryEvent", "noteEvent", "completeEvent", "verifyEvent", "doneEvent", "hookEvent", "seedEvent", "errorEvent",
		"BatchEvent", "queuedEvent",
	}},
	{"braid get --dry-run", []string{"planEvent"}},
	{"braid verify", []string{"damagedEvent"}},
	{"braid parts", []string{"partEvent", "asideEvent", "uploadEvent", "removedEvent"}},
	{"braid trust list", []string{"trustEvent"}},
	{"braid feed", []string{"findingEvent", "checkedEvent", "foundEvent", "recordEvent"}},
	{"braid follow", []string{"releaseEvent", "followEvent"}},
	{"braid watch status", []string{"feedLine", "watchLine"}},
}

const (
	jsonPage   = "../doc/json.md"
	jsonFields = "testdata/json-v1.txt"
	pageMark   = "<!-- From here on the page is made from the code: go test ./cli -run TestJSONPage -update -->\n"
)

// TestJSONPage: the page says what is written, each event and field of it; and what was written once, with that name and of that
// type, is written for ever.
func TestJSONPage(t *testing.T) {
	s := readSource(t)
	made, fields := s.page(t)
	page, err := os.ReadFile(jsonPage)
	if err != nil {
		t.Fatal(err)
	}
	intro, body, ok := strings.Cut(string(page), pageMark)
	if !ok {
		t.Fatalf("%s has no %s", jsonPage, pageMark)
	}
	known, err := os.ReadFile(jsonFields)
	if err != nil && !*update {
		t.Fatal(err)
	}
	all := strings.Fields(string(known))
	for _, f := range all {
		if !slices.Contains(fields, f) {
			t.Errorf("%s is gone: programs read it", f)
		}
	}
	if *update {
		all = slices.Compact(slices.Sorted(slices.Values(append(all, fields...))))
		if err := os.WriteFile(jsonFields, []byte(strings.Join(all, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(jsonPage, []byte(intro+pageMark+made), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, f := range fields {
		if !slices.Contains(all, f) {
			t.Errorf("%s is new: go test ./cli -run TestJSONPage -update", f)
		}
	}
	if body != made {
		t.Errorf("%s is not what the code says: go test ./cli -run TestJSONPage -update", jsonPage)
	}
}

// A sourceOf is what the code says of types and events.
type sourceOf struct {
	types map[string]*ast.StructType
	docs  map[string]string
	names map[string][]string // of events, by type
}

func readSource(t *testing.T) *sourceOf {
	s := &sourceOf{types: map[string]*ast.StructType{}, docs: map[string]string{}, names: map[string][]string{}}
	var files []string
	for _, pattern := range []string{"*.go", "../internal/render/*.go"} {
		some, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, some...)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, s.take)
	}
	return s
}

// take notes a type, or the name of the event that a composite literal is.
func (s *sourceOf) take(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		for _, spec := range n.Specs {
			if spec, ok := spec.(*ast.TypeSpec); ok {
				if st, ok := spec.Type.(*ast.StructType); ok {
					s.types[spec.Name.Name], s.docs[spec.Name.Name] = st, strings.Join(strings.Fields(n.Doc.Text()), " ")
				}
			}
		}
	case *ast.CompositeLit:
		if of, ok := n.Type.(*ast.Ident); ok && len(n.Elts) > 0 {
			if name := eventName(n.Elts[0]); name != "" && !slices.Contains(s.names[of.Name], name) {
				s.names[of.Name] = append(s.names[of.Name], name)
			}
		}
	}
	return true
}

// eventName is what the head of an event is made with.
func eventName(first ast.Expr) string {
	if kv, ok := first.(*ast.KeyValueExpr); ok {
		first = kv.Value
	}
	call, ok := first.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return ""
	}
	switch f := call.Fun.(type) {
	case *ast.Ident:
		ok = f.Name == "NewHead"
	case *ast.SelectorExpr:
		ok = f.Sel.Name == "head" || f.Sel.Name == "NewHead"
	}
	if word, isWord := call.Args[len(call.Args)-1].(*ast.BasicLit); ok && isWord {
		name, _ := strconv.Unquote(word.Value)
		return name
	}
	return ""
}

// jsonObjects are written once, as several events have them. The page calls them by these names.
var jsonObjects = map[string]string{
	"claimLine": "claim", "pieceLine": "piece", "saidLine": "said", "signatureLine": "signature",
	"lookedLine": "looked", "Proven": "proof", "LeftLine": "unfinished",
}

// jsonUnits are notes that the introduction of the page makes for all fields.
var jsonUnits = []string{"seconds", "bytes", "bytes a second"}

// objectLink is the name of an object that the page has once, with a link to it.
func objectLink(of string) string { return fmt.Sprintf("[%s](#%[1]s)", jsonObjects[of]) }

// page is the part of the page that is made, and all fields as EVENT.FIELD:TYPE.
func (s *sourceOf) page(t *testing.T) (text string, fields []string) {
	var b strings.Builder
	told := map[string]bool{}
	for _, group := range jsonEvents {
		fmt.Fprintf(&b, "\n## %s\n", group.command)
		for _, of := range group.types {
			names := s.names[of]
			if len(names) != 1 || s.docs[of] == "" {
				t.Fatalf("%s: events %q, %q", of, names, s.docs[of])
			}
			told[of] = true
			all := s.fields(t, of)
			fmt.Fprintf(&b, "\n### %s\n\n%s\n\n", names[0], sentence(s.docs[of]))
			writeFields(&b, all, "")
			for _, name := range flat(all, "") {
				fields = append(fields, strings.ReplaceAll(group.command, " ", "-")+":"+names[0]+"."+name)
			}
		}
	}
	b.WriteString("\n## Objects\n")
	byName := func(a, b string) int { return cmp.Compare(jsonObjects[a], jsonObjects[b]) }
	for _, of := range slices.SortedFunc(maps.Keys(jsonObjects), byName) {
		fmt.Fprintf(&b, "\n### %s\n\n", jsonObjects[of])
		writeFields(&b, s.fields(t, of), "")
	}
	for of := range s.names {
		if !told[of] && !s.isOfFleet(of) {
			t.Errorf("%s is on no page", of)
		}
	}
	return b.String(), fields
}

// isOfFleet reports whether an event is a value of package fleet, which go doc describes.
func (s *sourceOf) isOfFleet(of string) bool {
	return slices.ContainsFunc(s.types[of].Fields.List, func(f *ast.Field) bool {
		selector, is := f.Type.(*ast.SelectorExpr)
		return is && len(f.Names) == 0 && selector.X.(*ast.Ident).Name == "fleet"
	})
}

// writeFields lists fields: first those without a note, on one line by their types, as Go writes parameters. The fields
// of an object follow below it, unless the object is at the end of the page.
func writeFields(b *strings.Builder, all []jsonField, indent string) {
	kinds, noted := []string{""}, []string(nil) // strings come first
	plain := map[string][]string{}              // by type
	for _, f := range all {
		kind, isLink := f.typeOnPage(), f.within != "" || jsonObjects[f.of] != ""
		if f.within != "" || f.note == "" && (isLink || len(f.inner) == 0) {
			if !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
			if name := f.nameOnPage(); name != "" {
				plain[kind] = append(plain[kind], name)
			}
			continue
		}
		text := strings.TrimSpace(f.nameOnPage() + " " + kind)
		if f.note != "" {
			text += ": " + f.note
		}
		var inner strings.Builder
		if !isLink {
			writeFields(&inner, f.inner, indent+"  ")
		}
		noted = append(noted, indent+"- "+text+"\n"+inner.String())
	}
	var groups []string
	for _, kind := range kinds {
		if group := strings.TrimSpace(strings.Join(plain[kind], ", ") + " " + kind); group != "" {
			groups = append(groups, group)
		}
	}
	if len(groups) > 0 {
		b.WriteString(indent + "- " + strings.Join(groups, "; ") + "\n")
	}
	b.WriteString(strings.Join(noted, ""))
}

// nameOnPage is how the page names a field. It is empty for a field of an object that is embedded.
func (f jsonField) nameOnPage() string {
	switch {
	case f.within != "":
		return ""
	case f.isOptional:
		return "`" + f.name + "`?"
	}
	return "`" + f.name + "`"
}

// typeOnPage is what the page says behind the name of a field. Most are strings, so this type is left out.
func (f jsonField) typeOnPage() string {
	switch {
	case f.within != "":
		return "the fields of " + objectLink(f.within)
	case jsonObjects[f.of] != "" && f.path != "":
		return "list of " + objectLink(f.of)
	case jsonObjects[f.of] != "":
		return objectLink(f.of)
	case f.kind == "string":
		return ""
	}
	return f.kind
}

// flat are all fields as PATH:TYPE.
func flat(all []jsonField, within string) (paths []string) {
	for _, f := range all {
		paths = append(paths, within+f.name+":"+f.kind)
		paths = append(paths, flat(f.inner, within+f.name+f.path+".")...)
	}
	return paths
}

// sentence is a comment without the name of the type.
func sentence(doc string) string {
	for _, begin := range []string{"A ", "An "} {
		doc = strings.TrimPrefix(doc, begin)
	}
	_, rest, _ := strings.Cut(doc, " ")
	rest = strings.TrimPrefix(rest, "is ")
	return strings.ToUpper(rest[:1]) + rest[1:]
}

// A jsonField is a field of an object, and what that has inside.
type jsonField struct {
	name, kind, note string
	isOptional       bool
	of, path         string // the struct that it has inside, if any, and what stands between the two in a path
	inner            []jsonField
	within           string // the object of jsonObjects that is embedded in the event and has the field
}

func (s *sourceOf) fields(t *testing.T, of string) (all []jsonField) {
	for _, f := range s.types[of].Fields.List {
		if len(f.Names) == 0 {
			_, embedded, _ := jsonKind(f.Type)
			if embedded == "Head" {
				continue
			}
			for _, field := range s.fields(t, embedded) {
				if jsonObjects[embedded] != "" {
					field.within = embedded
				}
				all = append(all, field)
			}
			continue
		}
		if f.Tag == nil {
			t.Fatalf("%s.%s has no name in JSON", of, f.Names[0])
		}
		raw, _ := strconv.Unquote(f.Tag.Value)
		name, options, _ := strings.Cut(reflect.StructTag(raw).Get("json"), ",")
		field := jsonField{name: name, isOptional: options != "", note: strings.Join(strings.Fields(f.Comment.Text()), " ")}
		if slices.Contains(jsonUnits, field.note) {
			field.note = ""
		}
		field.kind, field.of, field.path = jsonKind(f.Type)
		if field.of != "" {
			field.inner = s.fields(t, field.of)
		}
		all = append(all, field)
	}
	return all
}

// jsonKind is the word for a type of Go, and the struct that it has inside, if any, with what stands between the two in a path.
func jsonKind(e ast.Expr) (kind, inner, path string) {
	switch e := e.(type) {
	case *ast.StarExpr:
		return jsonKind(e.X)
	case *ast.ArrayType:
		_, inner, _ = jsonKind(e.Elt)
		return "list", inner, "[]"
	case *ast.SelectorExpr:
		if e.X.(*ast.Ident).Name == "render" {
			return "object", e.Sel.Name, ""
		}
		return "time", "", ""
	case *ast.MapType:
		return "object", "", ""
	case *ast.Ident:
		if kind, ok := map[string]string{"string": "string", "int": "integer", "int64": "integer", "float64": "number",
			"bool": "boolean"}[e.Name]; ok {
			return kind, "", ""
		}
		return "object", e.Name, ""
	}
	return "unknown", "", ""
}
