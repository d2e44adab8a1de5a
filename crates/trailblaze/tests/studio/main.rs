//! The studio: who gets in, what a page sees of a session and a run, and what pointing does.

#[path = "../daemon/home.rs"]
#[allow(dead_code)]
mod home;
#[path = "../servers/lab.rs"]
#[allow(dead_code)]
mod lab;
#[path = "../processes/marked.rs"]
#[allow(dead_code)]
mod marked;
#[path = "../support/mod.rs"]
mod support;

mod entering;
mod page;
mod running;
mod working;
