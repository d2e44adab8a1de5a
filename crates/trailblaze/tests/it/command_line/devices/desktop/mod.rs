//! Real programs on Linux desktops without a screen, each in a session of its own.

mod desk;
mod example;
mod failing;
mod kills;
mod portable;
mod programs;
