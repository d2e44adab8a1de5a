//! On Linux the unwinder is linked into the program, so that one library less is loaded each time it starts. Where the
//! compiler brings no such unwinder, and on other systems, nothing is changed.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|is| is == value);
    let is_native = std::env::var("HOST") == std::env::var("TARGET");
    if !is_native || !is("CARGO_CFG_TARGET_OS", "linux") || !is("CARGO_CFG_TARGET_ENV", "gnu") {
        return;
    }
    let (Some(unwinder), Some(support), Some(folder)) =
        (library("libgcc_eh.a"), library("libgcc.a"), std::env::var_os("OUT_DIR"))
    else {
        return;
    };
    // The linker finds this in place of the shared library, and takes what it names.
    let script = format!("GROUP ( {} {} )\n", unwinder.display(), support.display());
    let folder = Path::new(&folder);
    if std::fs::write(folder.join("libgcc_s.so"), script).is_ok() {
        println!("cargo::rustc-link-arg-bins=-L{}", folder.display());
    }
}

/// Where the C compiler has a library of its own.
fn library(name: &str) -> Option<PathBuf> {
    let told = Command::new("cc").arg(format!("-print-file-name={name}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(told.stdout).ok()?.trim());
    path.is_absolute().then_some(path).filter(|path| path.is_file())
}
