//! How a test gets a page.

use crate::browser::studio::page::Page;
use crate::support::home::Home;

/// Runs `trailblaze studio` with these arguments, and reads the address.
pub fn address(home: &Home, args: &[&str]) -> String {
    address_with(home, args, &[])
}

/// The same, with these variables.
pub fn address_with(home: &Home, args: &[&str], variables: &[(&str, &str)]) -> String {
    let args: Vec<&str> = ["studio", "--json"].into_iter().chain(args.iter().copied()).collect();
    let address = home.run_with(&args, variables).exits(0).json();
    address["address"].as_str().expect("an address").to_string()
}

/// A page that has entered.
pub fn open(home: &Home, args: &[&str]) -> Page {
    let mut page = Page::at(&address(home, args));
    assert_eq!(page.enter(), 204);
    page
}

/// A page on a session, and the name of the session.
pub fn on_session(home: &Home, args: &[&str]) -> (Page, String) {
    let page = open(home, args);
    let session = page.session();
    (page, session)
}
