"""Reads recordings and exports of other simulators, and the openb trace."""
