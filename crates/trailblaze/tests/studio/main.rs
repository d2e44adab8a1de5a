//! The studio: who gets in, what a page sees of a session and a run, and what pointing does.

#[path = "../web/hand.rs"]
mod hand;
#[path = "../daemon/home.rs"]
#[allow(dead_code)]
mod home;
#[path = "../processes/marked.rs"]
mod marked;
#[path = "../servers/shop.rs"]
mod shop;
#[path = "../support/mod.rs"]
mod support;

mod browsing;
mod entering;
mod keyboard;
mod opening;
mod page;
mod pointing;
mod running;
mod trouble;
mod working;
