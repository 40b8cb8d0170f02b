"""The page of a workbench on the loopback interface; only ``http`` and ``app`` import Starlette."""
