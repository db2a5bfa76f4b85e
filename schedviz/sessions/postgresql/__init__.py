"""Django's way to PostgreSQL, with what it does for each request and each row made quick: settings name it as `ENGINE`."""
