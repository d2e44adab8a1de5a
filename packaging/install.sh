#!/bin/sh
# Installs Trailblaze for this user: TRAILBLAZE_FROM=URL sh install.sh [FOLDER]
# TRAILBLAZE_FROM is the folder or the address that has the archives and SHA256SUMS; FOLDER is ~/.local/bin if not given.
set -eu

main() {
    from=${TRAILBLAZE_FROM:?set TRAILBLAZE_FROM to the address of a release, or to a folder}
    to=${1:-$HOME/.local/bin}
    case "$(uname -s)-$(uname -m)" in
        Linux-x86_64) platform=x86_64-linux ;;
        Linux-aarch64) platform=aarch64-linux ;;
        Darwin-x86_64) platform=x86_64-macos ;;
        Darwin-arm64) platform=aarch64-macos ;;
        *) fail "there is no Trailblaze for $(uname -s) on $(uname -m)" ;;
    esac
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    get SHA256SUMS
    archive=$(sed -n "s/^.*  \(trailblaze-.*-$platform\.tar\.gz\)$/\1/p" "$work/SHA256SUMS")
    [ -n "$archive" ] || fail "the release has no archive for $platform"
    get "$archive"
    (cd "$work" && grep "  $archive\$" SHA256SUMS | check_sum) || fail "$archive is damaged: its checksum is wrong"
    tar xzf "$work/$archive" -C "$work"
    mkdir -p "$to"
    # A program that is running cannot be overwritten, but it can be replaced.
    cp "$work"/trailblaze-*/trailblaze "$to/.trailblaze.new"
    mv -f "$to/.trailblaze.new" "$to/trailblaze"
    "$to/trailblaze" --version
    case ":$PATH:" in
        *":$to:"*) ;;
        *) echo "$to is not on PATH; add it: export PATH=\"$to:\$PATH\"" ;;
    esac
}

get() {
    case "$from" in
        https://*) curl -fsSL --proto '=https' "$from/$1" -o "$work/$1" ;;
        http://*) fail "TRAILBLAZE_FROM must be an https address" ;;
        *) cp "$from/$1" "$work/$1" ;;
    esac || fail "cannot get $from/$1"
}

check_sum() {
    if command -v sha256sum >/dev/null; then sha256sum -c - >/dev/null; else shasum -a 256 -c - >/dev/null; fi
}

fail() {
    echo "error: $1" >&2
    exit 1
}

main "$@"
