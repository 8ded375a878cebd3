"""What is known of a distribution, as numbers: bounds letter by letter, and confidence intervals of what was counted."""
