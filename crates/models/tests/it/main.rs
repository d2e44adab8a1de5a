//! The providers, through the port: against files of replies, and against a local server that answers and refuses the way the real
//! ones do.

mod anthropic;
mod fuzz_corpora;
mod gemini;
mod ollama;
mod openai;
mod scripted;
mod server;
mod support;
mod transport;
