#!/usr/bin/env python
"""Django's commands: `python manage.py migrate`, `python manage.py spectacular --validate --fail-on-warn`, …"""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "schedviz.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
