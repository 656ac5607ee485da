"""Finished results as pages for people: HTML with inline plots, and Markdown."""
