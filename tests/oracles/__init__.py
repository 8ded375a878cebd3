"""Independent references: nothing here shares code with the package."""
