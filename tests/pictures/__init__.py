"""Screenshots of every view, and the reference pictures that the page is compared with."""
