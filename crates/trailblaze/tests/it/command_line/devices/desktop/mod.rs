//! Real programs on Linux desktops without a screen, each in a session of its own.

mod desk;
mod everywhere;
mod example;
mod failing;
mod kills;
mod large_trees;
mod listed_program;
mod own;
mod portable;
mod programs;
mod wayland;
