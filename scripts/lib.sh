# Functions that the scripts share. Source it from the root of the repository.

# Finds a working cargo, even if HOME is empty: rustup cannot choose a toolchain without its settings.
find_cargo() {
    if cargo --version >/dev/null 2>&1; then
        check_rust
        return
    fi
    account=$(getent passwd "$(id -u)" 2>/dev/null | cut -d: -f6)
    prefix=$(command -v cargo 2>/dev/null || true)
    prefix=${prefix%/bin/cargo}
    for rustup in "$account/.rustup" "${prefix%/*}/.rustup" "${prefix%/*}/rustup"; do
        [ -d "$rustup/toolchains" ] || continue
        for bin in "$prefix/bin" "$account/.cargo/bin"; do
            if RUSTUP_HOME=$rustup PATH="$bin:$PATH" cargo --version >/dev/null 2>&1; then
                export RUSTUP_HOME="$rustup"
                export PATH="$bin:$PATH"
                check_rust
                return
            fi
        done
    done
    need_rust "no working Rust was found"
}

check_rust() {
    version=$(rustc --version 2>/dev/null | cut -d' ' -f2)
    major=${version%%.*}
    minor=${version#*.}
    minor=${minor%%.*}
    case "$major$minor" in
        '' | *[!0-9]*) need_rust "\`rustc --version\` failed" ;;
    esac
    if [ "$major" -eq 1 ] && [ "$minor" -lt 95 ]; then
        need_rust "this is Rust $version"
    fi
}

need_rust() {
    echo "error: $1" >&2
    echo "hint: Trailblaze needs Rust 1.95 or newer; install it from https://rustup.rs, or run \`rustup update\`" >&2
    exit 2
}

heading() {
    printf '\n== %s\n' "$1"
}

# The hash of standard input.
sha256() {
    if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -d' ' -f1
}
