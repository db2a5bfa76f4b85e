"""Who a client is (logins, tokens, share links) and what it may do (`permissions.may`)."""
