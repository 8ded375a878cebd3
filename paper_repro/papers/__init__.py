"""What each paper prints: one module a paper, one function a numbered statement."""
