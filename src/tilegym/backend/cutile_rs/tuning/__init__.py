"""The parts of the tuner: what a choice depends on, its records, the caller's memory, the search."""
