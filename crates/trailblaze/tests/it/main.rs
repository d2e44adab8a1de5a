//! The tests of the whole product, through the boundaries that users have: the program, the wire, and the page.
//!
//! One program, so that the product is linked once and all tests run side by side. A test that cannot run beside certain others takes a
//! permit from [`support::permits`]; everything else about a test is its own: its folder, its ports, its processes.

mod browser;
mod command_line;
mod documentation;
mod support;
mod tool_servers;
