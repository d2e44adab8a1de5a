//! Calls whose element was not found because the app has changed: suggestions, repairs, and what is never touched.

mod corpus;
mod frames;
mod generated;
mod simulated;
