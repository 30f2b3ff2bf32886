#!/bin/sh
# Prints the path of a Python that is new enough. PYTHON=/path/to/python decides, if it is set.
for name in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python}; do
    path=$(command -v "$name" 2>/dev/null) || continue
    if "$path" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        echo "$path"
        exit 0
    fi
done
if [ -n "${PYTHON:-}" ]; then
    echo "PYTHON=$PYTHON is not a Python 3.11 or newer. Point PYTHON at one and run make again." >&2
else
    echo "Slipstream needs Python 3.11 or newer and found none. Install one (Debian, Ubuntu: python3 and python3-venv), or run: make PYTHON=/path/to/python3 ..." >&2
fi
exit 1
