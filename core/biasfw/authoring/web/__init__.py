"""The page of a workbench on the loopback interface; only ``app`` and ``serving`` import Starlette and uvicorn."""
