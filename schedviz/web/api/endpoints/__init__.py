"""The resources of `/api/v1/`, one module for each. `schedviz/web/api/urls.py` lists their addresses."""
