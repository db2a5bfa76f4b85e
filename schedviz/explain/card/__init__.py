"""Cards: an explanation or an overview on one page to send to a colleague, as Markdown, HTML or PNG.

`build` makes one `Card`; each renderer turns it into one format. Names and messages are data in every format, never markup.
"""
