# What the scripts share. To be sourced from the root of the repository.

# Finds a cargo that works, also where HOME is empty: a rustup without its own settings cannot choose a toolchain.
find_cargo() {
    if cargo --version >/dev/null 2>&1; then
        check_rust
        return
    fi
    account=$(getent passwd "$(id -u)" 2>/dev/null | cut -d: -f6)
    beside=$(command -v cargo 2>/dev/null || true)
    beside=${beside%/bin/cargo}
    for rustup in "$account/.rustup" "${beside%/*}/.rustup" "${beside%/*}/rustup"; do
        [ -d "$rustup/toolchains" ] || continue
        for bin in "$beside/bin" "$account/.cargo/bin"; do
            if RUSTUP_HOME=$rustup PATH="$bin:$PATH" cargo --version >/dev/null 2>&1; then
                export RUSTUP_HOME="$rustup"
                export PATH="$bin:$PATH"
                check_rust
                return
            fi
        done
    done
    need_rust "no Rust was found that works"
}

check_rust() {
    version=$(rustc --version 2>/dev/null | cut -d' ' -f2)
    major=${version%%.*}
    minor=${version#*.}
    minor=${minor%%.*}
    case "$major$minor" in
        '' | *[!0-9]*) need_rust "\`rustc --version\` does not answer" ;;
    esac
    if [ "$major" -eq 1 ] && [ "$minor" -lt 95 ]; then
        need_rust "this is Rust $version"
    fi
}

need_rust() {
    echo "error: $1" >&2
    echo "hint: Trailblaze is built with Rust 1.95 or newer; https://rustup.rs installs it, \`rustup update\` renews it" >&2
    exit 2
}

heading() {
    printf '\n== %s\n' "$1"
}
