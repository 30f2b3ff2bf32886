"""Fetching model files: resumed across runs, verified, visible only when whole.

``download.Download`` is the door; ``wanted``, ``control``, ``progress`` and ``errors`` are what its callers speak in.
Only ``client`` and ``stream`` load the HTTP library.
"""
