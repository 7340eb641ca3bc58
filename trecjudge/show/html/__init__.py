"""One HTML file from the leaderboard to the evidence (`writing`), and a response in a terminal.

Everything is built from the files of a job: judgments, leaderboard, log, config. `assets/` is what
the browser gets: a template, styles and scripts, put into the file as they are.
"""
