//! Tool servers that misbehave. Whatever one does, a run ends in time with the right exit code, reports which server
//! did what and what to do about it, keeps the results of the others, and leaves no process behind.

mod answering;
mod calling_back;
mod coming_back;
mod ending;
mod listing;
mod over_http;
mod refusing_the_context;
mod starting;
mod telling;
