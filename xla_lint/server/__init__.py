"""`xla-lint server`: findings while code is typed, for every editor that speaks the Language Server Protocol.

The server process speaks with the editor and never analyses; a worker process analyses and never speaks with it. So
every message is answered at once, and a crash of the analysis costs a moment.
"""
