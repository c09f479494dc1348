// Command attest writes the documents of scripts/release about its files to standard output.
//
//	attest sbom braid VERSION                            what is in a program: CycloneDX, of its own build information
//	attest provenance VERSION COMMIT PLATFORMS FILE...   how the files were built: an in-toto statement with SLSA's predicate
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "attest:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, args []string) (err error) {
	var document any
	switch {
	case len(args) == 3 && args[0] == "sbom":
		document, err = sbom(args[1], args[2])
	case len(args) > 4 && args[0] == "provenance":
		document, err = provenance(args[1], args[2], strings.Fields(args[3]), args[4:])
	default:
		err = errors.New("usage: sbom PROGRAM VERSION, or provenance VERSION COMMIT PLATFORMS FILES")
	}
	if err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(document)
}

type object = map[string]any

// sbom returns the bill of materials of a program.
func sbom(program, version string) (object, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	digest, err := sha256Of(program)
	if err != nil {
		return nil, err
	}
	settings := []object{}
	for _, s := range info.Settings {
		settings = append(settings, property(s.Key, s.Value))
	}
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	components := []object{{
		"type": "library", "bom-ref": "pkg:golang/std@" + goVersion, "purl": "pkg:golang/std@" + goVersion,
		"name": "std", "version": goVersion,
	}}
	for _, m := range info.Deps {
		components = append(components, component(m))
	}
	return object{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": object{"component": object{
			"type": "application", "bom-ref": info.Path, "name": info.Path, "version": version, "properties": settings,
			"hashes": []object{{"alg": "SHA-256", "content": digest}},
		}},
		"components": components,
	}, nil
}

// component returns a module. Its sum is of the whole module, which is no hash of a file.
func component(m *debug.Module) object {
	purl := "pkg:golang/" + m.Path + "@" + m.Version
	c := object{"type": "library", "bom-ref": purl, "name": m.Path, "version": m.Version}
	switch r := m.Replace; {
	case r != nil: // by a folder of the sources
		c["properties"] = []object{property("go:replace", r.Path)}
	default:
		c["purl"] = purl
		c["properties"] = []object{property("go:sum", m.Sum)}
	}
	return c
}

func property(name, value string) object { return object{"name": name, "value": value} }

// provenance returns the statement of how files were built.
func provenance(version, commit string, platforms, files []string) (object, error) {
	var subjects []object
	for _, file := range files {
		digest, err := sha256Of(file)
		if err != nil {
			return nil, err
		}
		subjects = append(subjects, object{"name": filepath.Base(file), "digest": object{"sha256": digest}})
	}
	return object{
		"_type": "https://in-toto.io/Statement/v1", "subject": subjects,
		"predicateType": "https://slsa.dev/provenance/v1",
		"predicate": object{
			"buildDefinition": object{
				"buildType":          "urn:braid:scripts:release",
				"externalParameters": object{"version": version, "platforms": platforms},
				"internalParameters": object{"go": runtime.Version()},
				"resolvedDependencies": []object{{
					"name": "the sources", "digest": object{"gitCommit": commit},
				}},
			},
			"runDetails": object{"builder": object{"id": "urn:braid:scripts:release"}},
		},
	}, nil
}

func sha256Of(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
