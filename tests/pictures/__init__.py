"""Pictures of every view, and the chosen ones that are held against how the page looks."""
