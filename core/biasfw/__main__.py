"""``python -m biasfw``."""

from biasfw.cli import main

main()
