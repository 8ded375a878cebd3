"""The few optimization programs behind the optima; nothing a solver says here is trusted by the floors above."""
