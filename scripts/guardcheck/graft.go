package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// number returns the number that switches the patch on. It does not depend on other patches, so packages with unchanged
// patches are not rebuilt.
func (p patch) number() int { return int(crc32.ChecksumIEEE(fmt.Append(nil, p.title, p.edits)) >> 1) }

// A grafter adds the patched functions beside the originals, so that one build serves all patches. A function begins
// with a check whether one of its patches is switched on, and then calls the patched function instead.
type grafter struct {
	tree   *tree
	edits  map[string][]edit // by file, below root
	copies map[string][]byte // patched functions, to be added to the file
	alone  map[int]bool      // patches of anything but bodies of functions
}

// graft returns the files with all patches that can be switched, by absolute path, and the patches that cannot.
func graft(t *tree, patches []patch) (files map[string][]byte, alone map[int]bool, err error) {
	g := &grafter{tree: t, edits: map[string][]edit{}, copies: map[string][]byte{}, alone: map[int]bool{}}
	for _, p := range patches {
		if err := g.add(p); err != nil {
			return nil, nil, err
		}
	}
	files = map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(g.edits)) {
		path := filepath.Join(t.root, name)
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		files[path] = append(apply(source, g.edits[name]), g.copies[name]...)
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.PackageClauseOnly)
		if err != nil {
			return nil, nil, err
		}
		files[filepath.Join(filepath.Dir(path), "zz_guard_switch.go")] = fmt.Appendf(nil, switchSource, file.Name.Name)
	}
	return files, g.alone, nil
}

// add adds a patch, if it changes only bodies of functions.
func (g *grafter) add(p patch) error {
	files, err := p.apply(g.tree)
	if err != nil {
		return err
	}
	grafts := map[string][]change{}
	for name, patched := range files {
		source, err := os.ReadFile(filepath.Join(g.tree.root, name))
		if err != nil {
			return err
		}
		changes, ok, err := changed(name, source, patched)
		if err != nil {
			return fmt.Errorf("%s: %w", p.at, err)
		}
		if !ok {
			g.alone[p.number()] = true
			return nil
		}
		grafts[name] = changes
	}
	for name, changes := range grafts {
		for _, c := range changes {
			n := p.number()
			g.edits[name] = append(g.edits[name], edit{c.at, fmt.Sprintf(" if guardSwitched == %d { %s }; ", n, c.call(n))})
			// Compile errors are then attributed to the patch.
			g.copies[name] = fmt.Appendf(g.copies[name], "\n//line %s.go:1\n%s%d%s\n", strings.ReplaceAll(p.at, ":", "_line_"), c.before, n, c.after)
		}
	}
	return nil
}

// A change is a patched function.
type change struct {
	at            int    // offset of the original's body
	before, after string // the patched function, up to its name and from there
	callee, args  string
	result        bool
}

// call returns the call of the patched function.
func (c change) call(number int) string {
	if c.result {
		return fmt.Sprintf("return %s%d(%s)", c.callee, number, c.args)
	}
	return fmt.Sprintf("%s%d(%s); return", c.callee, number, c.args)
}

// changed compares a file with its patched form. It reports false unless only bodies of functions differ that can be
// called in place of each other.
func changed(name string, source, patched []byte) (changes []change, ok bool, err error) {
	set := token.NewFileSet()
	a, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, false, err
	}
	b, err := parser.ParseFile(set, name, patched, parser.SkipObjectResolution)
	if err != nil || len(a.Decls) != len(b.Decls) {
		return nil, false, err
	}
	text := func(file []byte, from, to token.Pos) []byte {
		return file[set.Position(from).Offset:set.Position(to).Offset]
	}
	for i := range a.Decls {
		if bytes.Equal(text(source, a.Decls[i].Pos(), a.Decls[i].End()), text(patched, b.Decls[i].Pos(), b.Decls[i].End())) {
			continue
		}
		f, isFunction := a.Decls[i].(*ast.FuncDecl)
		g, still := b.Decls[i].(*ast.FuncDecl)
		if !isFunction || !still || f.Name.Name == "init" || !bytes.Equal(text(source, f.Pos(), f.Body.Pos()), text(patched, g.Pos(), g.Body.Pos())) {
			return nil, false, nil
		}
		c := change{
			at: set.Position(f.Body.Pos()).Offset + 1, result: f.Type.Results != nil,
			before: string(text(patched, g.Pos(), g.Name.End())), after: string(text(patched, g.Name.End(), g.End())),
		}
		if c.callee, c.args, ok = callable(f); !ok {
			return nil, false, nil
		}
		changes = append(changes, c)
	}
	return changes, true, nil
}

// callable returns a call of a function with its own parameters. It reports false if some have no name or are type
// parameters.
func callable(f *ast.FuncDecl) (callee, args string, ok bool) {
	callee = f.Name.Name
	if f.Recv != nil {
		receiver := f.Recv.List[0]
		if len(receiver.Names) == 0 || receiver.Names[0].Name == "_" {
			return "", "", false
		}
		callee = receiver.Names[0].Name + "." + callee
	}
	var names []string
	for _, p := range f.Type.Params.List {
		if len(p.Names) == 0 {
			return "", "", false
		}
		for _, n := range p.Names {
			names = append(names, n.Name)
		}
		if _, variadic := p.Type.(*ast.Ellipsis); variadic {
			names[len(names)-1] += "..."
		}
	}
	return callee, strings.Join(names, ", "), f.Type.TypeParams == nil && !slices.Contains(names, "_")
}
