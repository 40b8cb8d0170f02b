"""Metrics of benchmarks whose items offer options (task ``choice``), for any number of options."""
