//! The report, from the events of a run to the files that it leaves.

mod github;
mod html;
mod junit;
mod markdown;
mod merge;
mod model;
mod summary;
