//! Android phones and tablets, over adb.

pub mod adb;
