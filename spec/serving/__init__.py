"""A server that is simulated iteration by iteration, from parts that can each be tested alone."""
