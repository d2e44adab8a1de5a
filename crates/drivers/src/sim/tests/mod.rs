//! The simulated device, through the port that the engine uses.
