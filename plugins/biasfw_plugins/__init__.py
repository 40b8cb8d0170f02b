"""First-party plugins. Each subpackage is one entry point and imports only names in ``biasfw.__all__``."""
