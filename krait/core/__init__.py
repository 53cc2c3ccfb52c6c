"""What lies below: the run time of compiled code."""
