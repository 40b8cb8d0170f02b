"""People answer a benchmark blindly: tasks, pages and sheets, what comes back, and what it shows.

Read in this order: ``drawing`` (who answers what), ``pages`` and ``sheets`` (how it is put), ``importing``, ``twoway``
(the interval), ``results``.
"""
