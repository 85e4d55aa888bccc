"""Timings never decide a test: Hypothesis has no deadline here."""

from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
