"""Accounts: members, invites, OpenID Connect, the audit log, the admin pages, the public demo."""
