"""Opens what was given: files, folders, archives and compressed members, within limits on what may be decompressed."""
