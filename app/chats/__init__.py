"""Conversations that outlive the process: an SQLite store of message trees (:mod:`app.chats.store`)."""
