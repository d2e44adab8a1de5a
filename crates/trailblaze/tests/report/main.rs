//! The report, from the events of a run to the files that it leaves.

mod fixture;
mod html;
mod junit;
mod model;
mod summary;
