#!/bin/bash -eu
# Compiles all fuzz targets (scripts/fuzz -list) for libFuzzer, in the image of OSS-Fuzz, which has compile_native_go_fuzzer.
cd "$SRC/braid"
printf 'package main\n\nimport _ "github.com/AdamKorcz/go-118-fuzz-build/testing"\n' >fuzzdep.go
go get github.com/AdamKorcz/go-118-fuzz-build/testing
./scripts/fuzz -list | while read -r package target; do
	name=${package#./}
	name=${name//\//_}
	compile_native_go_fuzzer "braid${package#.}" "$target" "${name#.}_$target" </dev/null
done
