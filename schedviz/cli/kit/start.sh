#!/bin/sh
# Starts schedviz from this folder alone: nothing is fetched, nothing is written elsewhere.
#   ./schedviz                          on this machine
#   ./schedviz up --listen 0.0.0.0      for everybody on this network
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

python=
for candidate in ${PYTHON:-python@PYTHON@ python3 python}; do
    if [ "$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" = "@PYTHON@" ]; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "schedviz: this kit is for Python @PYTHON@, which was not found. Set PYTHON=/path/to/python@PYTHON@." >&2
    exit 1
fi

lib=$here/lib
if [ ! -e "$lib/.complete" ]; then
    echo "Unpacking, once …"
    rm -rf "$lib"
    # A wheel of pip can be run as it is.
    "$python" "$(echo "$here"/wheels/pip-*.whl)/pip" install --quiet --disable-pip-version-check --no-index --root-user-action ignore \
        --no-warn-script-location --find-links "$here/wheels" --target "$lib" schedviz
    : > "$lib/.complete"
fi

PYTHONPATH=$lib
PYTHONNOUSERSITE=1
SCHEDVIZ_DATA=${SCHEDVIZ_DATA:-$here/data}
export PYTHONPATH PYTHONNOUSERSITE SCHEDVIZ_DATA
if [ -d "$here/lessons" ] && [ -z "${SCHEDVIZ_LESSONS:-}" ]; then
    for folder in "$here"/lessons/*/; do
        SCHEDVIZ_LESSONS=${SCHEDVIZ_LESSONS:+$SCHEDVIZ_LESSONS:}${folder%/}
    done
    export SCHEDVIZ_LESSONS
fi
[ $# -gt 0 ] || set -- up
exec "$python" -m schedviz.cli.main "$@"
