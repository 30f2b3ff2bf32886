"""``python -m app`` is ``slipstream``."""

from app.start import main

if __name__ == "__main__":
    main()
