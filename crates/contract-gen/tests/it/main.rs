//! The generator of what is made from the contract.

mod generated_files;
mod renaming;
