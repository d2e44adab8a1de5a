//! Files of other tools as trails and projects: the corpus, single statements, and inputs that nobody would write.

mod corpus;
mod fuzz_corpora;
mod kotlin_projects;
mod maestro_flows;
mod playwright_tests;
mod shares;
mod support;
