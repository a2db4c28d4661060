#!/usr/bin/env bash
# Checks the voxels of a repository, on any machine with `voxelize` and a GPU. A software GPU will do.
#
#   check.sh [--update] [RUNS]
#
# RUNS, by default voxelize.runs, has the arguments of one run of `voxelize` on each line, quoted as
# in a shell. Empty lines and lines that begin with # are skipped. Paths are relative to the current
# folder.
#
#   meshes/part.obj --res 128                           GPU and CPU must agree
#   meshes/part.obj --res 64 --mode solid --strict      the solid must not be doubtful either
#   verify meshes/part.obj grids/part.npy --res 128     the grid of another tool must be right
#
# The hashes must equal those in the .hashes file beside RUNS; --update writes them instead. The
# outputs and messages of all runs are in voxelize-out/, which is replaced.
#
# Exit codes: 0 no difference, 1 a difference, 2 bad usage, input or machine.
set -euo pipefail

out=voxelize-out

# Exits because of the usage, the input or the machine.
refuse() {
    echo "check.sh: $*" >&2
    exit 2
}

# Prints the meshes of a report and their hashes, one per line.
hashes_of() {
    sed -n 's/^{"mesh":"\(.*\)","triangles":.*"hash":"\([0-9a-f]*\)".*/\2  \1/p' "$1"
}

# Voxelizes with the given arguments, and appends the hashes.
compare() {
    local folder=$1 line=$2 code=0
    shift 2
    # --check is an error without an adapter, so this never compares nothing.
    voxelize "$@" --check --json -o "$folder/" >"$folder/report.jsonl" 2>"$folder/log" || code=$?
    {
        echo "# $line"
        hashes_of "$folder/report.jsonl"
        [ "$code" = 0 ] || echo "failed with exit code $code"
    } >>"$out/hashes"
    return "$code"
}

# Runs one line of RUNS.
run() {
    local folder=$out/$1 line=$2 code=0 words=() split word
    split=$(xargs printf '%s\n' <<<"$line") || return 2
    while IFS= read -r word; do words+=("$word"); done <<<"$split"
    mkdir "$folder"
    case ${words[0]} in
    verify | diff) voxelize "${words[@]}" >"$folder/log" 2>&1 </dev/null || code=$? ;;
    *) compare "$folder" "$line" "${words[@]}" </dev/null || code=$? ;;
    esac
    cat "$folder/log"
    return "$code"
}

# Runs all of RUNS. Sets `failed` to the number of failures, and `worst` to the highest exit code.
run_all() {
    local line code count=0
    while read -r line || [ -n "$line" ]; do
        case $line in '' | '#'*) continue ;; esac
        count=$((count + 1)) code=0
        echo "run $count: voxelize $line"
        run "$count" "$line" || code=$?
        [ "$code" = 0 ] || echo "check.sh: run $count failed with exit code $code: voxelize $line" >&2
        failed=$((failed + (code > 0))) worst=$((code > worst ? code : worst))
    done <"$runs"
    [ "$count" -gt 0 ] || refuse "$runs: holds no runs"
}

update=false
if [ "${1:-}" = --update ]; then
    update=true
    shift
fi
if [ $# -gt 1 ] || [[ ${1:-} == -* ]]; then
    refuse "usage: check.sh [--update] [RUNS]"
fi
runs=${1:-voxelize.runs}
hashes=${runs%.runs}.hashes
[ -f "$runs" ] || refuse "$runs: no such file: write the arguments of one run of voxelize a line"
command -v voxelize >/dev/null || refuse "no voxelize on the PATH: cargo install --path trivox"

# Mesa prints a harmless error if this is unset, as it is without a desktop.
export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-/tmp}

rm -rf "$out"
mkdir "$out"
touch "$out/hashes"
failed=0 worst=0
run_all

if $update; then
    [ "$failed" = 0 ] || refuse "$failed runs failed: $hashes is left as it was"
    cp "$out/hashes" "$hashes"
elif ! diff -uN "$hashes" "$out/hashes"; then
    echo "check.sh: what was computed (+) is not what $hashes says (-)" >&2
    [ "$failed" != 0 ] || echo "check.sh: if that is meant: $0 --update $runs" >&2
    worst=$((worst > 1 ? worst : 1))
fi
exit "$worst"
