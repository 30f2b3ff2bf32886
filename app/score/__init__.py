"""Will speculation pay on this machine with this pair? Measured, each figure with what it means."""
