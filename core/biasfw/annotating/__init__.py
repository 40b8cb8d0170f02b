"""People answer a benchmark blindly: tasks, pages and sheets, what comes back, and what it shows.

Read in this order: ``drawing`` (who answers what), ``pages`` (how it is put: a file or a sheet), ``answering`` (the
same page, served), ``importing``, ``stored``, ``leaving`` (what goes when somebody withdraws), ``twoway`` (the
interval), ``results``.
"""
