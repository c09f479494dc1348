package hint

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"braid/download"
	"braid/internal/option"
	"braid/source"
	"braid/source/httpsource"
	"braid/verify"
)

// Every step that the library names has words here, in flags; and the library names none.
func TestFlagHints(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../download/hint.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	hints := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			hints++
			text := download.Hint(textOf(spec.Values[0]))
			got := Of(&download.Error{Hint: text, Part: "d/f.part"})
			if got == string(text) || !regexp.MustCompile(`(^|\W)--?[a-z]|braid get`).MatchString(got) {
				t.Errorf("%q is told as %q", text, got)
			}
			if strings.Contains(string(text), "--") {
				t.Errorf("%q names a flag", text)
			}
		}
		return true
	})
	if hints < len(flagHints) {
		t.Errorf("%d hints of %d", hints, len(flagHints))
	}
}

// textOf returns the text of a constant of one or several parts.
func textOf(x ast.Expr) string {
	if sum, ok := x.(*ast.BinaryExpr); ok {
		return textOf(sum.X) + textOf(sum.Y)
	}
	return strings.Trim(x.(*ast.BasicLit).Value, `"`)
}

// Each reason why a signature does not count has a next step of its own.
func TestSignatureHints(t *testing.T) {
	for want, err := range map[string]error{
		"--allow-expired-key":  &verify.SignatureError{Code: verify.SignatureKeyExpired},
		"--smime-ca FILE":      &verify.SignatureError{Code: verify.SignatureNoChain},
		"not the signature of": &verify.SignatureError{Code: verify.SignatureMalformed},
		"--signature FILE":     &verify.SignatureError{Code: verify.SignatureNotOfFile},
		"clock":                &verify.SignatureError{Code: verify.SignatureCertificateExpired},
		"was changed":          &verify.SignatureError{Code: verify.SignatureBad},
		"SHA-256 or better":    &verify.SignatureError{Code: verify.SignatureWeak},
		"is no longer valid":   &verify.SignatureError{Code: verify.SignatureRevoked},
	} {
		e := &download.Error{Kind: download.BadSignature, What: "verify", Err: fmt.Errorf("x: %w", err)}
		if f := Problem(e); f.Kind != download.BadSignature || !strings.Contains(f.Hint, want) {
			t.Errorf("%v: %q, want %q", err, f.Hint, want)
		}
	}
	e := &download.Error{Kind: download.NoEvidence, What: "verify", Err: &verify.SignatureError{Code: verify.SignatureMissing}}
	if f := Problem(e); !strings.Contains(f.Hint, "--signature FILE") {
		t.Errorf("no signature: %q", f.Hint)
	}
}

// TestHintsBeforeGoingOn: the same command goes on only when what stopped it is out of the way.
func TestHintsBeforeGoingOn(t *testing.T) {
	for want, err := range map[string]error{
		"follow the redirect to http with --allow-downgrade": httpsource.ErrDowngrade,
		"the proxy needs a name and password": &source.Error{Fault: source.FaultAuth, Status: 407,
			Err: errors.New("x")},
		"give a name and password with -u USER:PASSWORD": &source.Error{Fault: source.FaultAuth, Status: 401,
			Err: errors.New("x")},
	} {
		for _, kept := range []int64{0, 1} {
			e := &download.Error{Kind: download.Auth, What: "download", Err: err, Kept: kept, Part: "a.part"}
			f := Problem(e)
			if !strings.HasPrefix(f.Hint, want) || strings.HasSuffix(f.Hint, "; then repeat the command") != (kept > 0) {
				t.Errorf("%v, %d bytes kept: %q", err, kept, f.Hint)
			}
		}
	}
}

// TestKindHints: the flags that the hints name are those of braid get.
func TestKindHints(t *testing.T) {
	get, _ := option.Braid().Below("get")
	known := map[string]bool{}
	for _, o := range get.Options {
		for name := range strings.FieldsSeq(o.Names) {
			known[name] = true
		}
	}
	flag := regexp.MustCompile(`(?:^|[\s(])(--?[a-z][a-z0-9-]*)`)
	named := 0
	for _, text := range kindHints {
		for _, m := range flag.FindAllStringSubmatch(text, -1) {
			if named++; !known[strings.TrimLeft(m[1], "-")] {
				t.Errorf("the hint %q names %s, which does not exist", text, m[1])
			}
		}
	}
	if named == 0 {
		t.Error("no hint names a flag")
	}
}
