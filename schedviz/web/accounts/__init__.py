"""Accounts: members of sessions, invites, signing in with OpenID Connect, the audit log, the admin pages, the public demo."""
