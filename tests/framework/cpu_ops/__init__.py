"""Cases of every operation of the dialect, with the answers of an oracle outside the engine."""
