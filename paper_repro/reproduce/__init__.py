"""Run the notebooks: check their parameters, publish what they draw."""
