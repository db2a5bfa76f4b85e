"""Reads what kubectl prints for people: tables, descriptions, and `kubectl cluster-info dump`."""
