"""What holds of every component, whatever it does: the checks behind ``biasfw.testing``.

Each raises ``AssertionError`` with what was done and what came of it. Nothing is drawn at random without a seed.
"""
