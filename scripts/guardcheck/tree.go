package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// A tree reads the packages below a folder, each once.
type tree struct {
	root     string
	packages map[string]map[string][]declaration // by folder and by name
}

func newTree(root string) *tree {
	return &tree{root: root, packages: map[string]map[string][]declaration{}}
}

// A declaration is a function, or a constant, variable or type of a package.
type declaration struct {
	file   string // below the root, with slashes
	source []byte // of the file
	tokens []lexeme
}

// A lexeme is a token of Go, with its place in the source of its file.
type lexeme struct {
	text    string
	at, end int
}

// A span is a piece of a file.
type span struct {
	file     string
	source   []byte
	from, to int
}

// find returns the only place in a declaration that has the tokens of text.
func (t *tree) find(folder, name, text string) (span, error) {
	declarations, err := t.read(folder)
	if err != nil {
		return span{}, err
	}
	want := lex([]byte(text), 0)
	if len(want) == 0 {
		return span{}, fmt.Errorf("nothing of %s in %s is named", name, folder)
	}
	var found []span
	for _, d := range declarations[name] {
		for i := range d.tokens {
			if n := i + len(want); n <= len(d.tokens) && slices.EqualFunc(want, d.tokens[i:n], lexeme.same) {
				found = append(found, span{d.file, d.source, d.tokens[i].at, d.tokens[n-1].end})
			}
		}
	}
	switch {
	case len(declarations[name]) == 0:
		return span{}, fmt.Errorf("%s declares no %s", folder, name)
	case len(found) != 1:
		return span{}, fmt.Errorf("%s in %s has this %d times, not once:\n%s", name, folder, len(found), text)
	}
	return found[0], nil
}

func (l lexeme) same(other lexeme) bool { return l.text == other.text }

// read returns the declarations of a package, as compiled for this system, by name. The name of a method is that of its
// type, a dot and its own.
func (t *tree) read(folder string) (map[string][]declaration, error) {
	if known, ok := t.packages[folder]; ok {
		return known, nil
	}
	p, err := build.ImportDir(filepath.Join(t.root, folder), 0)
	if err != nil {
		return nil, err
	}
	declarations := map[string][]declaration{}
	for _, name := range p.GoFiles {
		file := path.Join(folder, name)
		source, err := os.ReadFile(filepath.Join(t.root, file))
		if err != nil {
			return nil, err
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		eachDeclaration(parsed, func(name string, n ast.Node) {
			from, to := set.Position(n.Pos()).Offset, set.Position(n.End()).Offset
			declarations[name] = append(declarations[name], declaration{file, source, lex(source[from:to], from)})
		})
	}
	t.packages[folder] = declarations
	return declarations, nil
}

func eachDeclaration(file *ast.File, do func(name string, n ast.Node)) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			do(functionName(d), d)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					do(s.Name.Name, s)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						do(n.Name, s)
					}
				}
			}
		}
	}
}

// functionName returns the name of a function, or of a method as "go doc" writes it.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

// lex returns the tokens of Go source that begins at an offset of its file. It leaves out tokens that depend on line
// breaks: semicolons and commas before a closing bracket, and semicolons at the end.
func lex(source []byte, offset int) (tokens []lexeme) {
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, 0) // without comments
	for {
		pos, tok, text := s.Scan()
		if last := len(tokens) - 1; last >= 0 && breaksOff(tokens[last].text, tok) {
			tokens = tokens[:last]
		}
		switch {
		case tok == token.EOF:
			return tokens
		case tok == token.SEMICOLON:
			text = ";"
		case text == "":
			text = tok.String()
		}
		at := file.Offset(pos)
		tokens = append(tokens, lexeme{text, offset + at, offset + min(at+len(text), len(source))})
	}
}

// breaksOff reports whether a token before next has no meaning.
func breaksOff(text string, next token.Token) bool {
	switch next {
	case token.EOF:
		return text == ";"
	case token.RPAREN, token.RBRACE, token.RBRACK:
		return text == ";" || text == ","
	}
	return false
}
